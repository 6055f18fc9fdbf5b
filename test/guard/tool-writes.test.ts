import assert from 'node:assert/strict';
import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { composeOperations } from '../../src/compose/team.ts';
import { gitRows } from '../../src/guard/rules/git-calls.ts';
import { GUARD_CODES } from '../../src/guard/rules/guard-codes.ts';
import { writesOf } from '../../src/guard/tool-writes.ts';
import { wordsOf } from '../support/codes.ts';
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
    const { targets } = await writesOf(tool, input, cwd, { root, env: {}, git: [] });
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
    const { targets } = await writesOf('Write', { file_path: path }, root, { root, env: { HOME: place }, git: [] });
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

test('a directory that exists is no write of mkdir', async (t) => {
  const root = realpathSync(tempDir(t));
  mkdirSync(join(root, 'docs'));
  const { targets } = await writesOf('Bash', { command: 'mkdir -p docs docs/new' }, root, { root, env: {}, git: [] });
  assert.deepEqual(targets, [{ path: 'docs/new', tree: false, directory: 'made' }]);
});

test('a refused call of git is passed on; tools that run other code are unresolved', async (t) => {
  const root = realpathSync(tempDir(t));
  const options = { root, env: {}, git: gitRows('shared', 'src/api') };
  const read = async (tool: string, input: Readonly<Record<string, unknown>>) => {
    const { git, unresolved } = await writesOf(tool, input, root, options);
    return git ?? unresolved[0] ?? null;
  };
  assert.match((await read('Bash', { command: 'npm test && git add -A' })) ?? '', /^git add: .* git add src\/api$/);
  assert.equal(await read('Bash', { command: "python3 -c \"open('a', 'w')\"" }), null);
  assert.equal(await read('Monitor', { ws: {} }), null);
  assert.match((await read('Bash', { command: 1 })) ?? '', /no text/);
  assert.match((await read('PowerShell', { command: 'ls' })) ?? '', /PowerShell/);
  assert.match((await read('REPL', { code: '1' })) ?? '', /REPL/);
  assert.equal(await read('Write', {}), wordsOf(GUARD_CODES.writes_path_missing, { tool: 'Write' }));
});
