import assert from 'node:assert/strict';
import test from 'node:test';
import {
  noteOf,
  shownStatus,
  TASK_STATUSES,
  type Task,
  type TaskStatus,
  waitsFor,
} from '../../../src/team/rules/task.ts';
import { isOnlyOne } from '../../../src/team/rules/task-index.ts';

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

test('of a task under which nothing was changed its owner’s words are shown, in one line', () => {
  const done = task('1', 'completed');
  assert.equal(noteOf({ ...done, result: 'done' }), null, 'something was changed, or it is not known');
  const nothing = { ...done, changedNothing: true } as const;
  assert.equal(noteOf({ ...nothing, result: 'It has that\nalready.' }), 'changed nothing: It has that already.');
  assert.equal(noteOf(nothing), 'changed nothing, and nothing was said of it');
  assert.ok((noteOf({ ...nothing, result: 'long '.repeat(100) }) ?? '').length < 150);
});

test('what somebody had in hand beside a task is told by when it ended', () => {
  const claim = { member: 'tester', epoch: 1, at: 10 };
  const own = { ...task('1', 'in_progress'), claim, startedAt: 10 };
  const beside = (other: Task) => isOnlyOne(own, new Map([own, other].map((one) => [one.id, one])));
  const other = { ...task('2', 'completed'), claim, startedAt: 5 };
  assert.equal(beside({ ...other, endedAt: 9 }), true);
  assert.equal(beside({ ...other, endedAt: 10 }), false);
  assert.equal(beside({ ...other, status: 'in_progress' }), false);
  assert.equal(beside({ ...other, endedAt: 11, claim: { ...claim, member: 'backend-dev' } }), true);
});
