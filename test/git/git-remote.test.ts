import assert from 'node:assert/strict';
import test from 'node:test';
import { detectRemote } from '../../src/git/git-remote.ts';
import { gitAs } from '../support/forge.ts';
import { tempDir } from '../support/temp.ts';

const slugOf = async (directory: string) => {
  const remote = await detectRemote(directory);
  return remote.kind === 'repository' ? `${remote.slug.owner}/${remote.slug.repo}` : remote.says;
};

test('the repository is that of origin, or of the only remote', async (t) => {
  const directory = tempDir(t);
  assert.equal(await slugOf(directory), 'has no Git remote to read it from');
  await gitAs(directory, 'init', '--quiet');
  assert.equal(await slugOf(directory), 'has no Git remote to read it from');
  await gitAs(directory, 'remote', 'add', 'one', 'https://me:secret@github.com/a/b.git');
  assert.equal(await slugOf(directory), 'a/b');
  await gitAs(directory, 'remote', 'add', 'two', 'git@github.com:c/d.git');
  assert.equal(await slugOf(directory), 'has the Git remotes one, two, none of them called origin');
  await gitAs(directory, 'remote', 'rename', 'two', 'origin');
  assert.equal(await slugOf(directory), 'c/d');
  await gitAs(directory, 'remote', 'set-url', 'origin', 'https://me:secret@example.org/x');
  const none = 'which names no <owner>/<repo> of a service';
  assert.equal(await slugOf(directory), `has the Git remote origin at https://example.org/x, ${none}`);
});

test('a git that cannot be started is said, and an ended wait is none', async (t) => {
  const directory = tempDir(t);
  const { PATH } = process.env;
  t.after(() => {
    process.env.PATH = PATH;
  });
  process.env.PATH = directory;
  assert.match(await slugOf(directory), /^cannot be asked for its Git remote: .*\bgit\b/);
  await assert.rejects(detectRemote(directory, AbortSignal.abort(new Error('the end'))), /the end/);
});
