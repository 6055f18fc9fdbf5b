// State of a pull request on the hosting service, after it was opened (types only).

import type { Actor } from './issue.ts';

/**
 * Whether it can be merged. `dirty`: it conflicts with its base · `behind`: its base has commits that the rules of the branch
 * want in it · `blocked`: these rules want something else · `unstable`: it can be, though a check has not passed · `unknown`:
 * not worked out yet.
 */
export type MergeState = 'clean' | 'dirty' | 'behind' | 'blocked' | 'unstable' | 'unknown';

export type PullRequestStatus = {
  readonly state: 'open' | 'closed' | 'merged';
  /** The commit at the head of its branch. */
  readonly head: string;
  /** Whether it cannot be merged without a person; null: the service has not worked it out yet. */
  readonly conflicts: boolean | null;
  readonly merge: MergeState;
  readonly draft: boolean;
  /** People and teams whose review is asked for and not given yet. */
  readonly awaited: readonly string[];
  /** Changes with every review and comment, ISO 8601. */
  readonly updatedAt: string;
};

/** A check run or a status of a commit. */
export type Check = {
  readonly name: string;
  /** `cancelled`: nobody knows whether it would pass · `waiting`: a person has to let it run. */
  readonly state: 'pending' | 'passed' | 'failed' | 'cancelled' | 'waiting';
  /** A page for people; null: none is named. */
  readonly url: string | null;
  /** Id of the check run; null: it is a status. */
  readonly run: number | null;
  /** What the check says of itself. */
  readonly summary: string;
};

/** Lists of checks that the credential may not read, by the permission that it lacks. */
export const CHECK_PERMISSIONS = ['Checks', 'Commit statuses'] as const;
export type CheckPermission = (typeof CHECK_PERMISSIONS)[number];

/** All checks of a commit that the credential may read, and what it may not read. */
export type ReadChecks = { readonly checks: readonly Check[]; readonly unread: readonly CheckPermission[] };

/** Why a check failed, as far as the service tells. */
export type CheckFailure = {
  readonly step: string | null;
  /** The end of its log, at most `LOG_SHOWN` characters; empty: there is none. */
  readonly log: string;
};

/** So much of a log's end is read, in characters. */
export const LOG_SHOWN = 8_000;

export type Review = {
  readonly id: number;
  readonly author: Actor | null;
  readonly verdict: 'approved' | 'changes_requested' | 'commented' | 'dismissed';
  readonly body: string;
};

export type ReviewThread = {
  /** Id of its first comment: answers name it. */
  readonly id: number;
  readonly path: string;
  /** null: the line is not there any more. */
  readonly line: number | null;
  readonly isResolved: boolean;
  /** Oldest first. */
  readonly comments: readonly Remark[];
  /** Our account wrote there last. */
  readonly isAnswered?: boolean;
};

/** A comment on a pull request, or in one of its threads. */
export type Remark = {
  readonly id: number;
  readonly author: Actor | null;
  readonly body: string;
  /** ISO 8601; undefined: not known. */
  readonly createdAt?: string | undefined;
};

/** A pull request as it was read last, for people. */
export type SeenPullRequest = Pick<PullRequestStatus, 'state' | 'head' | 'conflicts' | 'merge' | 'draft'> & {
  /** ms since the epoch. */
  readonly at: number;
  readonly checks: readonly Pick<Check, 'name' | 'state' | 'url'>[];
  /** The last yes or no of each person. */
  readonly reviews: readonly { readonly login: string | null; readonly verdict: Review['verdict'] }[];
  readonly openThreads: number;
};
