// The index of a team's tasks, against what a look through all of them gives.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Task, TaskStatus } from '../../../src/team/rules/task.ts';
import { TaskIndex, taskIndexOf } from '../../../src/team/rules/task-index.ts';

const STATUSES: readonly TaskStatus[] = ['pending', 'in_progress', 'completed', 'failed'];

function task(id: number, status: TaskStatus, at: number): Task {
  const isEnded = status === 'completed' || status === 'failed';
  return {
    id: String(id),
    subject: `Task ${id}`,
    description: '',
    owner: null,
    files: [],
    blockedBy: [],
    status,
    claim: null,
    // Some prove a cause.
    result: at % 7 === 0 ? `proven: ${at}\n$ run\nit fails` : null,
    createdBy: 'team-lead',
    createdAt: 0,
    startedAt: null,
    endedAt: isEnded ? at : null,
  };
}

function ids(tasks: readonly Task[]): readonly number[] {
  return tasks.map(({ id }) => Number(id));
}

const SINCE = 1_500;

/** The last one first. */
function byEnd(one: Task, other: Task): number {
  return (other.endedAt ?? 0) - (one.endedAt ?? 0);
}

/** What the index must say. */
function expected(tasks: ReadonlyMap<string, Task>, most: number) {
  const all = [...tasks.values()];
  const ended = all.filter(({ endedAt }) => endedAt !== null);
  const last = ended.toSorted(byEnd).slice(0, most);
  return {
    open: all.filter(({ endedAt }) => endedAt === null).map(({ id }) => Number(id)),
    ended: ids(last).toSorted((one, other) => one - other),
    failed: ids(all.filter(({ status }) => status === 'failed')),
    uncompleted: ids(all.filter(({ status }) => status !== 'completed')),
    isDone: all.every(({ status }) => status === 'completed'),
    isProven: all.some(({ status, result }) => status === 'completed' && result !== null),
    endedSince: ids(ended.filter(({ endedAt }) => (endedAt ?? 0) >= SINCE).toSorted(byEnd)),
    counts: Object.fromEntries(STATUSES.map((status) => [status, all.filter((one) => one.status === status).length])),
  };
}

function actual(book: TaskIndex, most: number) {
  return {
    open: ids(book.open()),
    ended: ids(book.ended(most)),
    failed: ids(book.failed()),
    uncompleted: ids(book.uncompletedTasks()),
    isDone: book.isDone,
    isProven: book.isProven,
    endedSince: ids([...book.endedSince(SINCE)]),
    counts: book.counts,
  };
}

test('whatever becomes of tasks, the index is that of all of them, before and after a snapshot', () => {
  const book = new TaskIndex();
  const plain = new Map<string, Task>();
  // The same numbers at each run: a linear congruential generator.
  let random = 7;
  const next = (below: number) => {
    random = (random * 48_271) % 2_147_483_647;
    return random % below;
  };
  for (let step = 1; step <= 3_000; step++) {
    // Each moment once, and every third one a thousand back: as a clock that is set.
    const at = step % 3 === 0 ? step - 1_000 : step + 3_000;
    const id = next(2) === 0 && plain.size < 60 ? plain.size + 1 : 1 + next(Math.max(1, plain.size));
    const changed = task(id, STATUSES[next(4)] ?? 'pending', at);
    book.set(changed.id, changed);
    plain.set(changed.id, changed);
    if (step % 50 !== 0) continue;
    assert.deepEqual(actual(book, 20), expected(plain, 20));
    assert.deepEqual(actual(taskIndexOf(plain), 20), expected(plain, 20));
    assert.deepEqual([...taskIndexOf(plain)], [...plain], 'the order of the ids stays');
  }
  assert.equal(taskIndexOf(book), book);
});

test('what is waited for shrinks with each completion, and grows with a task that is begun anew', () => {
  const book = new TaskIndex();
  const wanted = ['3', '1', '2'];
  for (const id of [1, 2, 3]) book.set(String(id), task(id, 'pending', 1));
  assert.deepEqual(book.uncompleted(wanted), wanted);
  book.set('1', task(1, 'completed', 2));
  assert.deepEqual(book.uncompleted(wanted), ['3', '2']);
  book.set('3', task(3, 'failed', 3));
  assert.deepEqual(book.uncompleted(wanted), ['3', '2']);
  book.set('2', task(2, 'completed', 4));
  book.set('1', task(1, 'in_progress', 5));
  assert.deepEqual(book.uncompleted(wanted), ['3', '1']);
  assert.deepEqual(book.uncompleted(['4']), ['4'], 'what is not there is not completed');
});

test('no task is removed', () => {
  assert.throws(() => new TaskIndex().delete(), TypeError);
});
