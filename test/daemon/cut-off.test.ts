// Attempts that end with their worker: nobody's fault, a higher number, and not for ever.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Runner } from '../../src/agents/ports.ts';
import { MAX_INTERRUPTIONS } from '../../src/daemon/rules/attempt-end.ts';
import { QUEUE_CODES } from '../../src/daemon/rules/codes/queue-codes.ts';
import { wordsLike } from '../support/codes.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { commit, type Script, World, workflowWith } from '../support/world.ts';

const cutOff =
  (kind: 'lost' | 'returned', times: number): Script =>
  async (agent) =>
    agent.request.attempt > times
      ? commit(agent)
      : { ok: false, words: '', fault: 'runtime', resumable: true, cutOff: { kind, worker: 'w-1' } };

for (const [kind, code] of [
  ['lost', QUEUE_CODES.worker_lost],
  ['returned', QUEUE_CODES.worker_returned_work],
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
    assert.match(ends[0]?.reason ?? '', wordsLike(code, { worker: 'w-1' }));
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

test('a runner that keeps the limits itself is not ended for its silence, and says when a limit has passed', async () => {
  const limits = { stallTimeoutMs: 1_000, turnTimeoutMs: 5_000 };
  const clock = new FakeClock();
  const runner: Runner = {
    name: 'afar',
    keepsLimits: true,
    run: async ({ attempt }, { signal, onStarted }) => {
      await onStarted(1);
      if (attempt === 1) await clock.sleep(60_000, signal);
      const end = { ok: false, words: signal.aborted ? 'ended' : 'it broke', fault: 'agent', resumable: true } as const;
      return attempt === 1 ? end : { ...end, cutOff: { kind: 'stalled', afterMs: 1_000 } };
    },
  };
  const workflow = workflowWith({ agent: { maxAttempts: 2 }, tool: limits });
  const world = new World(workflow, { runner: () => runner }, clock);
  world.tracker.open(1);
  await world.start();
  await world.pass(600_000);
  const ends = world.journal.records.flatMap((one) => (one.type === 'attempt_ended' ? [one] : []));
  assert.deepEqual(
    ends.map(({ outcome }) => outcome),
    ['failed', 'stalled'],
  );
  assert.equal(ends[0]?.reason, 'it broke');
  await world.stop();
});
