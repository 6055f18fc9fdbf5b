import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { ToolError } from '../../../src/base/rules/errors.ts';
import { StateDir } from '../../../src/daemon/journal/state-dir.ts';
import { claimRoot } from '../../../src/daemon/workspaces/workspace-root.ts';
import { finallyDo, tempDir } from '../../support/temp.ts';

function refusal(root: string, repository = 'h/o/r', stateDir = '/elsewhere'): string {
  try {
    claimRoot(root, repository, stateDir);
  } catch (error) {
    assert.ok(error instanceof ToolError && error.kind === 'workspace_root');
    return error.message;
  }
  return '';
}

test('a new or empty directory is taken, and taken again', (t) => {
  const root = join(tempDir(t), 'deep', 'root');
  assert.equal(claimRoot(root, 'h/o/r', '/elsewhere'), realpathSync(root));
  assert.equal(claimRoot(root, 'h/o/r', '/elsewhere'), realpathSync(root));
});

test('a root that is not ours is refused with what is wrong', (t) => {
  const directory = tempDir(t);
  writeFileSync(join(directory, 'a.txt'), '');
  assert.match(
    refusal(directory),
    /expected an empty directory or one of this daemon's, got .*, which holds files that are not ours/,
  );
  assert.match(refusal(join(directory, 'a.txt')), /cannot make or write to .*a\.txt/);
  assert.match(refusal('/'), /holds the home directory/);
  assert.match(refusal(homedir()), /holds the home directory/);
  const other = join(directory, 'other');
  claimRoot(other, 'h/o/r', '/elsewhere');
  mkdirSync(join(other, 'issue-1'));
  assert.match(
    refusal(other, 'h/o/second'),
    /holds the workspaces of h\/o\/r, not of h\/o\/second; name another directory there, one for each repository$/,
  );
  const state = join(directory, 'state');
  mkdirSync(state);
  assert.match(refusal(join(state, 'workspaces'), 'h/o/r', state), /is not apart from state\.dir/);
});

test('a link is taken at what it leads to', (t) => {
  const directory = tempDir(t);
  mkdirSync(join(directory, 'real'));
  symlinkSync(join(directory, 'real'), join(directory, 'link'));
  assert.equal(claimRoot(join(directory, 'link'), 'h/o/r', '/elsewhere'), realpathSync(join(directory, 'real')));
  mkdirSync(join(directory, 'full'));
  writeFileSync(join(directory, 'full', 'x'), '');
  symlinkSync(join(directory, 'full'), join(directory, 'trap'));
  assert.match(refusal(join(directory, 'trap')), /holds files that are not ours/);
});

test('a claim without any workspace is given up to another repository, unless its daemon runs', (t) => {
  const directory = tempDir(t);
  const root = join(directory, 'root');
  const state = join(directory, 'state');
  claimRoot(root, 'h/o/typo', state);
  mkdirSync(join(root, '.toolcrew', 'spares', '1'), { recursive: true });
  const daemon = new StateDir(state, '/WORKFLOW.md');
  finallyDo(t, () => daemon.release());
  assert.match(
    refusal(root, 'h/o/r'),
    /is in use by the daemon of h\/o\/typo, process \d+, not by that of h\/o\/r; name/,
  );
  daemon.release();
  assert.equal(refusal(root, 'h/o/r'), '');
  assert.match(readFileSync(join(root, '.toolcrew', 'root.json'), 'utf8'), /"repository":"h\/o\/r"/);
  writeFileSync(join(root, '.toolcrew', 'root.json'), '{"repos');
  assert.equal(refusal(root, 'h/o/r'), '', 'nor does a torn claim stand for ever');
});

test('what tells of a workspace keeps the root: the mark of one, one that is being saved, one without a mark', (t) => {
  for (const left of ['.toolcrew/issue-1.json', '.toolcrew/salvage-1', 'issue-1']) {
    const root = join(tempDir(t), 'root');
    claimRoot(root, 'h/o/r', '/elsewhere');
    mkdirSync(join(root, left));
    assert.match(refusal(root, 'h/o/second'), /holds the workspaces of h\/o\/r, not of h\/o\/second/, left);
    assert.equal(refusal(root, 'h/o/r'), '');
  }
});

test('a root that cannot be written to is one line that names it', (t) => {
  const root = join(tempDir(t), 'root');
  mkdirSync(join(root, '.toolcrew', `root.json.${process.pid}`), { recursive: true });
  assert.match(refusal(root), /^workspace\.root: cannot make or write to .*EISDIR.*; name another directory$/);
});
