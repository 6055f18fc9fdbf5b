import assert from 'node:assert/strict';
import test from 'node:test';
import { messageIn } from '../../../src/base/rules/codes.ts';
import {
  blockedInCycle,
  judgeBlockers,
  type LinkedIssue,
  type OpenBlockers,
} from '../../../src/daemon/rules/blockers.ts';

const linked = (number: number, repository: string | null = null): LinkedIssue => ({
  number,
  repository,
  state: 'open',
});
const open = (
  named: readonly number[],
  dependencies: readonly LinkedIssue[] = [],
  unseen = 0,
  subIssues: readonly LinkedIssue[] = [],
): OpenBlockers => ({
  named,
  links: { dependencies: { shown: dependencies, unseen }, subIssues: { shown: subIssues, unseen: 0 } },
});
const words = (blockers: OpenBlockers) => {
  const why = judgeBlockers(blockers);
  return why === null ? null : messageIn(why);
};

test('an issue without open blockers does not wait', () => {
  assert.equal(words(open([])), null);
});

test('blockers are named once, by where they are said', () => {
  assert.equal(words(open([3])), 'It waits for #3 (in its text).');
  assert.equal(
    words(open([3, 7], [linked(3), linked(7, 'other/repo'), linked(8)], 2, [linked(9)])),
    "It waits for #3 and #7 (in its text), and for other/repo#7, #8 and 2 that the daemon's account cannot read (dependency), and for #9 (sub-issue).",
  );
});

test('ten of many blockers are named', () => {
  const many = Array.from({ length: 12 }, (_, index) => index + 1);
  assert.equal(words(open(many)), 'It waits for #1, #2, #3, #4, #5, #6, #7, #8, #9, #10 and 2 more (in its text).');
});

test('a cycle goes back to its first issue', () => {
  assert.equal(messageIn(blockedInCycle([4])), 'It waits for itself: #4 waits for #4. Take one of these out.');
  assert.deepEqual(blockedInCycle([1, 2]).values.chain, ['#1 waits for #2', '#2 waits for #1']);
});
