// Cost of agents in the state: in all, and of the day.

import type { Usage } from '../../agents/rules/usage.ts';
import { addUsage, type DaemonState, usageSince, utcDay, withEntry } from './state.ts';

/** @param at ms since the epoch */
export function addCost(state: DaemonState, at: number, added: Usage): DaemonState {
  const day = utcDay(at);
  const before = state.today.day === day ? state.today.cost_usd : 0;
  return { ...state, totals: addUsage(state.totals, added), today: { day, cost_usd: before + added.cost_usd } };
}

/** @param usage all that the attempt or the review under way used so far */
export function useMore(state: DaemonState, issue: number, at: number, usage: Usage): DaemonState {
  const entry = state.entries.get(issue);
  if (entry?.phase !== 'running' && entry?.phase !== 'publishing') return state;
  return addCost(withEntry(state, { ...entry, running: usage }), at, usageSince(usage, entry.running));
}
