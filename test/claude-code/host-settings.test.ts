import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { findVariable } from '../../src/claude-code/host-settings.ts';
import { TEAMS_VARIABLE } from '../../src/team/rules/fallback.ts';
import { writeTree } from '../support/installed.ts';
import { tempDir } from '../support/temp.ts';

const LOCAL = '.claude/settings.local.json';
const PROJECT = '.claude/settings.json';
const says = (value: unknown) => JSON.stringify({ env: { [TEAMS_VARIABLE]: value } });

test('the variable comes from the file that the host heeds most, and from the shell where no file names it', (t) => {
  const home = tempDir(t);
  const root = join(home, 'project');
  const find = (shell?: string) => findVariable(root, { HOME: home, [TEAMS_VARIABLE]: shell });
  assert.deepEqual(find(), { value: undefined, source: null });
  assert.deepEqual(find('1'), { value: '1', source: 'shell' });
  const own = join(home, '.claude/settings.json');
  writeTree(home, { '.claude/settings.json': says('0') });
  assert.deepEqual(find('1'), { value: '0', source: { file: own } });
  writeTree(root, { [PROJECT]: says(1) });
  assert.deepEqual(find(), { value: '1', source: { file: PROJECT } });
  writeTree(root, { [LOCAL]: says('0') });
  assert.deepEqual(find('1'), { value: '0', source: { file: LOCAL } });
});

test('a hook has what its host has: from the file that says so, else from the host itself', (t) => {
  const home = tempDir(t);
  writeTree(home, { [PROJECT]: says('0') });
  const find = (given: string) => findVariable(home, { HOME: home, CLAUDE_PROJECT_DIR: home, [TEAMS_VARIABLE]: given });
  assert.deepEqual(find('0'), { value: '0', source: { file: PROJECT } });
  assert.deepEqual(find('1'), { value: '1', source: 'host' }, 'started before the file was changed');
});
