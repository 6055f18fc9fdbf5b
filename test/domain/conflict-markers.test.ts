import assert from 'node:assert/strict';
import test from 'node:test';
import { holdsConflict } from '../../src/domain/conflict-markers.ts';

test('a conflict is told by two of its three markers, in their order', () => {
  const [ours, middle, theirs] = ['<<<<<<< HEAD', '=======', '>>>>>>> side'];
  for (const lines of [
    ['a', ours, 'b', middle, 'c', theirs, 'd'],
    [ours, 'b', '||||||| base', 'x', middle, 'c', theirs],
    [`${ours}\r`, `${middle}\r`, `${theirs}\r`],
    ['a', ours, 'b', middle, 'c'],
    [ours, 'b', theirs],
    ['b', middle, 'c', theirs],
    [theirs, 'a', ours, 'b', theirs],
  ])
    assert.ok(holdsConflict(lines.join('\n')), lines.join(' '));
  for (const lines of [
    ['Title', middle, 'text'],
    ['Title', middle, 'Title', middle],
    [theirs, middle, ours],
    [` ${ours}`, ` ${middle}`, theirs],
    [ours, '========', 'b'],
    ['>>> 1 + 1', middle, '>>>>>>>>'],
    [''],
  ])
    assert.ok(!holdsConflict(lines.join('\n')), lines.join(' '));
});
