import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { retryDelayMs } from '../../../src/daemon/rules/retry.ts';

test('10 s, 20 s, 40 s, … without jitter at the middle', () => {
  assert.deepEqual(
    [1, 2, 3, 4].map((failures) => retryDelayMs(failures, 300_000, 0.5)),
    [10_000, 20_000, 40_000, 80_000],
  );
});

test('jitter of a fifth, never above the cap', () => {
  assert.equal(retryDelayMs(1, 300_000, 0), 8_000);
  assert.equal(retryDelayMs(50, 300_000, 0.99), 300_000);
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10_000 }),
      fc.integer({ min: 0, max: 1e9 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (failures, cap, random) => {
        const delay = retryDelayMs(failures, cap, random);
        assert.ok(delay >= 0 && delay <= cap);
        assert.ok(delay >= Math.floor(Math.min(cap, 10_000) * 0.8));
      },
    ),
  );
});
