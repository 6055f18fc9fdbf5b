// Decisions on a pull request that is followed: what happened on it goes to the agent, or ends the following; pure.

import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { oneLine } from '../../base/rules/text.ts';
import { WORK_CODES } from './codes/work-codes.ts';
import type { FollowSettings } from './follow-settings.ts';
import type { Check, PullRequestStatus, Remark, Review, ReviewThread, SeenPullRequest } from './pull-request-status.ts';

/** What the journal says of an issue whose pull request is followed. */
export type FollowState = {
  /** When the pull request was shown its last commit, ms since the epoch. */
  readonly since: number;
  /** Version of the issue when its done label was read, ISO 8601. */
  readonly updatedAt: string;
  /** How often something went back to the agent. */
  readonly rounds: number;
  /** Keys of what went to the agent already. */
  readonly handled: readonly string[];
  /** Commit and failures that went to the agent last; null: none did. */
  readonly failure: string | null;
  /** What the agent of the round is told; null: no round is under way. */
  readonly told: string | null;
  /** Who is asked for another review after the round. */
  readonly reviewers: readonly string[];
  /** Why following stops, which the pull request is still to be told; null: it goes on. */
  readonly stopped: string | null;
};

/** An older open pull request of ours that conflicts with this one. */
export type Rival = { readonly number: number; readonly paths: readonly string[] };

/** What was read of a pull request. Words of people who may not write to the repository, and our own, are left out. */
export type PullRequestSight = {
  readonly status: PullRequestStatus;
  readonly checks: readonly Check[];
  /** How long the checks have stood there like this, ms. */
  readonly checksStandMs: number;
  readonly reviews: readonly Review[];
  readonly threads: readonly ReviewThread[];
  readonly comments: readonly Remark[];
  readonly rivals: readonly Rival[];
};

export type FollowEvent =
  | { readonly kind: 'check'; readonly check: Check }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'review'; readonly review: Review }
  | { readonly kind: 'thread'; readonly thread: ReviewThread }
  | { readonly kind: 'comment'; readonly comment: Remark };

/**
 * `forTime`: it ends by itself, or the next reading ends it: no delivery of a webhook tells of it.
 * `againMs`: another reading is due after this time.
 */
export type FollowWait = {
  readonly kind: 'wait';
  readonly why: string;
  readonly forTime: boolean;
  readonly againMs?: number;
};

export type FollowVerdict =
  | FollowWait
  /** It reached what it was followed for, or people took it over. */
  | { readonly kind: 'over'; readonly why: string; readonly isMergeable: boolean }
  | { readonly kind: 'stop'; readonly why: Refusal }
  | {
      readonly kind: 'continue';
      readonly events: readonly FollowEvent[];
      readonly failure: string | null;
    };

/** Without any check so long after the last commit, there is none to wait for, ms. */
const CHECKS_APPEAR_MS = 60_000;
/** Checks that changed so lately may be followed by further ones: jobs begin when those before them have ended, ms. */
const CHECKS_SETTLE_MS = 15_000;
/** Checks that failed so lately may be the first ones of many: the others do not exist yet, ms. */
const FAILURES_STAND_MS = 3_000;
/** A service that shows an older commit of ours for longer does not lag: somebody set the branch back, ms. */
const SHOWN_MS = 600_000;

/** So many words of people are told in a round; the others are told in the next one. */
const MOST_TOLD = 30;

const COMMAND = /^\s*\/tool(?![\w-])/i;

/** Whether a text begins with `/tool`: bots speak to the agent in no other way. */
export function isCommand(body: string): boolean {
  return COMMAND.test(body);
}

/**
 * Whether a comment speaks to the agent: it begins with `/tool`, or with the name of the daemon's account. Bots greet the
 * author of a pull request by name.
 * @param account login of the daemon's account; null: not known
 */
export function isCall({ body, author }: Pick<Remark, 'author' | 'body'>, account: string | null): boolean {
  if (isCommand(body)) return true;
  if (account === null || account === '' || author?.type === 'Bot') return false;
  const [words, name] = [body.trimStart().toLowerCase(), account.toLowerCase()];
  // An app is called by its name as well as by that of its account.
  const names = [`@${name}`, `@${name.replace(/\[bot\]$/, '')}`];
  return names.some((one) => words.startsWith(one) && !/^[\w[-]/.test(words.slice(one.length)));
}

/** The last review of each person that says yes or no. */
function verdicts(reviews: readonly Review[]): readonly Review[] {
  const last = new Map<string, Review>();
  for (const review of reviews)
    if (review.verdict !== 'commented') last.set(review.author?.login.toLowerCase() ?? `#${review.id}`, review);
  return [...last.values()];
}

/** @param at ms since the epoch */
export function seenOf({ status, checks, reviews, threads }: PullRequestSight, at: number): SeenPullRequest {
  return {
    at,
    state: status.state,
    head: status.head,
    conflicts: status.conflicts,
    checks: checks.map(({ name, state, url }) => ({ name, state, url })),
    reviews: verdicts(reviews).map(({ author, verdict }) => ({ login: author?.login ?? null, verdict })),
    openThreads: threads.filter(({ isResolved }) => !isResolved).length,
  };
}

function eventKey(event: FollowEvent): string | null {
  if (event.kind === 'review') return `review:${event.review.id}`;
  if (event.kind === 'comment') return `comment:${event.comment.id}`;
  if (event.kind === 'thread') return `thread:${event.thread.comments.at(-1)?.id ?? event.thread.id}`;
  return null;
}

function wordsOfPeople(sight: PullRequestSight, follow: FollowState, account: string | null): FollowEvent[] {
  const events: FollowEvent[] = [
    ...verdicts(sight.reviews)
      .filter(({ verdict }) => verdict === 'changes_requested')
      .map((review): FollowEvent => ({ kind: 'review', review })),
    ...sight.threads
      .filter(({ isResolved, comments }) => !isResolved && comments.length > 0)
      .map((thread): FollowEvent => ({ kind: 'thread', thread })),
    ...sight.comments
      .filter((comment) => isCall(comment, account))
      .map((comment): FollowEvent => ({ kind: 'comment', comment })),
  ];
  return events.filter((event) => !follow.handled.includes(eventKey(event) ?? ''));
}

/** Keys of words that were told: they start nothing again. */
export function keysOf(events: readonly FollowEvent[]): readonly string[] {
  return events.flatMap((event) => eventKey(event) ?? []);
}

/** Who asked for changes, and is asked to look again. */
export function reviewersOf(events: readonly FollowEvent[]): readonly string[] {
  const logins = events.flatMap((event) => (event.kind === 'review' ? (event.review.author?.login ?? []) : []));
  return [...new Set(logins)];
}

/** Why nobody but people goes on with it, whatever happens on it; null: it is ours. */
export function tookOver({ status }: Pick<PullRequestSight, 'status'>, ours: readonly string[]): string | null {
  if (status.state !== 'open') return `it was ${status.state}`;
  return ours.includes(status.head) ? null : `somebody pushed commit ${status.head.slice(0, 12)}`;
}

/** Commit and failures: the same again means that the agent could not mend it. */
function failureKey(head: string, events: readonly FollowEvent[]): string | null {
  const names = events.flatMap((event) =>
    event.kind === 'check' ? [`check ${event.check.name}`] : event.kind === 'conflict' ? ['conflict'] : [],
  );
  return names.length === 0 ? null : [head, ...names.sort()].join('\n');
}

function waitFor(why: string): FollowWait {
  return { kind: 'wait', why, forTime: false };
}

export function waitForTime(why: string): FollowWait {
  return { kind: 'wait', why, forTime: true };
}

function remaining(
  { checks, checksStandMs, status, reviews }: PullRequestSight,
  follow: FollowState,
  settings: FollowSettings,
  now: number,
): FollowWait | null {
  const pending = checks.filter(({ state }) => state === 'pending').map(({ name }) => name);
  if (pending.length > 0) return waitFor(`checks run: ${pending.join(', ')}`);
  if (checks.length === 0 && now - follow.since < CHECKS_APPEAR_MS) return waitForTime('no check has begun yet');
  if (checks.length > 0 && checksStandMs < CHECKS_SETTLE_MS) return waitForTime('further checks may begin');
  if (status.conflicts === null) return waitForTime('the service has not worked out whether it can be merged');
  if (settings.until === 'green') return null;
  const given = verdicts(reviews);
  const against = given.find(({ verdict }) => verdict === 'changes_requested');
  if (against !== undefined)
    return waitFor(`${against.author?.login ?? 'somebody'} asked for changes and has not looked again`);
  return given.some(({ verdict }) => verdict === 'approved') ? null : waitFor('nobody has approved it yet');
}

/** So many paths of a conflict are named. */
const PATHS_SHOWN = 3;

function describeRivals(rivals: readonly Rival[]): string | null {
  const [first] = rivals;
  if (first === undefined) return null;
  const more = first.paths.length > PATHS_SHOWN ? ', …' : '';
  const others = rivals.slice(1).map(({ number }) => `, #${number}`);
  return `it takes the base in after pull request #${first.number}${others.join('')}, with which it conflicts in ${oneLine(first.paths.slice(0, PATHS_SHOWN).join(', '), 200)}${more}`;
}

function describe(event: FollowEvent): string {
  switch (event.kind) {
    case 'check':
      return `check ${event.check.name} failed`;
    case 'conflict':
      return 'it conflicts with its base';
    case 'review':
      return `${event.review.author?.login ?? 'somebody'} asked for changes`;
    case 'thread':
      return `a review thread on ${event.thread.path} is open`;
    case 'comment':
      return `${event.comment.author?.login ?? 'somebody'} wrote to the agent`;
  }
}

/** What happened, in a line. */
export function describeEvents(events: readonly FollowEvent[]): string {
  return events.map(describe).join(', ');
}

/**
 * Decides on a pull request in state `following`.
 * @param ours commits that the daemon pushed to its branch, the newest last
 * @param account login of the daemon's account; null: not known
 * @param now ms since the epoch
 */
export function judgeFollow(
  follow: FollowState,
  settings: FollowSettings,
  sight: PullRequestSight,
  ours: readonly string[],
  account: string | null,
  now: number,
): FollowVerdict {
  const { status, checks } = sight;
  const over = (why: string, isMergeable = false): FollowVerdict => ({ kind: 'over', why, isMergeable });
  const why = tookOver(sight, ours);
  if (why !== null) return over(why);
  if (settings.until === 'open') return over('follow.until is open');
  if (status.head !== ours.at(-1)) {
    // What failed before is not to be read as the news of the last commit.
    if (now - follow.since < SHOWN_MS) return waitForTime('the service does not show the last commit yet');
    return over(`somebody set it back to commit ${status.head.slice(0, 12)}`);
  }
  const said = wordsOfPeople(sight, follow, account).slice(0, MOST_TOLD);
  const isRunning = checks.some(({ state }) => state === 'pending');
  const failed: FollowEvent[] = isRunning
    ? []
    : checks.filter(({ state }) => state === 'failed').map((check) => ({ kind: 'check', check }));
  if (failed.length > 0 && sight.checksStandMs < FAILURES_STAND_MS)
    return { ...waitForTime('further checks may begin'), againMs: FAILURES_STAND_MS - sight.checksStandMs };
  const events: FollowEvent[] = [
    ...failed,
    ...(status.conflicts === true ? [{ kind: 'conflict' } as const] : []),
    ...said,
  ];
  if (events.length === 0) {
    const wait = remaining(sight, follow, settings, now);
    const rival = describeRivals(sight.rivals);
    if (wait !== null) return rival === null ? wait : { ...wait, why: `${wait.why}; ${rival}` };
    if (rival !== null) return waitFor(rival);
    return over(settings.until === 'green' ? 'its checks pass' : 'its checks pass and it is approved', true);
  }
  const failure = failureKey(status.head, events);
  const left = describeEvents(events);
  if (said.length === 0 && failure === follow.failure)
    return { kind: 'stop', why: refusal(WORK_CODES.follow_unchanged, { commit: status.head.slice(0, 12), left }) };
  if (follow.rounds >= settings.maxRounds)
    return { kind: 'stop', why: refusal(WORK_CODES.follow_rounds_exhausted, { rounds: settings.maxRounds, left }) };
  return { kind: 'continue', events, failure };
}
