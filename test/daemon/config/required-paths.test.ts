// Paths that a daemon cannot work in: each is named.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { refusal, textOf } from '../../../src/base/rules/codes.ts';
import { requirePlaces } from '../../../src/daemon/config/required-paths.ts';
import { CONFIG_CODES } from '../../../src/daemon/rules/codes/config-codes.ts';
import { failsWith } from '../../support/codes.ts';
import { tempDir } from '../../support/temp.ts';
import { workflowWith } from '../../support/world.ts';

const bad = (key: string, path: string) => refusal(CONFIG_CODES.path_with_delimiter, { key, delimiter: ':', path });

test('paths without a colon are taken, and one with a colon is named', async (t) => {
  const stateDir = join(tempDir(t), 'state');
  requirePlaces({ ...workflowWith(), stateDir });
  const path = `${stateDir}:a`;
  await failsWith(() => requirePlaces({ ...workflowWith(), stateDir: path }), CONFIG_CODES.path_with_delimiter, {
    key: 'state.dir',
    path,
  });
});

test('of several paths with a colon each is named, with its key', async (t) => {
  const stateDir = join(tempDir(t), 'state:a');
  const root = join(tempDir(t), 'root:b');
  const workflow = { ...workflowWith({ workspace: { root } }), stateDir };
  const problems = [bad('state.dir', stateDir), bad('workspace.root', root)];
  await failsWith(() => requirePlaces(workflow), CONFIG_CODES.paths_with_delimiter, { problems });
  const [, ...lines] = textOf(refusal(CONFIG_CODES.paths_with_delimiter, { problems })).split('\n');
  assert.deepEqual(
    lines,
    problems.map((one) => `  ${textOf(one)}`),
  );
});
