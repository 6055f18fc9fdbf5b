import assert from 'node:assert/strict';
import test from 'node:test';
import { messageIn } from '../../../src/base/rules/codes.ts';
import {
  blockedInCycle,
  judgeBlockers,
  type LinkedIssue,
  type OpenBlockers,
} from '../../../src/daemon/rules/blockers.ts';
import { WORK_CODES } from '../../../src/daemon/rules/codes/work-codes.ts';
import { isRefusal } from '../../support/codes.ts';

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
  isRefusal(judgeBlockers(open([3])), WORK_CODES.issue_blocked, { blockers: '#3 (in its text)' });
  isRefusal(
    judgeBlockers(open([3, 7], [linked(3), linked(7, 'other/repo'), linked(8)], 2, [linked(9)])),
    WORK_CODES.issue_blocked,
    {
      blockers:
        "#3 and #7 (in its text), and for other/repo#7, #8 and 2 that the daemon's account cannot read (dependency), and for #9 (sub-issue)",
    },
  );
});

test('ten of many blockers are named', () => {
  const many = Array.from({ length: 12 }, (_, index) => index + 1);
  isRefusal(judgeBlockers(open(many)), WORK_CODES.issue_blocked, {
    blockers: '#1, #2, #3, #4, #5, #6, #7, #8, #9, #10 and 2 more (in its text)',
  });
});

test('a cycle goes back to its first issue', () => {
  isRefusal(blockedInCycle([4]), WORK_CODES.issue_blocked_in_cycle, { chain: ['#4 waits for #4'] });
  assert.deepEqual(blockedInCycle([1, 2]).values.chain, ['#1 waits for #2', '#2 waits for #1']);
});
