// Costs of a team by teammate and task, as the runtimes report them, and the budgets for them.

import type { Usage } from '../../agents/rules/usage.ts';
import { refusal, textOf } from '../../base/rules/codes.ts';
import { LEAD_CODES } from './codes/lead-codes.ts';

/** Hook name of decisions about costs in the log. */
export const BUDGET = 'budget';

/** Tokens and turns as the runtime counts them; cost in US dollars. */
export type Cost = Pick<Usage, 'cost_usd' | 'input_tokens' | 'output_tokens' | 'turns'>;

/** Use of one teammate for one task, over all its runs. `task` null: no task, for example reading its mail. */
export type Spent = Cost & { readonly member: string; readonly task: string | null };

/** US dollars; null: no limit. */
export type CostLimits = {
  /** Reaching it warns the teammate and the lead once. */
  readonly softUsd: number | null;
  /** Reaching it ends the turn, and nothing more is begun. */
  readonly hardUsd: number | null;
};

export type Budgets = { readonly teammate: CostLimits; readonly task: CostLimits };

type Costs = { readonly costs: ReadonlyMap<string, Spent> };

/** Tolerance for the rounding errors of summed costs. */
const EPSILON_USD = 1e-9;

const NOTHING: Cost = { cost_usd: 0, input_tokens: 0, output_tokens: 0, turns: 0 };

export function addCost(one: Cost, other: Cost): Cost {
  return {
    cost_usd: one.cost_usd + other.cost_usd,
    input_tokens: one.input_tokens + other.input_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
    turns: one.turns + other.turns,
  };
}

/** Use between `before` and `now`; null counts as zero. */
export function costBetween(now: Cost | null, before: Cost | null): Cost {
  const [one, other] = [now ?? NOTHING, before ?? NOTHING];
  return {
    cost_usd: Math.max(0, one.cost_usd - other.cost_usd),
    input_tokens: one.input_tokens - other.input_tokens,
    output_tokens: one.output_tokens - other.output_tokens,
    turns: one.turns - other.turns,
  };
}

function sumOf(rows: readonly Cost[]): Cost | null {
  return rows.length === 0 ? null : rows.reduce(addCost, NOTHING);
}

/** Total of a teammate; null when nothing was reported. */
export function costOfMember({ costs }: Costs, name: string): Cost | null {
  return sumOf([...costs.values()].filter(({ member }) => member === name));
}

/** Total of a task over all teammates; null when nothing was reported. */
export function costOfTask({ costs }: Costs, id: string): Cost | null {
  return sumOf([...costs.values()].filter(({ task }) => task === id));
}

/** Total of a team; null when nothing was reported. */
export function costOfTeam({ costs }: Costs): Cost | null {
  return sumOf([...costs.values()]);
}

export function dollars(usd: number): string {
  return `$${usd.toFixed(usd !== 0 && usd < 0.1 ? 4 : 2)}`;
}

function isReached(usd: number, limit: number | null): limit is number {
  return limit !== null && usd >= limit - EPSILON_USD;
}

/** Budget limit that a reported cost has reached. */
export type BudgetCrossing = {
  readonly kind: 'soft' | 'hard';
  readonly of: 'teammate' | 'task';
  readonly words: string;
};

/** Limit reached between the sums `before` and `after`, a hard one first; null: none. */
export function crossingOf(
  of: BudgetCrossing['of'],
  before: number,
  after: number,
  budgets: Budgets,
): BudgetCrossing | null {
  for (const kind of ['hard', 'soft'] as const) {
    const limit = budgets[of][`${kind}Usd`];
    if (!isReached(before, limit) && isReached(after, limit))
      return { kind, of, words: budgetWords(of, kind, after, limit) };
  }
  return null;
}

function budgetWords(of: BudgetCrossing['of'], kind: BudgetCrossing['kind'], usd: number, limit: number): string {
  return textOf(refusal(LEAD_CODES.budget_reached, { used: dollars(usd), kind, limit: dollars(limit), of }));
}

/** Reason why a teammate may begin nothing more; null when it may. */
export function overBudget(costs: Costs, name: string, { teammate }: Budgets): string | null {
  const used = costOfMember(costs, name)?.cost_usd ?? 0;
  return isReached(used, teammate.hardUsd) ? budgetWords('teammate', 'hard', used, teammate.hardUsd) : null;
}

/** Reason why a task may not be begun; null when it may. */
export function overTaskBudget(costs: Costs, id: string, { task }: Budgets): string | null {
  const used = costOfTask(costs, id)?.cost_usd ?? 0;
  return isReached(used, task.hardUsd)
    ? `${budgetWords('task', 'hard', used, task.hardUsd)}: it is begun again when more is allowed there`
    : null;
}

/** Rest of a teammate's hard budget, US dollars; null: no limit. */
export function remainingBudget(costs: Costs, name: string, { teammate }: Budgets): number | null {
  return teammate.hardUsd === null ? null : teammate.hardUsd - (costOfMember(costs, name)?.cost_usd ?? 0);
}
