// Which issues are next: the decision, pure.

import { pastOf } from '../../domain/daemon/past.ts';
import type { ClaimedRecord } from '../../domain/daemon/record.ts';
import type { DaemonState } from '../../domain/daemon/state.ts';
import { branchOf, type Issue, type StateLabels, stateLabelsOf } from '../../domain/issue.ts';
import { isOver } from './gatekeeper.ts';

export type Candidate =
  /** An issue that the daemon does not work on yet. */
  | { readonly kind: 'fresh'; readonly issue: Issue }
  /** One whose next attempt is due. */
  | { readonly kind: 'due'; readonly issue: Issue };

/** Every listed issue that an agent could start on now, in the order of the listing, which is oldest first. */
export function candidates(
  listed: readonly Issue[],
  state: DaemonState,
  busy: ReadonlySet<number>,
  now: number,
): Candidate[] {
  return listed.flatMap((issue): Candidate[] => {
    if (busy.has(issue.number)) return [];
    const entry = state.entries.get(issue.number);
    if (entry !== undefined && entry.phase !== 'parked') {
      const due = entry.phase === 'claimed' || (entry.phase === 'retrying' && (entry.retryAt ?? 0) <= now);
      return due ? [{ kind: 'due', issue }] : [];
    }
    return isOver(issue, pastOf(state.past, issue.number), entry) ? [] : [{ kind: 'fresh', issue }];
  });
}

/** The record that takes an issue on: a parked one goes on, one that was done or closed begins a new life. */
export function claimOf(
  issue: Issue,
  state: DaemonState,
  states: StateLabels,
  labelEvent: number | null,
): ClaimedRecord {
  const parked = state.entries.get(issue.number);
  const life = parked?.life ?? (pastOf(state.past, issue.number)?.life ?? 0) + 1;
  return {
    type: 'claimed',
    issue: issue.number,
    title: issue.title,
    url: issue.url,
    life,
    branch: parked?.branch ?? branchOf(issue.number, life),
    state_labels: stateLabelsOf(issue.labels, states),
    label_event: labelEvent,
  };
}

/**
 * When the next poll is due without anybody asking, ms since the epoch: for the earliest retry, at the latest `latest`.
 * @param polledAt a retry that was due at the last poll is no reason for another one
 */
export function nextDue(state: DaemonState, busy: ReadonlySet<number>, polledAt: number, latest: number): number {
  let due = latest;
  for (const entry of state.entries.values()) {
    if (entry.phase === 'retrying' && entry.retryAt !== null && entry.retryAt > polledAt && !busy.has(entry.number))
      due = Math.min(due, entry.retryAt);
  }
  return due;
}
