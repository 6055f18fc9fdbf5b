// Attempts that end with their worker: nobody's fault, a higher number, and not for ever.

import assert from 'node:assert/strict';
import test from 'node:test';
import { MAX_INTERRUPTIONS } from '../../src/daemon/rules/attempt-end.ts';
import { commit, type Script, World, workflowWith } from '../support/world.ts';

const cutOff =
  (kind: 'lost' | 'returned', times: number): Script =>
  async (agent) =>
    agent.request.attempt > times
      ? commit(agent)
      : { ok: false, words: '', fault: 'runtime', resumable: true, cutOff: { kind, worker: 'w-1' } };

for (const [kind, words] of [
  ['lost', /The worker w-1 fell silent/],
  ['returned', /The worker w-1 ended and handed the work back/],
] as const)
  test(`an attempt that is ${kind} counts for nothing, and the issue starts again at once`, async () => {
    const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
    world.script = cutOff(kind, 1);
    world.tracker.open(1);
    await world.start();
    await world.pass(1_000);
    assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
    assert.deepEqual(
      world.started.map(({ attempt }) => attempt),
      [1, 2],
    );
    const ends = world.journal.records.flatMap((one) => (one.type === 'attempt_ended' ? [one] : []));
    assert.deepEqual(
      ends.map(({ outcome, next }) => [outcome, next]),
      [
        ['interrupted', 'retry'],
        ['succeeded', 'publish'],
      ],
    );
    assert.match(ends[0]?.reason ?? '', words);
    await world.stop();
  });

test('an issue whose agent takes worker after worker down ends all the same', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1, maxRetryBackoffMs: 1_000 } }));
  world.script = cutOff('lost', 1_000);
  world.tracker.open(1);
  await world.start();
  await world.pass(3_600_000);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
  assert.equal(world.started.length, MAX_INTERRUPTIONS);
  await world.stop();
});
