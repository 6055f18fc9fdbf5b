import assert from 'node:assert/strict';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { writesOf } from '../../src/adapters/writes.ts';
import { composeOperations } from '../../src/compose-team.ts';
import { tempDir } from '../support/temp.ts';

test('links on the way to a file are followed, the file itself counts as what it is and as what it leads to', async (t) => {
  const place = realpathSync(tempDir(t));
  const root = join(place, 'project');
  mkdirSync(join(root, 'src', 'api'), { recursive: true });
  mkdirSync(join(root, 'tests'));
  symlinkSync(root, join(place, 'link'));
  symlinkSync('../../tests', join(root, 'src', 'api', 'linked'));
  // There is no such file yet: whoever writes the link makes it.
  symlinkSync('../../tests/a.ts', join(root, 'src', 'api', 'a.ts'));
  const paths = async (tool: string, input: Readonly<Record<string, unknown>>, cwd = root) => {
    const { targets } = await writesOf(tool, input, cwd, { root, env: {} });
    return [...new Set(targets.map(({ path }) => path))].sort();
  };
  const write = (path: string) => paths('Write', { file_path: path });
  assert.deepEqual(await write(join(place, 'link', 'src', 'api', 'new.ts')), ['src/api/new.ts']);
  assert.deepEqual(await write('src/api/linked/b.ts'), ['tests/b.ts']);
  assert.deepEqual(await write('src/api/a.ts'), ['src/api/a.ts', 'tests/a.ts']);
  symlinkSync('loop', join(root, 'loop'));
  assert.ok((await write('loop')).includes('loop'));
  assert.deepEqual(await paths('Bash', { command: 'echo x > src/api/a.ts' }), ['src/api/a.ts', 'tests/a.ts']);
  assert.deepEqual(await paths('Bash', { command: 'echo x > b.ts' }, join(place, 'link')), ['b.ts']);
  // The link itself goes, which lies outside; so does nothing behind it.
  assert.ok((await paths('Bash', { command: `rm ${join(place, 'link')}` })).includes(join(place, 'link')));
  // Another process's own place, whoever asks.
  assert.ok((await write('/proc/self/cwd/b.ts')).includes('/proc/self/cwd/b.ts'));
});

test('a path of a file tool is taken as the host takes it: ~ is the home, and blanks around it are no part of it', async (t) => {
  const place = realpathSync(tempDir(t));
  const root = join(place, 'project');
  mkdirSync(root);
  const write = async (path: string) => {
    const { targets } = await writesOf('Write', { file_path: path }, root, { root, env: { HOME: place } });
    return targets.map((target) => target.path);
  };
  assert.deepEqual(await write('~/a.test.ts'), [join(place, 'a.test.ts')]);
  assert.deepEqual(await write('~'), [place]);
  assert.deepEqual(await write('~/project/a.ts'), ['a.ts']);
  assert.deepEqual(await write(` ${join(place, 'a.test.ts')}\n`), [join(place, 'a.test.ts')]);
  assert.deepEqual(await write('~a/b.ts'), ['~a/b.ts']);
  assert.deepEqual(await write('src/~/b.ts'), ['src/~/b.ts']);
  // The same path is meant where a lease is asked for.
  const { inside } = composeOperations(root, { HOME: place, PATH: process.env.PATH });
  assert.deepEqual(['~/a.ts', '~', '~/project/a.ts', 'a.ts'].map(inside), [null, null, 'a.ts', 'a.ts']);
});

test('code of Node is parsed where it stands in a command, also behind a script', async (t) => {
  const root = realpathSync(tempDir(t));
  const unresolved = async (command: string) =>
    (await writesOf('Bash', { command }, root, { root, env: {} })).unresolved.length;
  assert.equal(await unresolved('node -e "console.log(fs.readdirSync(\'.\').length)"'), 0);
  assert.equal(await unresolved("node -e \"fs.writeFileSync('a', '')\""), 1);
  writeFileSync(join(root, 'package.json'), '{"scripts":{"code":"node"}}');
  assert.equal(await unresolved('npm run code -- -e "fs.existsSync(\'a\')"'), 0);
  assert.equal(await unresolved('npm run code -- -e "fs.rmSync(\'a\')"'), 1);
});
