// Tasks that an ended run left unfinished, and tasks that get no further run without the user's consent.

import { refusal, textOf } from '../../base/rules/codes.ts';
import { LEAD_CODES } from './codes/lead-codes.ts';
import type { Member, TeamState } from './log/state.ts';
import { isModelLed } from './log/state.ts';
import { isHeldUp, type Task, waitsFor } from './task.ts';
import { taskIndexOf } from './task-index.ts';

/** Number of runs that may leave one task unfinished: the first and its successor. */
const RUNS_PER_TASK = 2;
/** Number of successors that a team starts before the user is asked. */
const SUCCESSORS = 3;

/** Session states in which tasks are worked on. */
const AT_WORK: ReadonlySet<string> = new Set(['spawned', 'working']);

/** Ids of the tasks that a member's ended run left unfinished: those that it began, else the first it could begin. */
export function unfinishedTasks(state: TeamState, { name, epoch, shutdown }: Member): readonly string[] {
  // Where the lead is code, it counts the starts itself.
  if (shutdown !== null || !AT_WORK.has(state.session) || !isModelLed(state)) return [];
  const { tasks } = state;
  const open = taskIndexOf(tasks).open();
  const begun = open.filter(
    (task) =>
      task.status === 'in_progress' &&
      task.claim?.member === name &&
      task.claim.epoch === epoch &&
      !isHeldUp(task, tasks),
  );
  const next = open.find(
    (task) => task.status === 'pending' && task.owner === name && waitsFor(task, tasks).length === 0,
  );
  return (begun.length > 0 || next === undefined ? begun : [next]).map(({ id }) => id);
}

export type AbandonedTask = { readonly task: Task; readonly why: string };

/** Open tasks for which no further run is started, each with the reason. */
export function abandonedTasks({ tasks }: TeamState): readonly AbandonedTask[] {
  const all = [...tasks.values()].reduce((sum, { left = 0 }) => sum + left, 0);
  return taskIndexOf(tasks)
    .open()
    .flatMap((task) => {
      const { left = 0, owner, status } = task;
      // Never left, or in progress again.
      if (left === 0 || status === 'in_progress') return [];
      const who = owner ?? 'whoever had it';
      const of = { task: task.id, member: who };
      if (left >= RUNS_PER_TASK)
        return [{ task, why: textOf(refusal(LEAD_CODES.task_given_up, { ...of, count: left })) }];
      if (all <= SUCCESSORS) return [];
      return [{ task, why: textOf(refusal(LEAD_CODES.too_many_given_up, { ...of, runs: all })) }];
    });
}
