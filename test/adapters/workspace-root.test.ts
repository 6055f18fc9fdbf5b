import assert from 'node:assert/strict';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { claimRoot } from '../../src/adapters/workspace-root.ts';
import { ToolError } from '../../src/domain/errors.ts';
import { tempDir } from '../support/temp.ts';

function refusal(root: string, repository = 'h/o/r', stateDir = '/elsewhere'): string {
  try {
    claimRoot(root, repository, stateDir);
  } catch (error) {
    assert.ok(error instanceof ToolError && error.code === 'workspace_root');
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
  assert.match(refusal(join(directory, 'a.txt')), /cannot make .*a\.txt/);
  assert.match(refusal('/'), /holds the home directory/);
  assert.match(refusal(homedir()), /holds the home directory/);
  const other = join(directory, 'other');
  claimRoot(other, 'h/o/r', '/elsewhere');
  assert.match(refusal(other, 'h/o/second'), /holds the workspaces of h\/o\/r, not of h\/o\/second/);
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
