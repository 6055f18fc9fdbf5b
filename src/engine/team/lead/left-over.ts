// What a lead that is code does about work that nobody would do of themselves: it gives it to somebody, or ends it.

import { type Budgets, overBudget, overTaskBudget } from '../../../domain/team/cost.ts';
import { JUDGE_SUBJECT } from '../../../domain/team/judge.ts';
import { LEAD } from '../../../domain/team/message.ts';
import type { TeamState } from '../../../domain/team/state.ts';
import type { TeamLog } from '../../ports.ts';

type Reasons = ReadonlyMap<string, string>;

/** What whoever judges is asked with when it has ended its work without its word. */
export const JUDGE_TASK = {
  subject: JUDGE_SUBJECT,
  description:
    'Your task is completed, but your verdict is missing. If all holds, send quality_gate_passed to team-lead. If not, send change_request or coverage_required to the teammate who can fix it, and name it in the result of this task.',
  owner: 'quality',
} as const;

function reasonsOf(names: Iterable<string>, why: (name: string) => string | null): Reasons {
  return new Map(
    [...new Set(names)].flatMap((name) => {
      const words = why(name);
      return words === null ? [] : [[name, words] as const];
    }),
  );
}

/** On whom no more is to be spent, and on which tasks, with the reason: as the log has it, whoever led before. */
export function limitsOf(state: TeamState, budget: Budgets): { readonly spent: Reasons; readonly dear: Reasons } {
  return {
    spent: reasonsOf(
      [...state.costs.values()].map(({ member }) => member),
      (name) => overBudget(state, name, budget),
    ),
    dear: reasonsOf(state.tasks.keys(), (id) => overTaskBudget(state, id, budget)),
  };
}

/** What is nobody's becomes somebody's; where another has taken it meanwhile, that is as good. */
export async function giveTask(log: TeamLog, task: string, owner: string, say: (words: string) => void): Promise<void> {
  const { refusal } = await log.append({ type: 'task_assigned', task, owner, by: LEAD });
  if (refusal === null) say(`task ${task} had no owner: it is given to ${owner}`);
}

export async function failTask(log: TeamLog, task: string, why: string, say: (words: string) => void): Promise<void> {
  const { refusal } = await log.append({
    ...{ type: 'task_updated', task, status: 'failed' },
    ...{ result: why, by: LEAD, epoch: 0 },
  });
  if (refusal === null) say(`task ${task} has failed: ${why}`);
}

/**
 * Who was asked to end and has no process any more has ended: a call of its own that came in late may have had it count as
 * at work again, and nobody else would say so.
 */
export async function endGone(log: TeamLog): Promise<void> {
  log.refresh();
  for (const { name, epoch, phase, shutdown } of log.state.members.values())
    if (phase !== 'over' && shutdown !== null)
      await log.append({ type: 'member_ended', name, epoch, how: 'confirmed', reason: 'its process is gone' });
}
