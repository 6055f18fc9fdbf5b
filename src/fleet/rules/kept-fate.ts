// The end of work that a worker keeps, as the journal of its repository tells it; pure.

import { finishedIssueOf } from '../../daemon/rules/finished-issues.ts';
import type { DaemonState } from '../../daemon/rules/state.ts';

export type KeptIdentity = {
  readonly issue: number;
  readonly life: number;
  readonly attempt: number;
  readonly head: string;
  /** A coordinator has taken it. */
  readonly handed: boolean;
};

/**
 * Whether nobody needs it any more: it is published, its issue is over, or a later attempt goes on from it. A journal that
 * does not know the issue says nothing: the records may be lost.
 */
export function isSettled(state: DaemonState, kept: KeptIdentity): boolean {
  const entry = state.entries.get(kept.issue);
  const past = finishedIssueOf(state.past, kept.issue);
  if (entry === undefined || entry.life < kept.life) return past !== undefined && past.life >= kept.life;
  if (entry.life > kept.life || entry.pushed.includes(kept.head)) return true;
  if (entry.phase === 'following' && entry.attempt >= kept.attempt) return true;
  // What no coordinator took is in no later attempt.
  return kept.handed && entry.attempt > kept.attempt && entry.phase !== 'running' && entry.phase !== 'retrying';
}
