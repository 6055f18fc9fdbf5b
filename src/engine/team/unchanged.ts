// Whether anything was changed under a task that is completed, as far as that is sure: told by the team's branch, or by the
// work tree as it was measured.

import type { Gate, TeamState } from '../../domain/team/state.ts';
import type { Task } from '../../domain/team/task.ts';
import { isOnlyOne } from '../../domain/team/task-book.ts';
import type { Somebody, TeamContext } from './context.ts';
import { isDoneWithout } from './left-out.ts';

/**
 * Whether nothing was changed under a writer's task whose completion has just been accepted; false where it cannot be told.
 * @param before what was measured last before that
 */
export async function changedNothing(
  context: TeamContext,
  task: Task,
  caller: Somebody,
  state: TeamState,
  before: Gate | null,
): Promise<boolean> {
  const { team, purpose, tasks } = state;
  if (purpose?.phase !== 'run' || caller.kind !== 'member' || caller.member.readOnly) return false;
  const { name } = caller;
  if (!isOnlyOne({ ...task, owner: name }, tasks)) return false;
  const workshop = await context.workshop();
  if (workshop === null) return isSameTree(task, before, state);
  if ((await workshop.tasks(team)).includes(task.id)) return false;
  return !isDoneWithout(state, task.id);
}

/** Whether the work tree that all share is as it was measured last before the task was begun; what git ignores, the guard has seen. */
function isSameTree({ id, startedAt }: Task, before: Gate | null, { gate, written }: TeamState): boolean {
  if (before === null || gate === null || startedAt === null || before.at > startedAt) return false;
  if (gate.task !== id || gate.tree !== before.tree) return false;
  return [...written.values()].every((by) => by.every(({ task }) => task !== id));
}
