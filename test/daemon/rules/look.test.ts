// Looks that are joined, and the pause between polls.

import assert from 'node:assert/strict';
import test from 'node:test';
import { isEmpty, joinLooks, NO_LOOK, pollPauseMs } from '../../../src/daemon/rules/look.ts';

test('looks are joined without repeating anything', () => {
  const one = { ...NO_LOOK, blockers: true, issues: [1, 2], pulls: [3], commits: ['a'] };
  const other = { ...NO_LOOK, list: true, issues: [2, 4], pulls: [3], allPulls: true, commits: ['b'] };
  assert.deepEqual(joinLooks(one, other), {
    ...{ list: true, blockers: true, issues: [1, 2, 4], pulls: [3], allPulls: true, commits: ['a', 'b'] },
  });
  assert.deepEqual(joinLooks(NO_LOOK, NO_LOOK), NO_LOOK);
  assert.ok(isEmpty(NO_LOOK));
  const asked = [one, { ...NO_LOOK, list: true }, { ...NO_LOOK, commits: ['a'] }, { ...NO_LOOK, allPulls: true }];
  for (const some of asked) assert.ok(!isEmpty(some));
});

test('the pause is ten intervals while every kind of delivery is fresh, and never shorter than one', () => {
  const minute = 60_000;
  const cases: readonly [readonly (number | null)[], number, number][] = [
    [[], 0, 30_000],
    [[null], 0, 30_000],
    [[0, null], 0, 30_000],
    [[0], 0, 300_000],
    [[0, 0], 0, 300_000],
    [[0], 57 * minute, 3 * minute],
    [[0, 50 * minute], 57 * minute, 3 * minute],
    [[0], 60 * minute, 30_000],
    [[0], 600 * minute, 30_000],
  ];
  assert.equal(pollPauseMs(120 * minute, 0, [0]), 120 * minute);
  for (const [arrivals, polledAt, expected] of cases) assert.equal(pollPauseMs(30_000, polledAt, arrivals), expected);
});
