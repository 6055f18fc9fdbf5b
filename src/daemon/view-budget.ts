// Budget of the day as the page and the API show it: how much is used, when it begins anew, and how many issues wait for it.

import { WORK_CODES } from './rules/codes/work-codes.ts';
import { dayAfter, spentOn, utcDay } from './rules/state.ts';
import { dollars, iso } from './view-rows.ts';
import type { RepositoryView } from './view-source.ts';

export type BudgetView = {
  readonly limit_usd: number;
  readonly spent_usd: number;
  /** Begin of the next day (UTC). */
  readonly renews_at: string;
  /** How many issues start when it begins anew. */
  readonly waiting: number;
};

/**
 * Null: there is no limit.
 * @param all repositories that share it
 * @param spentOnDay what counts of a day (UTC), US dollars; missing: the sum of these repositories
 */
export function budgetView(
  limit: number | null,
  all: readonly RepositoryView[],
  now: number,
  spentOnDay?: (day: string) => number,
): BudgetView | null {
  if (limit === null) return null;
  const day = utcDay(now);
  const waits = ({ waiting }: RepositoryView) =>
    waiting.filter(({ why }) => why.some(({ of }) => of === WORK_CODES.day_budget_spent)).length;
  const sum = (of: (one: RepositoryView) => number) => all.reduce((total, one) => total + of(one), 0);
  return {
    limit_usd: limit,
    spent_usd: dollars(spentOnDay?.(day) ?? sum(({ state }) => spentOn(state, day))),
    renews_at: iso(dayAfter(now)),
    waiting: sum(waits),
  };
}
