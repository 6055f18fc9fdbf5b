// A used-up quota of the runtime: nothing starts until it is there again, nothing is counted, and the session goes on.

import assert from 'node:assert/strict';
import test from 'node:test';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { wordsLike } from '../support/codes.ts';
import { commit, type Script, World, workflowWith } from '../support/world.ts';

const HOUR = 3_600_000;

/** Has no quota until then, and says so; after that it works. */
const limitedUntil =
  (reset: number): Script =>
  async (agent) => {
    agent.hooks.onEvent({ type: 'session', sessionId: 'one' });
    if (agent.world.clock.now() >= reset) return commit(agent);
    const words = 'You’ve hit your session limit';
    return { ok: false, words, fault: 'runtime', resumable: true, quotaAt: reset };
  };

test('no attempt starts until the quota is there again, and none is counted', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  const reset = world.clock.now() + 5 * HOUR;
  world.script = limitedUntil(reset);
  world.tracker.open(1);
  world.tracker.open(2);
  await world.start();
  await world.pass(4 * HOUR);
  assert.deepEqual(
    world.started.map(({ issue }) => issue),
    [1],
    'the second issue would only find the same',
  );
  const until = new Date(world.journal.state.entries.get(1)?.retryAt ?? 0);
  assert.ok(until.getTime() >= reset && until.getTime() <= reset + 60_000, until.toISOString());
  const { outages, failures, lastError } = world.journal.state.entries.get(1) ?? assert.fail();
  assert.deepEqual([outages, failures], [0, 0]);
  assert.match(lastError ?? '', /session limit\. /);
  assert.match(lastError ?? '', wordsLike(WORK_CODES.runtime_quota_spent, { until: /\d{4}-\S+/ }));
  assert.deepEqual(
    world.orchestrator.waiting.filter(({ issue }) => issue.number === 2).map(({ why }) => why[0]?.values.until),
    [until.toISOString()],
  );
  await world.pass(2 * HOUR);
  assert.deepEqual(
    [1, 2].map((issue) => world.tracker.labelsOf(issue)),
    [['tool-done'], ['tool-done']],
  );
  assert.deepEqual(
    world.started.map(({ issue, resume }) => [issue, resume]),
    [
      [1, null],
      [1, 'one'],
      [2, null],
    ],
  );
  await world.stop();
});

test('an attempt that has committed a part of the work when the quota ends counts for nothing either', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  const reset = world.clock.now() + 5 * HOUR;
  const limited = limitedUntil(reset);
  world.script = async (agent) => {
    await commit(agent);
    return limited(agent);
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(4 * HOUR);
  const { outages, failures, attempt } = world.journal.state.entries.get(1) ?? assert.fail();
  assert.deepEqual([outages, failures, attempt], [0, 0, 1]);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-todo']);
  await world.pass(2 * HOUR);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('after a restart one attempt tries at once: somebody may have bought more', async () => {
  const world = new World();
  const reset = world.clock.now() + 5 * HOUR;
  world.script = limitedUntil(reset);
  world.tracker.open(1);
  await world.start();
  await world.pass(HOUR);
  await world.stop();
  world.script = commit;
  await world.restart();
  await world.pass(60_000);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('with agent.on_quota: fail the issue gets the failed label at once', async () => {
  const world = new World(workflowWith({ agent: { onQuota: 'fail' } }));
  world.script = limitedUntil(world.clock.now() + 5 * HOUR);
  world.tracker.open(1);
  await world.start();
  await world.pass(60_000);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
  assert.equal(world.started.length, 1);
  assert.match(
    world.tracker.comments[0]?.body ?? '',
    wordsLike(WORK_CODES.runtime_quota_spent, { until: /\d{4}-\S+/ }),
  );
  await world.stop();
});

test('a quota that is away for longer than any is an outage like another', async () => {
  const world = new World();
  world.script = limitedUntil(world.clock.now() + 90 * 24 * HOUR);
  world.tracker.open(1);
  await world.start();
  await world.pass(HOUR);
  assert.ok(world.started.length > 1);
  assert.ok((world.journal.state.entries.get(1)?.outages ?? 0) > 0);
  await world.stop();
});
