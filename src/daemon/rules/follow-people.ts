// Needs of a followed pull request that only people meet, and its state as people see it; pure.

import { oneLine } from '../../base/rules/text.ts';
import { type PullRequestSight, verdicts, type Words } from './follow-events.ts';
import type { SeenPullRequest } from './pull-request-status.ts';

/**
 * For what it waits for a person. `merge`: it can be merged · `draft`: to be made ready · `blocked`: the rules of its branch
 * want more than green checks · `check`: a check that nobody can wait for.
 */
export const PERSON_CAUSES = ['merge', 'draft', 'blocked', 'check'] as const;
export type PersonCause = (typeof PERSON_CAUSES)[number];

/** So many paths of threads are named. */
const PATHS_SHOWN = 3;

/** Names the open review threads; null: there are none. */
export function openThreads({ threads }: Pick<Words, 'threads'>): string | null {
  const open = threads.filter(({ isResolved }) => !isResolved);
  if (open.length === 0) return null;
  const paths = [...new Set(open.map(({ path }) => oneLine(path, 100)))];
  const shown = [...paths.slice(0, PATHS_SHOWN), ...(paths.length > PATHS_SHOWN ? ['…'] : [])].join(', ');
  return `${open.length === 1 ? '1 review thread is' : `${open.length} review threads are`} open: ${shown}`;
}

/** Why nobody has approved it as it is; null: somebody has. */
export function reviewWait({ reviews }: Pick<Words, 'reviews'>): string | null {
  const given = verdicts(reviews);
  const against = given.find(({ verdict }) => verdict === 'changes_requested');
  if (against !== undefined) return `${against.author?.login ?? 'somebody'} asked for changes and has not looked again`;
  return given.some(({ verdict }) => verdict === 'approved') ? null : 'nobody has approved it yet';
}

/** For what the rules of the branch keep it from being merged, as far as the service tells. */
export function blockOf(sight: Pick<PullRequestSight, 'status' | 'reviews' | 'threads'>): string {
  const approved = verdicts(sight.reviews).flatMap(({ verdict, author }) =>
    verdict === 'approved' ? [author?.login ?? 'somebody'] : [],
  );
  const { awaited } = sight.status;
  const known = [
    approved.length === 0 ? 'nobody has approved it' : `approved by ${approved.join(', ')}`,
    ...(awaited.length === 0 ? [] : [`reviews are asked of ${awaited.join(', ')}`]),
    openThreads(sight) ?? [],
  ].flat();
  return `its checks pass, and the rules of its branch want more, such as approvals, code owners or resolved threads: ${known.join('; ')}`;
}

/** @param at ms since the epoch */
export function seenOf({ status, checks, reviews, threads }: PullRequestSight, at: number): SeenPullRequest {
  return {
    at,
    state: status.state,
    head: status.head,
    conflicts: status.conflicts,
    merge: status.merge,
    draft: status.draft,
    checks: checks.map(({ name, state, url }) => ({ name, state, url })),
    reviews: verdicts(reviews).map(({ author, verdict }) => ({ login: author?.login ?? null, verdict })),
    openThreads: threads.filter(({ isResolved }) => !isResolved).length,
  };
}
