// The shared list of a team that has finished thousands of tasks.

import assert from 'node:assert/strict';
import test from 'node:test';
import { textOf } from '../../../src/base/rules/codes.ts';
import { makeTask } from '../../../src/team/operations/context.ts';
import { getTask, listTasks, updateTask } from '../../../src/team/operations/task-operations.ts';
import { advance } from '../../../src/team/phases/advance.ts';
import type { TeamLog } from '../../../src/team/ports.ts';
import { TASK_CODES } from '../../../src/team/rules/codes/tasks-codes.ts';
import type { TeamState } from '../../../src/team/rules/log/state.ts';
import { type Input, readInput } from '../../../src/team/rules/operation.ts';
import { isOf } from '../../support/codes.ts';
import { LEAD, RECORDS, type Story, teamOf } from '../../support/team.ts';
import { TeamWorld } from '../../support/team-world.ts';
import type { Cleanup } from '../../support/temp.ts';

const CALLER = { kind: 'lead', name: LEAD, epoch: 0, team: 'tool-run-spec-auth-001' } as const;

function inputOf(name: 'TaskList' | 'TaskGet' | 'TaskUpdate', given: unknown): Input {
  const read = readInput(name, given);
  assert.ok(read.ok);
  return read.input;
}

/** As `teamOf` tells it, `done` tasks completed one after the other. */
function busy(tasks: number, done: number): Story {
  const story = teamOf(['backend-dev'], tasks);
  for (let id = 1; id <= done; id++) story.claim(String(id), 'backend-dev').complete(String(id), 'backend-dev');
  return story;
}

/** The story as a log. What runs through all tasks throws. */
function logOf(story: Story): TeamLog {
  const { tasks } = story.state;
  const all = () => assert.fail('all tasks are looked through');
  Object.assign(tasks, { values: all, entries: all, keys: all, forEach: all, [Symbol.iterator]: all });
  return {
    get state(): TeamState {
      return story.state;
    },
    refresh: () => undefined,
    append: (record) => {
      const refused = story.fold.take({ ...record, v: 1, id: 'the-new-one', at: story.at });
      const refusal = refused === null ? null : textOf(refused);
      return Promise.resolve({ id: 'the-new-one', at: story.at, refused, refusal });
    },
    close: () => Promise.resolve(),
  };
}

type Listed = { readonly tasks: readonly { readonly taskId: string; readonly status: string }[] };

function listed(log: TeamLog, given: unknown = {}): Listed & { readonly counts: Readonly<Record<string, number>> } {
  return JSON.parse(JSON.stringify(listTasks(log, CALLER, inputOf('TaskList', given))));
}

test('the list holds the open tasks, the 20 that ended last and counts of all, without a look through all', () => {
  const log = logOf(busy(1_003, 1_000));
  const { tasks, counts } = listed(log);
  assert.deepEqual(
    tasks.map(({ taskId }) => Number(taskId)),
    Array.from({ length: 23 }, (_, index) => 981 + index),
  );
  assert.deepEqual(counts, { pending: 3, in_progress: 0, completed: 1_000, failed: 0, blocked: 0 });
  assert.ok(JSON.stringify(listTasks(log, CALLER, inputOf('TaskList', {}))).length < 4_000);
});

test('a status selects the 100 newest tasks of it', () => {
  const log = logOf(busy(203, 200));
  assert.deepEqual(
    listed(log, { status: 'completed' }).tasks.map(({ taskId }) => Number(taskId)),
    Array.from({ length: 100 }, (_, index) => 101 + index),
  );
  assert.deepEqual(
    listed(log, { status: 'pending' }).tasks.map(({ taskId }) => taskId),
    ['201', '202', '203'],
  );
  assert.deepEqual(listed(log, { status: 'failed' }).tasks, []);
  assert.equal(readInput('TaskList', { status: 'done' }).ok, false);
});

test('a task is created without a look through the finished ones', async () => {
  const task = await makeTask(logOf(busy(500, 500)), RECORDS.task_created);
  assert.equal(task?.id, '501');
});

/** How many tasks are looked up to claim and to complete one, and for the next step, beside so many finished ones. */
async function lookedUp(t: Cleanup, done: number): Promise<number> {
  const finished = Array.from({ length: done }, (_, index) => String(index + 1));
  const story = busy(done + 2, done).tell('task_created', { blocked_by: [...finished, String(done + 2)] });
  const log = logOf(story);
  const { context } = new TeamWorld(t);
  const caller = {
    ...CALLER,
    kind: 'member',
    name: 'backend-dev',
    epoch: 1,
    member: story.member('backend-dev'),
  } as const;
  const update = (status: string) =>
    updateTask(context, log, caller, inputOf('TaskUpdate', { taskId: String(done + 1), status }));
  // What it waits for no more is looked at once.
  listed(log);
  story.later(1);
  const { tasks } = story.state;
  let count = 0;
  Object.assign(tasks, {
    get: (id: string) => {
      count += 1;
      return Map.prototype.get.call(tasks, id);
    },
  });
  assert.equal((await update('in_progress')).status, 'in_progress');
  assert.equal(await advance(context, log), null);
  assert.equal((await update('completed')).status, 'completed');
  assert.equal(await advance(context, log), null);
  assert.equal(log.state.tasks, tasks);
  return count;
}

test('a task is updated, and the next step taken, at the same work whatever is finished', async (t) => {
  assert.equal(await lookedUp(t, 1_000), await lookedUp(t, 100));
});

test('an id that nobody knows is answered with the range of ids', () => {
  const log = logOf(busy(500, 0));
  assert.throws(
    () => getTask(log, CALLER, inputOf('TaskGet', { taskId: '501' })),
    isOf(TASK_CODES.task_not_found, { field: 'taskId', task: '501', count: 500 }),
  );
});
