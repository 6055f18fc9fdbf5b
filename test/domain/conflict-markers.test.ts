import assert from 'node:assert/strict';
import test from 'node:test';
import { holdsBothSides } from '../../src/domain/conflict-markers.ts';

test('both sides of a conflict stand between its three markers, in their order', () => {
  const [ours, middle, theirs] = ['<<<<<<< HEAD', '=======', '>>>>>>> side'];
  for (const lines of [
    ['a', ours, 'b', middle, 'c', theirs, 'd'],
    [ours, 'b', '||||||| base', 'x', middle, 'c', theirs],
    [`${ours}\r`, `${middle}\r`, `${theirs}\r`],
  ])
    assert.ok(holdsBothSides(lines.join('\n')), lines.join(' '));
  for (const lines of [
    ['Title', middle, 'text', theirs],
    [ours, theirs],
    [middle, theirs, ours],
    [` ${ours}`, middle, theirs],
    [ours, '========', theirs],
    [''],
  ])
    assert.ok(!holdsBothSides(lines.join('\n')), lines.join(' '));
});
