// Detection of completed tasks that certainly changed nothing, from the team's branch or from the measured work tree.

import type { Gate, TeamState } from '../rules/log/state.ts';
import type { Task } from '../rules/task.ts';
import { isOnlyOne } from '../rules/task-index.ts';
import type { TeamCaller, TeamContext } from './context.ts';
import { isDoneWithout } from './uncommitted-files.ts';

/**
 * Whether a writer's task whose completion was just accepted changed nothing; false when this is uncertain.
 * @param before last measurement before the completion
 */
export async function changedNothing(
  context: Pick<TeamContext, 'teamWorktrees'>,
  task: Task,
  caller: TeamCaller,
  state: TeamState,
  before: Gate | null,
): Promise<boolean> {
  const { team, purpose, tasks } = state;
  if (purpose?.phase !== 'run' || caller.kind !== 'member' || caller.member.readOnly) return false;
  const { name } = caller;
  if (!isOnlyOne({ ...task, owner: name }, tasks)) return false;
  const teamWorktrees = await context.teamWorktrees();
  if (teamWorktrees === null) return isSameTree(task, before, state);
  if ((await teamWorktrees.tasks(team)).includes(task.id)) return false;
  return !isDoneWithout(state, task.id);
}

/** Whether the shared work tree is the one measured before the task began. Recorded writes cover ignored files. */
function isSameTree({ id, startedAt }: Task, before: Gate | null, { gate, written }: TeamState): boolean {
  if (before === null || gate === null || startedAt === null || before.at > startedAt) return false;
  if (gate.task !== id || gate.tree !== before.tree) return false;
  return [...written.values()].every((by) => by.every(({ task }) => task !== id));
}
