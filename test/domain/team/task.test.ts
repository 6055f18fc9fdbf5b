import assert from 'node:assert/strict';
import test from 'node:test';
import { shownStatus, TASK_STATUSES, type Task, type TaskStatus, waitsFor } from '../../../src/domain/team/task.ts';

function task(id: string, status: TaskStatus, blockedBy: readonly string[] = []): Task {
  return {
    id,
    subject: `Task ${id}`,
    description: '',
    owner: null,
    files: [],
    blockedBy,
    status,
    claim: null,
    result: null,
    createdBy: 'team-lead',
    createdAt: 1,
    startedAt: null,
    endedAt: null,
  };
}

test('a task waits for each older one that is not completed; a failed one is not', () => {
  for (const first of TASK_STATUSES)
    for (const second of TASK_STATUSES) {
      const tasks = new Map([task('1', first), task('2', second)].map((one) => [one.id, one]));
      const open = [...(first === 'completed' ? [] : ['1']), ...(second === 'completed' ? [] : ['2'])];
      const third = task('3', 'pending', ['1', '2']);
      assert.deepEqual(waitsFor(third, tasks), open, `${first}, ${second}`);
      assert.equal(shownStatus(third, tasks), open.length === 0 ? 'pending' : 'blocked');
    }
});

test('only what has not begun is shown as blocked', () => {
  const tasks = new Map([['1', task('1', 'pending')]]);
  assert.deepEqual(
    TASK_STATUSES.map((status) => shownStatus(task('2', status, ['1']), tasks)),
    ['blocked', 'in_progress', 'completed', 'failed'],
  );
});

test('a task that nobody knows is waited for', () => {
  assert.deepEqual(waitsFor(task('2', 'pending', ['9']), new Map()), ['9']);
});
