import assert from 'node:assert/strict';
import test from 'node:test';
import { NO_BLOCKERS } from '../../../src/daemon/rules/blockers.ts';
import {
  activeLabelsOf,
  branchOf,
  byAge,
  hasLabel,
  type Issue,
  stateLabelsOf,
} from '../../../src/daemon/rules/issue.ts';

const states = { active: ['tool-todo', 'urgent'], done: 'tool-done', failed: 'tool-failed' };

test('labels are compared without regard to case, and kept as they are spelled', () => {
  assert.equal(hasLabel(['Tool-Todo'], 'tool-todo'), true);
  assert.deepEqual(activeLabelsOf(['bug', 'Tool-Todo', 'URGENT'], states), ['Tool-Todo', 'URGENT']);
  assert.deepEqual(stateLabelsOf(['bug', 'Tool-Done', 'urgent', 'tool-failed'], states), [
    'Tool-Done',
    'urgent',
    'tool-failed',
  ]);
});

test('branches by life', () => {
  assert.equal(branchOf('tool/', 7, 1), 'tool/issue-7');
  assert.equal(branchOf('tool/', 7, 2), 'tool/issue-7-2');
});

test('oldest first, the number deciding between equals', () => {
  const issue = (number: number, createdAt: string): Issue => ({
    number,
    createdAt,
    title: '',
    body: '',
    url: '',
    state: 'open',
    labels: [],
    author: null,
    updatedAt: '',
    blockers: NO_BLOCKERS,
  });
  const sorted = [issue(3, '2026-01-02'), issue(9, '2026-01-01'), issue(2, '2026-01-02')].sort(byAge);
  assert.deepEqual(
    sorted.map(({ number }) => number),
    [9, 2, 3],
  );
});
