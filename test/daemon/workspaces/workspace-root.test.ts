import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import type { Refusal } from '../../../src/base/rules/codes.ts';
import { ToolError } from '../../../src/base/rules/errors.ts';
import { holdStateDir } from '../../../src/daemon/journal/state-dir.ts';
import { WORKSPACES_CODES } from '../../../src/daemon/rules/codes/workspaces-codes.ts';
import { claimRoot } from '../../../src/daemon/workspaces/workspace-root.ts';
import { isRefusal } from '../../support/codes.ts';
import { finallyDo, tempDir } from '../../support/temp.ts';

function refusal(root: string, repository = 'h/o/r', stateDir = '/elsewhere'): Refusal | null {
  try {
    claimRoot(root, repository, stateDir);
  } catch (error) {
    assert.ok(error instanceof ToolError && error.kind === 'workspace_root');
    return error.refusal;
  }
  return null;
}

function isTaken(one: Refusal | null, path: string, why: string): void {
  isRefusal(one, WORKSPACES_CODES.workspace_root_taken, { path, why });
}

test('a new or empty directory is taken, and taken again', (t) => {
  const root = join(tempDir(t), 'deep', 'root');
  assert.equal(claimRoot(root, 'h/o/r', '/elsewhere'), realpathSync(root));
  assert.equal(claimRoot(root, 'h/o/r', '/elsewhere'), realpathSync(root));
});

test('a root that is not ours is refused with what is wrong', (t) => {
  const directory = tempDir(t);
  writeFileSync(join(directory, 'a.txt'), '');
  isTaken(refusal(directory), realpathSync(directory), 'holds files that are not ours');
  const file = join(directory, 'a.txt');
  isRefusal(refusal(file), WORKSPACES_CODES.workspace_root_unusable, { path: file });
  isTaken(refusal('/'), '/', 'holds the home directory');
  isTaken(refusal(homedir()), realpathSync(homedir()), 'holds the home directory');
  const other = join(directory, 'other');
  claimRoot(other, 'h/o/r', '/elsewhere');
  mkdirSync(join(other, 'issue-1'));
  isTaken(refusal(other, 'h/o/second'), realpathSync(other), 'holds the workspaces of h/o/r, not of h/o/second');
  const state = join(directory, 'state');
  mkdirSync(state);
  const inside = join(state, 'workspaces');
  const apart = refusal(inside, 'h/o/r', state);
  isTaken(apart, realpathSync(inside), `is not apart from state.dir ${state}`);
});

test('a link is taken at what it leads to', (t) => {
  const directory = tempDir(t);
  mkdirSync(join(directory, 'real'));
  symlinkSync(join(directory, 'real'), join(directory, 'link'));
  assert.equal(claimRoot(join(directory, 'link'), 'h/o/r', '/elsewhere'), realpathSync(join(directory, 'real')));
  mkdirSync(join(directory, 'full'));
  writeFileSync(join(directory, 'full', 'x'), '');
  symlinkSync(join(directory, 'full'), join(directory, 'trap'));
  isTaken(refusal(join(directory, 'trap')), realpathSync(join(directory, 'full')), 'holds files that are not ours');
});

test('a claim without any workspace is given up to another repository, unless its daemon runs', (t) => {
  const directory = tempDir(t);
  const root = join(directory, 'root');
  const state = join(directory, 'state');
  claimRoot(root, 'h/o/typo', state);
  mkdirSync(join(root, '.toolcrew', 'spares', '1'), { recursive: true });
  const daemon = holdStateDir(state, '/WORKFLOW.md');
  finallyDo(t, () => daemon.release());
  const why = `is in use by the process ${process.pid} for h/o/typo`;
  isTaken(refusal(root, 'h/o/r'), realpathSync(root), why);
  daemon.release();
  assert.equal(refusal(root, 'h/o/r'), null);
  assert.match(readFileSync(join(root, '.toolcrew', 'root.json'), 'utf8'), /"repository":"h\/o\/r"/);
  writeFileSync(join(root, '.toolcrew', 'root.json'), '{"repos');
  assert.equal(refusal(root, 'h/o/r'), null, 'nor does a torn claim stand for ever');
});

test('two processes with state directories of their own do not share a root, also for the same repository', (t) => {
  const directory = tempDir(t);
  const root = join(directory, 'root');
  const state = join(directory, 'state');
  const daemon = holdStateDir(state, '/WORKFLOW.md');
  finallyDo(t, () => daemon.release());
  claimRoot(root, 'h/o/r', state);
  mkdirSync(join(root, 'issue-1'));
  const why = `is in use by the process ${process.pid} for h/o/r`;
  isTaken(refusal(root), realpathSync(root), why);
  assert.equal(refusal(root, 'h/o/r', state), null);
  daemon.release();
  assert.equal(refusal(root), null, 'whoever goes on after it has what it left');
});

test('what tells of a workspace keeps the root: the mark of one, one that is being saved, one without a mark', (t) => {
  for (const left of ['.toolcrew/issue-1.json', '.toolcrew/salvage-1', 'issue-1']) {
    const root = join(tempDir(t), 'root');
    claimRoot(root, 'h/o/r', '/elsewhere');
    mkdirSync(join(root, left));
    isTaken(refusal(root, 'h/o/second'), realpathSync(root), 'holds the workspaces of h/o/r, not of h/o/second');
    assert.equal(refusal(root, 'h/o/r'), null, left);
  }
});

test('a root that cannot be written to is one line that names it', (t) => {
  const root = join(tempDir(t), 'root');
  mkdirSync(join(root, '.toolcrew', `root.json.${process.pid}`), { recursive: true });
  const refused = refusal(root);
  isRefusal(refused, WORKSPACES_CODES.workspace_root_unusable, { path: root });
  assert.match(String(refused?.values.said), /^EISDIR[^\n]*$/);
});
