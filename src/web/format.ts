// Numbers and times as people read them.

import type { BudgetView } from '../daemon/view-budget.ts';

/** `850ms`, `12s`, `3m 05s`, `2h 10m`, `4d 2h`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (ms < 1000) return `${Math.max(0, Math.round(ms))}ms`;
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${String(seconds % 60).padStart(2, '0')}s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours}h ${String(minutes % 60).padStart(2, '0')}m`;
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** An answer to a paused question starts nothing. */
export function questionOf({ question, paused }: { readonly question: string; readonly paused: boolean }): string {
  return paused ? `(paused) ${question}` : question;
}

/** `950`, `12.3k`, `1.2M`. */
export function count(number: number): string {
  if (number < 1000) return String(number);
  if (number < 1e6) return `${(number / 1000).toFixed(1)}k`;
  return `${(number / 1e6).toFixed(1)}M`;
}

export function dollars(amount: number): string {
  return amount === 0 ? '–' : `$${amount.toFixed(amount < 10 ? 3 : 2)}`;
}

export type ShownBudget = {
  readonly spent: string;
  readonly limit: string;
  readonly isNear: boolean;
  readonly waiting: string;
};

/** From four fifths on, people want to know. */
const NEAR = 0.8;

export function shownBudget({ limit_usd: limit, spent_usd: spent, waiting }: BudgetView): ShownBudget {
  return {
    spent: `$${spent.toFixed(2)}`,
    limit: `$${limit.toFixed(2)}`,
    isNear: spent >= limit * NEAR,
    waiting: waiting === 0 ? '' : waiting === 1 ? '1 issue waits for it' : `${waiting} issues wait for it`,
  };
}
