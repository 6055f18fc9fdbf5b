// The index of a team's tasks, against what a look through all of them gives.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Task, TaskStatus } from '../../../src/domain/team/task.ts';
import { bookOf, TaskBook } from '../../../src/domain/team/task-book.ts';

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
    result: null,
    createdBy: 'team-lead',
    createdAt: 0,
    startedAt: null,
    endedAt: isEnded ? at : null,
  };
}

function ids(tasks: readonly Task[]): readonly number[] {
  return tasks.map(({ id }) => Number(id));
}

/** What the index must say. */
function expected(tasks: ReadonlyMap<string, Task>, most: number) {
  const all = [...tasks.values()];
  const ended = all.filter(({ endedAt }) => endedAt !== null);
  const last = ended.toSorted((one, other) => (other.endedAt ?? 0) - (one.endedAt ?? 0)).slice(0, most);
  return {
    open: all.filter(({ endedAt }) => endedAt === null).map(({ id }) => Number(id)),
    ended: ids(last).toSorted((one, other) => one - other),
    counts: Object.fromEntries(STATUSES.map((status) => [status, all.filter((one) => one.status === status).length])),
  };
}

function actual(book: TaskBook, most: number) {
  return { open: ids(book.open()), ended: ids(book.ended(most)), counts: book.counts };
}

test('whatever becomes of tasks, the index is that of all of them, before and after a snapshot', () => {
  const book = new TaskBook();
  const plain = new Map<string, Task>();
  // The same numbers at each run: a linear congruential generator.
  let random = 7;
  const next = (below: number) => {
    random = (random * 48_271) % 2_147_483_647;
    return random % below;
  };
  for (let at = 1; at <= 3_000; at++) {
    const id = next(2) === 0 && plain.size < 60 ? plain.size + 1 : 1 + next(Math.max(1, plain.size));
    const changed = task(id, STATUSES[next(4)] ?? 'pending', at);
    book.set(changed.id, changed);
    plain.set(changed.id, changed);
    if (at % 50 !== 0) continue;
    assert.deepEqual(actual(book, 20), expected(plain, 20));
    assert.deepEqual(actual(bookOf(plain), 20), expected(plain, 20));
    assert.deepEqual([...bookOf(plain)], [...plain], 'the order of the ids stays');
  }
  assert.equal(bookOf(book), book);
});

test('no task is removed', () => {
  assert.throws(() => new TaskBook().delete(), TypeError);
});
