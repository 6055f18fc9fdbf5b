import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { ignoreStateDirectories } from '../../src/git/own-ignored.ts';
import { gitIn } from '../support/git.ts';
import { writeTree } from '../support/installed.ts';
import { projectOf, textOf } from '../support/team-worktrees.ts';

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
