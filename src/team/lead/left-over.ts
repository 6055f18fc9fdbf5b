// Leftover work under a lead that is code: tasks without an owner, exhausted budgets, members without a process.

import { lineWithCode, refusal } from '../../base/rules/codes.ts';
import type { TeamLog } from '../ports.ts';
import { LEAD_CODES } from '../rules/codes/lead-codes.ts';
import { type Budgets, overBudget, overTaskBudget } from '../rules/cost.ts';
import type { TeamState } from '../rules/log/state.ts';
import { LEAD } from '../rules/message.ts';

type Reasons = ReadonlyMap<string, string>;

function reasonsOf(names: Iterable<string>, why: (name: string) => string | null): Reasons {
  return new Map(
    [...new Set(names)].flatMap((name) => {
      const words = why(name);
      return words === null ? [] : [[name, words] as const];
    }),
  );
}

/** Members (`spent`) and tasks (`overBudget`) over budget, with the reasons, by all costs in the log. */
export function limitsOf(state: TeamState, budget: Budgets): { readonly spent: Reasons; readonly overBudget: Reasons } {
  return {
    spent: reasonsOf(
      [...state.costs.values()].map(({ member }) => member),
      (name) => overBudget(state, name, budget),
    ),
    overBudget: reasonsOf(state.tasks.keys(), (id) => overTaskBudget(state, id, budget)),
  };
}

/** Assigns a task without an owner. A refusal is fine: another member has taken the task meanwhile. */
export async function giveTask(log: TeamLog, task: string, owner: string, say: (words: string) => void): Promise<void> {
  const { refusal } = await log.append({ type: 'task_assigned', task, owner, by: LEAD });
  if (refusal === null) say(`task ${task} had no owner: it is given to ${owner}`);
}

export async function failTask(log: TeamLog, task: string, why: string, say: (words: string) => void): Promise<void> {
  const { refusal: refused } = await log.append({
    ...{ type: 'task_updated', task, status: 'failed' },
    ...{ result: why, by: LEAD, epoch: 0 },
  });
  if (refused === null) say(lineWithCode(refusal(LEAD_CODES.task_failed_by_lead, { task, why })));
}

/**
 * Records the end of members that were asked to end and have no process any more. A late call of their own may have
 * marked them as working again, and nothing else records their end.
 */
export async function endGone(log: TeamLog): Promise<void> {
  log.refresh();
  for (const { name, epoch, phase, shutdown } of log.state.members.values())
    if (phase !== 'over' && shutdown !== null)
      await log.append({ type: 'member_ended', name, epoch, how: 'confirmed', reason: 'its process is gone' });
}
