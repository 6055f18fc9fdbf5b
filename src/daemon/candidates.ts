// Selection of the issues to work on next; pure functions.

import { isOver } from './gatekeeper.ts';
import { finishedIssueOf } from './rules/finished-issues.ts';
import { branchOf, type Issue, priorityOf, type StateLabels, stateLabelsOf } from './rules/issue.ts';
import type { ClaimedRecord } from './rules/record.ts';
import type { DaemonState, Entry } from './rules/state.ts';

export type Candidate =
  /** An issue that the daemon does not work on yet. */
  | { readonly kind: 'fresh'; readonly issue: Issue }
  /** One whose next attempt is due. */
  | { readonly kind: 'due'; readonly issue: Issue };

function isDueEntry({ phase, retryAt }: Entry, now: number, longestPauseMs: number): boolean {
  return phase === 'claimed' || (phase === 'retrying' && isDue(retryAt ?? 0, now, longestPauseMs));
}

/** Issues at work whose next attempt is due. */
export function dueIssues(
  state: DaemonState,
  busy: ReadonlySet<number>,
  now: number,
  longestPauseMs: number,
): readonly number[] {
  return [...state.entries.values()]
    .filter((entry) => !busy.has(entry.number) && isDueEntry(entry, now, longestPauseMs))
    .map(({ number }) => number);
}

/** Every listed issue that an agent could start on now: by priority, then in the order of the listing, oldest first. */
export function candidates(
  listed: readonly Issue[],
  state: DaemonState,
  busy: ReadonlySet<number>,
  now: number,
  longestPauseMs: number,
  priorityLabels: readonly string[],
): Candidate[] {
  const open = listed.flatMap((issue): Candidate[] => {
    if (busy.has(issue.number)) return [];
    const entry = state.entries.get(issue.number);
    if (entry !== undefined && entry.phase !== 'parked')
      return isDueEntry(entry, now, longestPauseMs) ? [{ kind: 'due', issue }] : [];
    return isOver(issue, finishedIssueOf(state.past, issue.number), entry) ? [] : [{ kind: 'fresh', issue }];
  });
  if (priorityLabels.length === 0) return open;
  const ranked = open.map((candidate) => ({ candidate, rank: priorityOf(candidate.issue, priorityLabels) }));
  return ranked.sort((a, b) => a.rank - b.rank).map(({ candidate }) => candidate);
}

/** Record that claims an issue. A parked issue keeps its `life` and branch; one that was over gets the next `life`. */
export function claimOf(
  issue: Issue,
  state: DaemonState,
  states: StateLabels,
  branchPrefix: string,
  labelEvent: number | null,
): ClaimedRecord {
  const parked = state.entries.get(issue.number);
  const life = parked?.life ?? (finishedIssueOf(state.past, issue.number)?.life ?? 0) + 1;
  return {
    type: 'claimed',
    issue: issue.number,
    title: issue.title,
    url: issue.url,
    life,
    branch: parked?.branch ?? branchOf(branchPrefix, issue.number, life),
    state_labels: stateLabelsOf(issue.labels, states),
    label_event: labelEvent,
  };
}

/**
 * Id of the label event that began the last, finished work on an issue: a label of this event was not added again.
 * Null when the event is unknown, or when people ended the work and changed the issue since.
 */
export function spentEvent(state: DaemonState, { number, updatedAt }: Issue): number | null {
  const entry = state.entries.get(number);
  const past = finishedIssueOf(state.past, number);
  const over = entry === undefined ? past : entry.finished;
  const byDaemon = over?.outcome === 'failed' || over?.outcome === 'done';
  // Times are in whole seconds: only the event shows a change by people in the second of the end.
  return byDaemon || over?.updatedAt === updatedAt ? ((entry ?? past)?.labelEvent ?? null) : null;
}

/** A retry further away than the longest pause was planned before the clock was set back; it is due. */
function isDue(retryAt: number, at: number, longestPauseMs: number): boolean {
  return retryAt <= at || retryAt - at > longestPauseMs;
}

/**
 * Time until the earliest retry is due, ms; `Number.MAX_SAFE_INTEGER` when there is none.
 * @param polledAt time of the last poll; a retry that was due then does not count
 */
export function untilRetry(
  state: DaemonState,
  busy: ReadonlySet<number>,
  polledAt: number,
  now: number,
  longestPauseMs: number,
): number {
  let wait = Number.MAX_SAFE_INTEGER;
  for (const { phase, retryAt, number } of state.entries.values()) {
    if (phase !== 'retrying' || retryAt === null || busy.has(number)) continue;
    if (isDue(retryAt, polledAt, longestPauseMs)) continue;
    wait = Math.min(wait, isDue(retryAt, now, longestPauseMs) ? 0 : retryAt - now);
  }
  return wait;
}
