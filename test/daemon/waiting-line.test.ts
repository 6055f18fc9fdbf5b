// Waiting lines of one repository and of several.

import assert from 'node:assert/strict';
import test from 'node:test';
import { SlotShares } from '../../src/daemon/slot-shares.ts';
import { WaitingLine } from '../../src/daemon/waiting-line.ts';
import { FakeClock } from '../support/fake-clock.ts';

const never = new AbortController().signal;

/** Lines of repositories that share so many places. */
function sharedLines(
  count: number,
  slots: number,
): { readonly lines: WaitingLine<number>[]; readonly clock: FakeClock } {
  const clock = new FakeClock();
  const shares = new SlotShares({ limits: () => ({ slots, costPerDayUsd: null }), clock });
  return { lines: Array.from({ length: count }, () => new WaitingLine<number>({ most: () => slots, shares })), clock };
}

/** Enters each as it comes to its turn; `entered` says in which order. */
function crowd() {
  const entered: number[] = [];
  const ways = new Map<number, () => void>();
  return {
    entered,
    leave: async (of: number) => {
      ways.get(of)?.();
      await new Promise(setImmediate);
    },
    join: async (line: WaitingLine<number>, of: number, signal = never) => {
      void line.enter(of, signal).then(
        (leave) => {
          entered.push(of);
          ways.set(of, leave);
        },
        () => undefined,
      );
      await new Promise(setImmediate);
    },
  };
}

test('so many enter at a time, first come first served; whoever is aborted loses its turn', async () => {
  const line = new WaitingLine<number>({ most: () => 2 });
  const { entered, join, leave } = crowd();
  const aborted = new AbortController();
  await join(line, 1);
  await join(line, 2);
  await join(line, 3, aborted.signal);
  await join(line, 4);
  await join(line, 5);
  assert.deepEqual([...line.waiting], [3, 4, 5]);
  aborted.abort();
  await leave(1);
  // Out twice is out once.
  await leave(1);
  assert.deepEqual([entered, [...line.waiting]], [[1, 2, 4], [5]]);
  await leave(4);
  assert.deepEqual([entered, [...line.waiting]], [[1, 2, 4, 5], []]);
  await assert.rejects(line.enter(6, aborted.signal));
});

test('several lines share the places: a free one goes to the line that waits and holds the fewest', async () => {
  const { lines, clock } = sharedLines(3, 2);
  const [shop, site, idle] = lines;
  assert.ok(shop && site && idle);
  const { entered, join, leave } = crowd();
  // What nobody else waits for is for one alone.
  for (const of of [11, 12, 13, 14]) await join(shop, of);
  assert.deepEqual(entered, [11, 12]);
  await clock.pass(1);
  await join(site, 21);
  await join(site, 22);
  await leave(11);
  assert.deepEqual(entered, [11, 12, 21]);
  await leave(12);
  assert.deepEqual(entered, [11, 12, 21, 13]);
  await leave(13);
  assert.deepEqual(entered, [11, 12, 21, 13, 14]);
  // Its repository is let go.
  shop.leave();
  await leave(0);
  assert.deepEqual(entered, [11, 12, 21, 13, 14, 22]);
});
