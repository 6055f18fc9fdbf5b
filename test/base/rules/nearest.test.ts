import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { editDistance, nearest } from '../../../src/base/rules/nearest.ts';

test('distances', () => {
  const cases: readonly [string, string, number][] = [
    ['', '', 0],
    ['a', '', 1],
    ['kitten', 'sitting', 3],
    ['ab', 'ba', 1],
    ['interval', 'intervall', 1],
  ];
  for (const [a, b, distance] of cases) assert.equal(editDistance(a, b), distance, `${a} ~ ${b}`);
});

test('a distance is symmetric, zero only for equals, at most the longer length', () => {
  const word = fc.string({ maxLength: 8 });
  fc.assert(
    fc.property(word, word, (a, b) => {
      const distance = editDistance(a, b);
      assert.equal(distance, editDistance(b, a));
      assert.equal(distance === 0, a === b);
      assert.ok(distance <= Math.max(a.length, b.length));
    }),
  );
});

test('the nearest name, and none when nothing is near', () => {
  const known = ['max_concurrent_agents', 'max_attempts', 'max_turns'];
  assert.equal(nearest('max_concurent_agents', known), 'max_concurrent_agents');
  assert.equal(nearest('maxTurns', known), 'max_turns');
  assert.equal(nearest('colour', known), undefined);
  assert.equal(nearest('x', []), undefined);
});
