import assert from 'node:assert/strict';
import test from 'node:test';
import { execaSync } from 'execa';
import { git, isUnstarted, type Launch, tryGit } from '../../src/git/git.ts';
import { GIT_CODES } from '../../src/git/rules/git-codes.ts';
import { failsWith } from '../support/codes.ts';
import { tempDir } from '../support/temp.ts';

const possible =
  execaSync('unshare', ['--version'], { reject: false }).exitCode === 0 ? {} : { skip: 'no unshare here' };
const throughShell: Launch = (file, args) => ['/bin/sh', ['-c', '"$@"', 'sh', file, ...args]];

test('an unshare that fails is no failure of git, though its exit code is one of git', possible, async (t) => {
  const cwd = tempDir(t);
  const launch: Launch = (file, args) => ['unshare', ['--root=/no/such/directory', '--', file, ...args]];
  const [file, args] = launch('git', ['--version']);
  assert.equal(execaSync(file, args, { reject: false }).exitCode, 1);
  const asked = git(['diff', '--quiet', '--no-index', '/dev/null', '/etc/passwd'], { cwd, launch });
  await failsWith(asked, GIT_CODES.git_not_launched, { command: 'diff' });
});

test('a git that begins inside ends with its own exit code and output, whatever that is', async (t) => {
  const cwd = tempDir(t);
  for (const [args, code] of [
    [['diff', '--quiet', '--no-index', '/dev/null', '/etc/passwd'], 1],
    [['-c', 'alias.odd=!exit 125', 'odd'], 125],
    [['rev-parse', 'HEAD'], 128],
  ] as const)
    assert.equal((await tryGit(args, { cwd, launch: throughShell })).exitCode, code, args.join(' '));
  const input = 'a text';
  const hash = await git(['hash-object', '--stdin'], { cwd, launch: throughShell, input });
  assert.equal(hash, await git(['hash-object', '--stdin'], { cwd, input }));
  // Where git has been, nothing of the pipe is left to programs that it starts.
  const left = ['-c', 'alias.left=!test -e /proc/self/fd/3 && echo open', 'left'];
  if (process.platform === 'linux') assert.equal((await tryGit(left, { cwd, launch: throughShell })).stdout, '');
});

test('a launch that ends before git begins, with a code of success, counts as none', async (t) => {
  const launched = git(['--version'], { cwd: tempDir(t), launch: () => ['/bin/sh', ['-c', 'exit 0']] });
  await assert.rejects(launched, (error) => isUnstarted(error));
});

test('a git that fails before it launches anything fails by itself', async (t) => {
  assert.equal((await tryGit(['rev-parse', 'HEAD'], { cwd: tempDir(t), marks: true })).exitCode, 128);
});
