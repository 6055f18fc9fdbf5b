// A full disk costs an issue no attempt, and no second agent for work that is done.

import assert from 'node:assert/strict';
import test from 'node:test';
import { ToolError } from '../../src/base/rules/errors.ts';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { isDiskFull } from '../../src/daemon/rules/disk-full.ts';
import { saying, wordsLike } from '../support/codes.ts';
import { World, workflowWith } from '../support/world.ts';

const MINUTE = 60_000;
const FULL = 'No space left on device';

const ERRORS: readonly (readonly [string, () => Error])[] = [
  ['prepare', () => Object.assign(new Error(`ENOSPC: ${FULL}, mkdir`), { code: 'ENOSPC' })],
  ['after_create', () => new ToolError(saying('hook', `after_create ended with exit code 1: ${FULL}`))],
  ['before_run', () => new ToolError(saying('hook', `before_run ended with exit code 1: npm ERR! ${FULL}`))],
  ['before_run', () => new ToolError(saying('git', `git reset failed (exit 128): fatal: write error: ${FULL}`))],
];

for (const [call, errorOf] of ERRORS) {
  test(`a full disk at ${call} (${errorOf().name} ${errorOf().message.slice(0, 12)}) is waited for`, async () => {
    const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
    world.workspaces.fault = (asked) => {
      if (asked === call) throw errorOf();
    };
    // In a workspace where an agent has been, git's failure is the agent's.
    if (call === 'before_run') world.workspaces.present.add(1);
    world.tracker.open(1);
    await world.start();
    await world.pass(60 * MINUTE);
    assert.equal(world.started.length, 0);
    assert.deepEqual(world.tracker.labelsOf(1), ['tool-todo']);
    world.workspaces.fault = () => undefined;
    await world.pass(30 * MINUTE);
    assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
    await world.stop();
  });
}

test('work that a full disk keeps from being read is read later, and its agent is not started again', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  world.workspaces.fault = (call) => {
    if (call === 'collect') throw new ToolError(saying('hook', `the clone is broken: error: ${FULL}`));
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(60 * MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-todo']);
  world.workspaces.fault = () => undefined;
  await world.pass(2 * MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.equal(world.started.length, 1);
  const waited = wordsLike(WORK_CODES.disk_full_waited, { said: /.*No space left.*/ });
  assert.equal(world.lines.filter((line) => waited.test(line)).length, 1);
  await world.stop();
});

test('the words of an agent, or of another error, are no full disk', () => {
  assert.equal(isDiskFull(new ToolError(saying('agent', FULL))), false);
  assert.equal(isDiskFull(new Error(FULL)), false);
  assert.equal(isDiskFull(new ToolError(saying('hook', 'before_run ended with exit code 1: space'))), false);
});
