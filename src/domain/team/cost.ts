// What the work of a team costs: by teammate and task, as their runtimes report it, and what it may cost.

import type { Usage } from '../usage.ts';

/** The hook that stands in the log for decisions about costs. */
export const BUDGET = 'budget';

/** Tokens and turns as the runtime counts them; cost in US dollars. */
export type Cost = Pick<Usage, 'cost_usd' | 'input_tokens' | 'output_tokens' | 'turns'>;

/** What one teammate, all its runs together, has used for one task; `task` null: for none, like reading its mail. */
export type Spent = Cost & { readonly member: string; readonly task: string | null };

/** US dollars; null: no limit. */
export type Budget = {
  /** More is said once, to the teammate and to the lead. */
  readonly softUsd: number | null;
  /** With so much it is over: the turn is ended, and nothing more is begun. */
  readonly hardUsd: number | null;
};

export type Budgets = { readonly teammate: Budget; readonly task: Budget };

type Costs = { readonly costs: ReadonlyMap<string, Spent> };

/** A limit of which nobody knows the last digit is reached all the same. */
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

/** What was used since `before`; null: nothing was. */
export function minus(now: Cost | null, before: Cost | null): Cost {
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

/** All that a teammate has used; null: nothing was reported. */
export function costOfMember({ costs }: Costs, name: string): Cost | null {
  return sumOf([...costs.values()].filter(({ member }) => member === name));
}

/** All that was used for a task, whoever did it; null: nothing was reported. */
export function costOfTask({ costs }: Costs, id: string): Cost | null {
  return sumOf([...costs.values()].filter(({ task }) => task === id));
}

/** All of a team; null: nothing was reported. */
export function costOfTeam({ costs }: Costs): Cost | null {
  return sumOf([...costs.values()]);
}

export function dollars(usd: number): string {
  return `$${usd.toFixed(usd !== 0 && usd < 0.1 ? 4 : 2)}`;
}

function isReached(usd: number, limit: number | null): limit is number {
  return limit !== null && usd >= limit - EPSILON_USD;
}

/** What a reported cost has brought about. */
export type Crossing = { readonly kind: 'soft' | 'hard'; readonly of: 'teammate' | 'task'; readonly words: string };

/** The limit that was passed on the way from one sum to the next; null: none. */
export function crossingOf(of: Crossing['of'], before: number, after: number, budgets: Budgets): Crossing | null {
  for (const kind of ['hard', 'soft'] as const) {
    const limit = budgets[of][`${kind}Usd`];
    if (!isReached(before, limit) && isReached(after, limit))
      return { kind, of, words: budgetWords(of, kind, after, limit) };
  }
  return null;
}

function budgetWords(of: Crossing['of'], kind: Crossing['kind'], usd: number, limit: number): string {
  return `${dollars(usd)} used, of a ${kind} budget of ${dollars(limit)} (workflow.team.budget.${of}.${kind}_usd)`;
}

/** Why a teammate begins nothing any more; null: it may. */
export function overBudget(costs: Costs, name: string, { teammate }: Budgets): string | null {
  const used = costOfMember(costs, name)?.cost_usd ?? 0;
  return isReached(used, teammate.hardUsd) ? budgetWords('teammate', 'hard', used, teammate.hardUsd) : null;
}

/** Why a task is begun no more; null: it may be. */
export function overTaskBudget(costs: Costs, id: string, { task }: Budgets): string | null {
  const used = costOfTask(costs, id)?.cost_usd ?? 0;
  return isReached(used, task.hardUsd)
    ? `${budgetWords('task', 'hard', used, task.hardUsd)}: it is begun again when more is allowed there`
    : null;
}

/** What is left to a teammate, US dollars; null: no limit. */
export function leftOf(costs: Costs, name: string, { teammate }: Budgets): number | null {
  return teammate.hardUsd === null ? null : teammate.hardUsd - (costOfMember(costs, name)?.cost_usd ?? 0);
}
