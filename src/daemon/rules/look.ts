// The smallest reading that deliveries of webhooks ask for, and the pause between polls while deliveries come; pure.

/** What is to be read. A delivery is trusted for nothing else. */
export type Look = {
  /** The list of issues that carry a label. */
  readonly list: boolean;
  /** With the list: for what its issues wait is asked anew. */
  readonly blockers: boolean;
  /** Issues; those at work are read. */
  readonly issues: readonly number[];
  /** Pull requests; those that are followed are read. */
  readonly pulls: readonly number[];
  /** All pull requests that are followed. */
  readonly allPulls: boolean;
  /** Commits; the followed pull requests to which they were pushed are read. */
  readonly commits: readonly string[];
};

export const NO_LOOK: Look = { list: false, blockers: false, issues: [], pulls: [], allPulls: false, commits: [] };

function union<T>(one: readonly T[], other: readonly T[]): readonly T[] {
  return [...new Set([...one, ...other])];
}

export function joinLooks(one: Look, other: Look): Look {
  return {
    list: one.list || other.list,
    blockers: one.blockers || other.blockers,
    issues: union(one.issues, other.issues),
    pulls: union(one.pulls, other.pulls),
    allPulls: one.allPulls || other.allPulls,
    commits: union(one.commits, other.commits),
  };
}

/** Whether it asks for nothing of pull requests. */
export function isWithoutPulls({ pulls, allPulls, commits }: Look): boolean {
  return pulls.length === 0 && !allPulls && commits.length === 0;
}

export function isEmpty(look: Look): boolean {
  return !look.list && look.issues.length === 0 && isWithoutPulls(look);
}

/** Kinds of events that webhooks are set up for one by one: the arrival of one kind tells nothing of the other. */
export type EventKind = 'issues' | 'comments' | 'pulls';

const KINDS: Readonly<Record<string, EventKind>> = {
  issues: 'issues',
  issue_comment: 'comments',
  pull_request: 'pulls',
  pull_request_review: 'pulls',
  check_run: 'pulls',
  check_suite: 'pulls',
  status: 'pulls',
};

/** Null: the event proves nothing. */
export function kindOf(event: string): EventKind | null {
  return KINDS[event] ?? null;
}

/** While deliveries come, polls are only the safety net. */
const RARER = 10;
/** Older deliveries do not prove that the webhook still works. */
const FRESH_MS = 60 * 60_000;

/**
 * How long after a poll the next one is due, ms.
 * @param polledAt in elapsed time
 * @param arrivals last delivery of each kind that matters now, in elapsed time; null: none has come
 */
export function pollPauseMs(intervalMs: number, polledAt: number, arrivals: readonly (number | null)[]): number {
  const known = arrivals.filter((at) => at !== null);
  if (known.length < arrivals.length || known.length === 0) return intervalMs;
  const fresh = Math.min(...known) + FRESH_MS - polledAt;
  return Math.max(intervalMs, Math.min(intervalMs * RARER, fresh));
}
