// The end of work that a worker keeps, as the journal of its repository tells it; pure.

import { finishedIssueOf } from '../../daemon/rules/finished-issues.ts';
import type { DaemonState } from '../../daemon/rules/state.ts';

export type KeptIdentity = {
  readonly issue: number;
  readonly life: number;
  readonly attempt: number;
  readonly head: string;
  /** A commit on top of it with what is not committed; null: there is none. */
  readonly files: string | null;
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
  if (entry.life > kept.life) return true;
  // A round on a pull request begins at a commit that is pushed.
  if (kept.files === null && entry.pushed.includes(kept.head)) return true;
  // What no coordinator took is in no later attempt, and in no pull request.
  if (!kept.handed) return false;
  if (entry.phase === 'following') return entry.attempt >= kept.attempt;
  return entry.attempt > kept.attempt && entry.phase !== 'running' && entry.phase !== 'retrying';
}
