// A task of a team's shared list.

import { oneLine } from '../../base/rules/text.ts';

/** As it is kept; `blocked` is derived from the tasks it waits for. */
export type TaskStatus = 'pending' | 'in_progress' | 'completed' | 'failed';

export const TASK_STATUSES: readonly TaskStatus[] = ['pending', 'in_progress', 'completed', 'failed'];

export const SHOWN_STATUSES: readonly (TaskStatus | 'blocked')[] = [...TASK_STATUSES, 'blocked'];

/** Who works on it. A successor of the same name has another epoch, and not this claim. */
export type Claim = { readonly member: string; readonly epoch: number; readonly at: number };

export type Task = {
  /** Counted from 1 within the team, as text. */
  readonly id: string;
  /** The id of the record that it came with; missing: an older version kept it. */
  readonly record?: string;
  readonly subject: string;
  readonly description: string;
  /** The member it is meant for; null: whoever it fits. */
  readonly owner: string | null;
  /** Paths or globs that it is expected to touch. */
  readonly files: readonly string[];
  /** Ids of tasks that come first: older ones, or younger ones that wait for none, so that no circle can close. */
  readonly blockedBy: readonly string[];
  /** The id of an older task that waits for this one, as for a conflict to be settled; missing: none. */
  readonly holdsUp?: string;
  readonly status: TaskStatus;
  /** Whose tasks may begin before this one is completed: what they need of it was announced as ready. Missing: nobody's. */
  readonly readyFor?: string;
  /** It may be begun before what it waits for is completed, and ends after that. */
  readonly isEarly?: true;
  /** It was begun on such an announcement, and given back: there is no more to it before what it waits for is completed. */
  readonly isGivenBack?: true;
  /** So many runs ended without finishing it, since the lead last opened it; missing: none. */
  readonly left?: number;
  /** The latest result that was rejected: who takes the task up may be another than its author. */
  readonly returned?: string;
  /** It was completed, and it is sure that nothing was changed under it. */
  readonly changedNothing?: true;
  readonly claim: Claim | null;
  readonly result: string | null;
  readonly createdBy: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
};

/** `uncompleted`: the ids of a list whose tasks are not completed, where an index knows them. */
type Tasks = ReadonlyMap<string, Task> & { readonly uncompleted?: (ids: readonly string[]) => readonly string[] };

/** The ids of what it waits for still. */
export function waitsFor(task: Task, tasks: Tasks): readonly string[] {
  const ids = task.blockedBy;
  return tasks.uncompleted?.(ids) ?? ids.filter((id) => tasks.get(id)?.status !== 'completed');
}

/**
 * The ids of what it waits for before it can be begun: of what was announced as ready for whoever begins it, only its end does.
 * An early task waits for nothing, unless it was given back.
 * @param by who would begin what is nobody's; null: that is not known
 */
export function beginsAfter(task: Task, tasks: Tasks, by: string | null = null): readonly string[] {
  if (task.isEarly === true && task.isGivenBack !== true) return [];
  const beginner = task.owner ?? by;
  return waitsFor(task, tasks).filter((id) => {
    if (task.isGivenBack === true) return true;
    const before = tasks.get(id);
    return before?.status !== 'in_progress' || before.readyFor === undefined || before.readyFor !== beginner;
  });
}

/** As it is when nobody has it in hand any more. */
export function givenBack(task: Task, tasks: Tasks): Task {
  const back = { ...task, status: 'pending', claim: null, startedAt: null, endedAt: null } as const;
  return isHeldUp(task, tasks) ? { ...back, isGivenBack: true } : back;
}

/** Whether it was begun, and cannot be finished before another. */
export function isHeldUp(task: Task, tasks: Tasks): boolean {
  return task.status === 'in_progress' && waitsFor(task, tasks).length > 0;
}

/** More of what its owner said of it is not shown beside it. */
const SAID_MAX = 120;

/** What is to be known of a completed task beside that: its owner's own words where nothing was changed under it; null: nothing. */
export function noteOf({ changedNothing, result }: Task): string | null {
  if (changedNothing === undefined) return null;
  const said = oneLine(result ?? '', SAID_MAX);
  return `changed nothing${said === '' ? ', and nothing was said of it' : `: ${said}`}`;
}

/** Its status as it is shown. @param by who asks; null: nobody who would begin it */
export function shownStatus(task: Task, tasks: Tasks, by: string | null = null): TaskStatus | 'blocked' {
  return task.status === 'pending' && beginsAfter(task, tasks, by).length > 0 ? 'blocked' : task.status;
}
