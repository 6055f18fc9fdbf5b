// The queue as its coordinator sees it: what changes is told, and a problem is said once.

import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { LogLevel } from '../../../src/base/ports.ts';
import type { Refusal } from '../../../src/base/rules/codes.ts';
import { AttemptQueue } from '../../../src/fleet/coordinator/attempt-queue.ts';
import type { SeenWorker, Store } from '../../../src/fleet/store/store.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const LOOK_MS = 2_000;
const WORKER: SeenWorker = {
  ...{
    name: 'w',
    labels: [],
    slots: 2,
    used: 0,
    version: '1.0.0',
    draining: false,
    started_at: 1,
    sent_at: 1,
    seenMs: 0,
  },
};

/** @param look answers each look at the workers */
function watched(t: TestContext, look: () => SeenWorker[]) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const state = { problem: null as string | null, changes: 0, said: [] as [LogLevel, string][] };
  const store = {
    get problem() {
      return state.problem;
    },
    address: 'redis://h:1',
    workers: async () => look(),
    close: () => undefined,
  } as unknown as Store;
  const log = {
    log: (level: LogLevel, _: string, what: string | Refusal) =>
      void state.said.push([level, typeof what === 'string' ? what : `${what.of.code} ${String(what.values.said)}`]),
  };
  const queue = new AttemptQueue(store, 'key', log);
  const clock = new FakeClock();
  queue.watch(() => {
    state.changes += 1;
  });
  const looks = async (count: number) => {
    for (let number = 0; number < count; number++) {
      await clock.settle();
      t.mock.timers.tick(LOOK_MS);
    }
    await clock.settle();
  };
  return { state, queue, looks };
}

test('a heartbeat alone is no change; a worker that is busy, new or gone is one', async (t) => {
  let workers: SeenWorker[] = [WORKER];
  let seenMs = 0;
  const { state, looks, queue } = watched(t, () => workers.map((one) => ({ ...one, seenMs: seenMs++ })));
  await looks(5);
  assert.equal(state.changes, 1);
  assert.equal(queue.sight.workers[0]?.seenMs, 5);
  workers = [{ ...WORKER, used: 1 }];
  await looks(3);
  assert.equal(state.changes, 2);
  workers = [];
  await looks(3);
  assert.equal(state.changes, 3);
  await queue.close();
});

test('an error of the store is said once, until it is another one or it works again', async (t) => {
  let error: string | null = 'NOPERM this user has no permissions';
  const { state, looks, queue } = watched(t, () => {
    if (error !== null) throw new Error(error);
    return [];
  });
  await looks(5);
  assert.deepEqual(state.said, [['warn', `queue_interrupted ${error}`]]);
  assert.deepEqual([queue.sight.problem, state.changes], [error, 1]);
  error = 'OOM command not allowed';
  await looks(5);
  assert.equal(state.said.length, 2);
  error = null;
  await looks(2);
  assert.equal(queue.sight.problem, null);
  error = 'OOM command not allowed';
  await looks(2);
  state.problem = 'connect ECONNREFUSED';
  await looks(5);
  assert.deepEqual(state.said.map(([, words]) => words).slice(2), [
    'queue_interrupted OOM command not allowed',
    'queue_interrupted connect ECONNREFUSED',
  ]);
  await queue.close();
});
