// Work that is shared by those who come together, and done anew when it is old or out of date.

import assert from 'node:assert/strict';
import test from 'node:test';
import { RefreshCache } from '../../src/base/refresh-cache.ts';

const { signal } = new AbortController();

/** Work that ends when it is told to, on a clock that stands still until it is moved. */
function played() {
  const clock = { at: 0, now: () => clock.at, elapsed: () => clock.at, sleep: async () => undefined };
  const running: { readonly end: () => void; readonly fail: () => void }[] = [];
  const recent = new RefreshCache(
    clock,
    2_000,
    () =>
      new Promise((resolve, reject) => {
        running.push({ end: resolve, fail: () => reject(new Error('no answer')) });
      }),
  );
  return { clock, running, recent };
}

const turn = () => new Promise(setImmediate);

test('what was done lately serves once more, until it is old or is of no use', async () => {
  const { clock, running, recent } = played();
  const first = recent.ensure(true, signal);
  await turn();
  running[0]?.end();
  await first;
  clock.at = 1_999;
  await recent.ensure(true, signal);
  assert.equal(running.length, 1);
  const useless = recent.ensure(false, signal);
  await turn();
  assert.equal(running.length, 2);
  running[1]?.end();
  await useless;
  clock.at = 3_999;
  const old = recent.ensure(true, signal);
  await turn();
  assert.equal(running.length, 3);
  running[2]?.end();
  await old;
});

test('what is out of date serves nobody who comes afterwards, however young, and whether it has ended or not', async () => {
  const { clock, running, recent } = played();
  clock.at = 10;
  const early = recent.ensure(true, signal);
  await turn();
  clock.at = 20;
  recent.outdate();
  let isServed = false;
  const late = recent.ensure(true, signal).then(() => {
    isServed = true;
  });
  running[0]?.end();
  await early;
  await turn();
  assert.equal(running.length, 2, 'the late one has a run of its own');
  assert.equal(isServed, false);
  running[1]?.end();
  await late;
  clock.at = 30;
  await recent.ensure(true, signal);
  assert.equal(running.length, 2);
  recent.outdate();
  const anew = recent.ensure(true, signal);
  await turn();
  assert.equal(running.length, 3);
  running[2]?.end();
  await anew;
});

test('a failure is told to those who wait, and does not count as done', async () => {
  const { running, recent } = played();
  const one = recent.ensure(true, signal);
  const other = recent.ensure(true, signal);
  await turn();
  running[0]?.fail();
  await assert.rejects(one, /no answer/);
  await assert.rejects(other, /no answer/);
  const next = recent.ensure(true, signal);
  await turn();
  assert.equal(running.length, 2);
  running[1]?.end();
  await next;
});
