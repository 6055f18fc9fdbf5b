import assert from 'node:assert/strict';
import test from 'node:test';
import { holdsConflict } from '../../../src/git/rules/conflict-markers.ts';

test('a conflict is told by what begins or ends it, at the beginning of a line', () => {
  const [ours, middle, theirs] = ['<<<<<<< HEAD', '=======', '>>>>>>> side'];
  for (const lines of [
    ['a', ours, 'b', middle, 'c', theirs, 'd'],
    [ours, 'b', '||||||| base', 'x', middle, 'c', theirs],
    [`${ours}\r`, `${middle}\r`, `${theirs}\r`],
    ['a', ours, 'b', middle, 'c'],
    ['b', middle, 'c', theirs],
    ['b', theirs],
    ['<<<<<<<<<<<< HEAD', 'a', '============', 'b'],
  ])
    assert.ok(holdsConflict(lines.join('\n')), lines.join(' '));
  for (const lines of [
    ['Title', middle, 'text'],
    [` ${ours}`, middle, ` ${theirs}`],
    ['>>> 1 + 1', middle, '>>>>>>>', '<<<<<<<'],
    ['>>>>>>>>x'],
    [''],
  ])
    assert.ok(!holdsConflict(lines.join('\n')), lines.join(' '));
});
