// The proposed commands of the gate, as `tool doctor --fix` writes them.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { fixCommands } from '../../../src/cli/doctor/doctor-fix.ts';
import { readTeamSettings } from '../../../src/team/config/team-settings.ts';
import { writeTree } from '../../support/installed.ts';
import { tempDir } from '../../support/temp.ts';

const FILE = '.tool/config/workflow.yaml';
const MANIFEST = JSON.stringify({ scripts: { test: 'sh test.sh', lint: 'eslint .' } });

test('commands that are null are written with their reasons; what somebody wrote stays', async (t) => {
  const root = tempDir(t);
  const own = '# Ours.\nworkflow:\n  team:\n    enabled: true # yes\nquality:\n  commands:\n    lint: make lint\n';
  writeTree(root, { 'package.json': MANIFEST, [FILE]: own });
  assert.deepEqual(await fixCommands(root, process.env), [
    'wrote quality.commands.tests: npm test (package.json: script "test")',
  ]);
  const text = readFileSync(join(root, FILE), 'utf8');
  assert.ok(text.startsWith(own), text);
  assert.match(text, / {4}# Proposed from package\.json: script "test"\.\n {4}tests: npm test\n/);
  const { commands } = readTeamSettings(root).quality;
  assert.deepEqual([commands.tests, commands.lint, commands.coverage], ['npm test', 'make lint', null]);
  assert.deepEqual(await fixCommands(root, process.env), [], 'once');
});

test('without a file, one is made', async (t) => {
  const root = tempDir(t);
  writeTree(root, { 'package.json': MANIFEST });
  assert.equal((await fixCommands(root, process.env)).length, 2);
  assert.equal(readTeamSettings(root).quality.commands.lint, 'npm run lint');
});
