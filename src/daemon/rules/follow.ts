// Decisions on a pull request that is followed: what happened on it goes to the agent, or ends the following; pure.

import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { oneLine } from '../../base/rules/text.ts';
import { FOLLOW_CODES } from './codes/follow-codes.ts';
import { type FollowEvent, type PullRequestSight, type Rival, threadsAgain, wordsOfPeople } from './follow-events.ts';
import { blockOf, openThreads, type PersonCause, reviewWait } from './follow-people.ts';
import type { FollowSettings } from './follow-settings.ts';
import type { Check, CheckPermission } from './pull-request-status.ts';

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
  /** Commits that others pushed to the branch, and that go on from ours. */
  readonly others: readonly string[];
  /** The last of them, while we have pushed nothing since; null: the branch stands on our last commit. */
  readonly tip: string | null;
  /** The commit before the base was taken in last without an agent; null: never. */
  readonly updatedFrom: string | null;
  /** For what people were told last that it waits for them; null: not since the last round. */
  readonly noticed: PersonCause | null;
};

/** How following begins. */
export const NEW_FOLLOW = {
  ...{ rounds: 0, handled: [], failure: null, others: [], tip: null, updatedFrom: null, noticed: null },
} as const;

/** Commits of the branch of a pull request. */
type Commits = { readonly pushed: readonly string[]; readonly follow: Pick<FollowState, 'others' | 'tip'> | null };

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
  /** It is merged or closed, or nobody wants it followed any more. */
  | { readonly kind: 'over'; readonly why: string }
  /** Nothing is left for the agent: a person is next. `note`: what that person should know. */
  | { readonly kind: 'person'; readonly cause: PersonCause; readonly why: string; readonly note: string | null }
  /** Somebody pushed this commit. */
  | { readonly kind: 'pushed'; readonly commit: string }
  /** The base is to be taken in, which needs no agent. */
  | { readonly kind: 'update'; readonly commit: string }
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
/** So long after the first red check, the others are not waited for any longer, ms. */
const RED_GRACE_MS = 60_000;
/** A check that was cancelled usually has a successor within this time, ms. */
const SUCCESSOR_MS = 600_000;
/** A service that shows an older commit of ours for longer does not lag: somebody set the branch back, ms. */
const SHOWN_MS = 600_000;

/** So many words of people are told in a round; the others are told in the next one. */
const MOST_TOLD = 30;

/** So many paths of a conflict are named. */
const PATHS_SHOWN = 3;

function describeRivals(rivals: readonly Rival[]): string | null {
  const [first] = rivals;
  if (first === undefined) return null;
  const more = first.paths.length > PATHS_SHOWN ? ', …' : '';
  const numbers = rivals.map(({ number }) => `#${number}`).join(', ');
  const pulls = rivals.length === 1 ? 'pull request' : 'pull requests';
  return `it takes the base in after ${pulls} ${numbers}, with which it conflicts in ${oneLine(first.paths.slice(0, PATHS_SHOWN).join(', '), 200)}${more}`;
}

/** Commits of the branch that are known, ours and those of others. */
export function knownCommits({ pushed, follow }: Commits): readonly string[] {
  return [...pushed, ...(follow?.others ?? [])];
}

/** The commit on which the branch stands, as far as is known; undefined: nothing was pushed. */
export function tipOf({ pushed, follow }: Commits): string | undefined {
  return follow?.tip ?? pushed.at(-1);
}

/** Commit and failures: the same again means that the agent could not mend it. */
function failureKey(head: string, events: readonly FollowEvent[], before: string | null): string | null {
  const names = events.flatMap((event) =>
    event.kind === 'check'
      ? [`check ${event.check.name}`]
      : event.kind === 'conflict' || event.kind === 'behind'
        ? [event.kind]
        : [],
  );
  if (names.length === 0) return null;
  // What failed later on the same commit joins what was told of it.
  const [commit, ...told] = before?.split('\n') ?? [];
  return [head, ...[...new Set([...(commit === head ? told : []), ...names])].sort()].join('\n');
}

function waitFor(why: string): FollowWait {
  return { kind: 'wait', why, forTime: false };
}

export function waitForTime(why: string): FollowWait {
  return { kind: 'wait', why, forTime: true };
}

function person(cause: PersonCause, why: string, note: string | null = why): FollowVerdict {
  return { kind: 'person', cause, why, note };
}

function namesOf(checks: readonly Check[], state: Check['state']): string {
  return checks.flatMap((check) => (check.state === state ? [oneLine(check.name, 100)] : [])).join(', ');
}

function furtherChecks(ms: number): string {
  return `further checks may begin (waits ${ms / 1000} s)`;
}

/** What the checks still need; null: all of them pass. */
function checksWait(sight: PullRequestSight, follow: FollowState, now: number): FollowVerdict | null {
  const { checks, checksStandMs, unread, status } = sight;
  const [pending, cancelled, waiting] = [
    namesOf(checks, 'pending'),
    namesOf(checks, 'cancelled'),
    namesOf(checks, 'waiting'),
  ];
  if (pending !== '') return waitFor(`checks run: ${pending}`);
  if (waiting !== '') return person('check', `checks wait until a person lets them run: ${waiting}`);
  if (cancelled !== '')
    return checksStandMs < SUCCESSOR_MS
      ? waitForTime(`checks were cancelled, and their next runs have not begun: ${cancelled}`)
      : person('check', `checks were cancelled, and nothing has taken their place: ${cancelled}`);
  if (unread.length > 0) return person('check', unreadWords(unread));
  if (checks.length === 0 && now - follow.since < CHECKS_APPEAR_MS)
    return waitForTime(`no check has begun yet (waits ${CHECKS_APPEAR_MS / 1000} s)`);
  if (checks.length > 0 && checksStandMs < CHECKS_SETTLE_MS) return waitForTime(furtherChecks(CHECKS_SETTLE_MS));
  return status.conflicts === null ? waitForTime('the service has not worked out whether it can be merged') : null;
}

/** Says what the credential may not read. */
export function unreadWords(unread: readonly CheckPermission[]): string {
  return `not every check can be read, so it is not called green: the token lacks the permission ${unread.map((name) => `"${name}: read"`).join(' and ')}`;
}

/** What is left when there is nothing to do for the agent. */
function remaining(sight: PullRequestSight, follow: FollowState, settings: FollowSettings, now: number): FollowVerdict {
  const { status } = sight;
  const isGreen = settings.until === 'green';
  const rival = describeRivals(sight.rivals);
  const with_ = (wait: FollowVerdict) =>
    rival === null || wait.kind !== 'wait' ? wait : { ...wait, why: `${wait.why}; ${rival}` };
  const checks = checksWait(sight, follow, now);
  if (checks !== null) return with_(checks);
  const review = isGreen ? null : reviewWait(sight);
  if (review !== null && !status.draft) return with_(waitFor(review));
  if (rival !== null) return waitFor(rival);
  if (status.draft) return person('draft', 'it is ready, and still a draft');
  switch (status.merge) {
    case 'behind':
      return { kind: 'update', commit: status.head };
    case 'blocked':
      return isGreen ? person('blocked', blockOf(sight)) : waitFor(blockOf(sight));
    case 'unstable':
      return waitForTime('the service says that a check has not passed');
    default: {
      const open = openThreads(sight);
      return person('merge', open === null ? 'a person merges it' : `a person merges it; ${open}`, open);
    }
  }
}

function describe(event: FollowEvent): string {
  switch (event.kind) {
    case 'check':
      return `check ${event.check.name} failed`;
    case 'conflict':
      return 'it conflicts with its base';
    case 'behind':
      return 'it is behind its base';
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
 * @param pushed commits that the daemon pushed to its branch, the newest last
 * @param account login of the daemon's account; null: not known
 * @param now ms since the epoch
 */
export function judgeFollow(
  follow: FollowState,
  settings: FollowSettings,
  sight: PullRequestSight,
  pushed: readonly string[],
  account: string | null,
  now: number,
): FollowVerdict {
  const { status, checks } = sight;
  const known = { follow, pushed };
  if (status.state !== 'open') return { kind: 'over', why: `it was ${status.state}` };
  if (settings.until === 'open') return { kind: 'over', why: 'follow.until is open' };
  if (!knownCommits(known).includes(status.head)) return { kind: 'pushed', commit: status.head };
  if (status.head !== tipOf(known)) {
    // What failed before is not to be read as the news of the last commit.
    if (now - follow.since < SHOWN_MS) return waitForTime('the service does not show the last commit yet');
    return { kind: 'stop', why: refusal(FOLLOW_CODES.branch_rewritten, { commit: status.head.slice(0, 12) }) };
  }
  const failed = checks
    .filter(({ state }) => state === 'failed')
    .map((check): FollowEvent => ({ kind: 'check', check }));
  const isConflict = status.conflicts === true;
  // Where taking the base in brought nothing, an agent is asked.
  const isBehind = status.merge === 'behind' && follow.updatedFrom === status.head;
  const said = wordsOfPeople(sight, follow.handled, account);
  const mayGoOn = follow.rounds < settings.maxRounds;
  const again = mayGoOn ? threadsAgain(sight, follow.handled) : [];
  const words = [...said, ...again].slice(0, MOST_TOLD);
  const isRunning = checks.some(({ state }) => state === 'pending');
  if (failed.length > 0 && sight.checksStandMs < FAILURES_STAND_MS)
    return { ...waitForTime(furtherChecks(FAILURES_STAND_MS)), againMs: FAILURES_STAND_MS - sight.checksStandMs };
  // Several red ones come together in one round; one that runs for long holds up none.
  const isDue = !isRunning || sight.redMs >= RED_GRACE_MS || isConflict || words.length > 0;
  if (failed.length > 0 && !isDue) {
    const why = `checks failed: ${namesOf(checks, 'failed')}; others run: ${namesOf(checks, 'pending')}`;
    return { ...waitForTime(why), againMs: RED_GRACE_MS - sight.redMs };
  }
  const isAlone = failed.length === 0 && !isConflict && words.length === 0;
  const asksForBase = isAlone && isBehind && remaining(sight, follow, settings, now).kind === 'update';
  const events: FollowEvent[] = [
    ...failed,
    ...(isConflict ? [{ kind: 'conflict' } as const] : []),
    ...(asksForBase ? [{ kind: 'behind' } as const] : []),
    ...words,
  ];
  if (events.length === 0) return remaining(sight, follow, settings, now);
  const failure = failureKey(status.head, events, follow.failure);
  const left = describeEvents(events);
  if (words.length === 0 && failure === follow.failure)
    return { kind: 'stop', why: refusal(FOLLOW_CODES.follow_unchanged, { commit: status.head.slice(0, 12), left }) };
  if (!mayGoOn)
    return { kind: 'stop', why: refusal(FOLLOW_CODES.follow_rounds_exhausted, { rounds: settings.maxRounds, left }) };
  return { kind: 'continue', events, failure };
}
