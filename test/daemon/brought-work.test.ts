// Finished work that stayed on another machine: it is brought before it is published, or done again for nothing.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { BringWork } from '../../src/daemon/ports.ts';
import { commit, hang, World, workflowWith } from '../support/world.ts';

const ONE_TRY = workflowWith({ agent: { maxAttempts: 1 } });

function attemptsOf(world: World): readonly number[] {
  return world.started.map(({ attempt }) => attempt);
}

test('work that is brought is published without another attempt; each commit is asked for once', async () => {
  const asked: unknown[] = [];
  const bringWork: BringWork = async ({ number }, sha, _, onWait) => {
    asked.push([number, sha]);
    await onWait(90_000);
    return true;
  };
  const world = new World(ONE_TRY, { bringWork });
  world.tracker.open(1);
  await world.start();
  await world.pass(1_000);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.deepEqual(attemptsOf(world), [1]);
  const heads = world.journal.records.flatMap((one) => (one.type === 'attempt_ended' ? [one.head] : []));
  assert.deepEqual(asked, [[1, heads[0]]]);
  const waits = world.journal.records.flatMap((one) => (one.type === 'publish_failed' ? [one] : []));
  assert.deepEqual(
    waits.map(({ next, reason }) => [next, /is not on this machine.*within 90 s/.test(reason)]),
    [['again', true]],
  );
  await world.stop();
});

test('work that nobody has is done again: a higher number, and no failure', async () => {
  let times = 0;
  const world = new World(ONE_TRY, { bringWork: async () => times++ > 0 });
  world.tracker.open(1);
  await world.start();
  await world.pass(1_000);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.deepEqual(attemptsOf(world), [1, 2]);
  assert.ok(world.lines.some((line) => /stayed on a machine that is gone/.test(line)));
  const lost = world.journal.records.flatMap((one) => (one.type === 'publish_failed' ? [one.lost] : []));
  assert.deepEqual(lost, [true]);
  await world.stop();
});

test('an attempt that had handed its work in when its daemon died: the work is asked for, and others do not wait', async () => {
  let give: (isThere: boolean) => void = () => undefined;
  const asked: unknown[] = [];
  let isDead = false;
  const bringWork: BringWork = async (_, sha) => {
    asked.push(sha);
    return isDead && sha === null ? new Promise((resolve) => (give = resolve)) : true;
  };
  const world = new World(ONE_TRY, { bringWork });
  world.script = async (agent) => {
    if (agent.request.issue === 2) return commit(agent);
    await commit(agent);
    await agent.ask({ type: 'done', issue: 1 }, new AbortController().signal);
    return hang(agent);
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(1_000);
  assert.equal(world.journal.state.entries.get(1)?.askedDone, true);
  world.kill();
  isDead = true;
  await world.restart();
  world.tracker.open(2);
  await world.pass(60_000);
  assert.deepEqual([world.tracker.labelsOf(1), world.tracker.labelsOf(2)], [['tool-todo'], ['tool-done']]);
  give(true);
  await world.pass(10_000);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.deepEqual(
    world.started.map(({ issue, attempt }) => [issue, attempt]),
    [
      [1, 1],
      [2, 1],
    ],
  );
  assert.equal(asked[0], null);
  await world.stop();
});
