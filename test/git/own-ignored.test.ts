import assert from 'node:assert/strict';
import fs, { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import test from 'node:test';
import { createIgnoredDirectory, ignoreStateDirectories } from '../../src/git/own-ignored.ts';
import { gitIn } from '../support/git.ts';
import { writeTree } from '../support/installed.ts';
import { projectOf, textOf } from '../support/team-worktrees.ts';
import { tempDir } from '../support/temp.ts';

const LOG = '.tool/teams/tool-run-spec-a-001/log.jsonl';

test('in a project without the files of `tool init` nobody commits or stashes what a team writes', (t) => {
  const { root, git } = projectOf(t);
  ignoreStateDirectories(root);
  ignoreStateDirectories(root);
  writeTree(root, { [LOG]: '{}\n', '.tool/cache/checks/x.json': '{}\n' });
  assert.equal(git('status', '--porcelain'), '');
  writeTree(root, { 'own.txt': 'x\n' });
  gitIn(root)('stash', '-u', '-q');
  assert.equal(existsSync(join(root, 'own.txt')), false);
  assert.equal(textOf(root, LOG), '{}\n');
});

test('rules that are there say what is left out', (t) => {
  const { root, git } = projectOf(t, { files: { '.tool/.gitignore': 'cache/\n' } });
  ignoreStateDirectories(root);
  writeTree(root, { [LOG]: '{}\n' });
  assert.equal(git('status', '--porcelain'), '?? .tool/teams/\n');
});

test('what a process leaves that is killed in between is gone with the next one', (t) => {
  const directory = tempDir(t);
  const { pid } = process;
  const rename = t.mock.method(fs, 'renameSync', () => {
    throw new Error('killed');
  });
  syncBuiltinESMExports();
  try {
    Object.defineProperty(process, 'pid', { value: pid + 1 });
    assert.throws(() => createIgnoredDirectory(directory), /killed/);
  } finally {
    Object.defineProperty(process, 'pid', { value: pid });
    rename.mock.restore();
    syncBuiltinESMExports();
  }
  assert.equal(readdirSync(directory).length, 1);
  createIgnoredDirectory(directory);
  assert.deepEqual(readdirSync(directory), ['.gitignore']);
});

test('a link in the place of the draft leads nowhere', (t) => {
  const directory = tempDir(t);
  const [mine, state] = [join(directory, 'mine'), join(directory, 'state')];
  writeFileSync(mine, 'mine');
  mkdirSync(state);
  symlinkSync(mine, join(state, '.gitignore.new'));
  createIgnoredDirectory(state);
  assert.equal(readFileSync(mine, 'utf8'), 'mine');
  assert.equal(readFileSync(join(state, '.gitignore'), 'utf8'), '*\n');
});
