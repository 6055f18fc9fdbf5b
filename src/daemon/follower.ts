// Watches open pull requests of finished issues: at each poll, and after deliveries, what happened on one goes to its agent or ends the following.

import type { Clock, Logger } from '../base/ports.ts';
import { refusal, textOf } from '../base/rules/codes.ts';
import { messageOf } from '../base/rules/errors.ts';
import { oneLine } from '../base/rules/text.ts';
import { areHeard } from './heard-words.ts';
import { Misses } from './misses.ts';
import type { Journal, PullRequestFeed, Tracker, Workspaces } from './ports.ts';
import { followText } from './publish/follow-text.ts';
import { WORK_CODES } from './rules/codes/work-codes.ts';
import {
  describeEvents,
  type FollowEvent,
  type FollowVerdict,
  judgeFollow,
  keysOf,
  type PullRequestSight,
  type Rival,
  reviewersOf,
  seenOf,
  tookOver,
  waitForTime,
} from './rules/follow.ts';
import { type Look, NO_LOOK } from './rules/look.ts';
import type {
  Check,
  CheckFailure,
  PullRequestStatus,
  Remark,
  Review,
  ReviewThread,
  SeenPullRequest,
} from './rules/pull-request-status.ts';
import type { IssueOutcome, PullRequest } from './rules/record.ts';
import type { Entry } from './rules/state.ts';
import { isIdle } from './rules/steering.ts';
import type { Workflow } from './rules/workflow.ts';

export type FollowerOptions = {
  readonly workflow: () => Workflow;
  readonly journal: Journal;
  readonly tracker: Tracker;
  readonly workspaces: Pick<Workspaces, 'defaultBranch' | 'outdate'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Following is over. */
  readonly finish: (issue: number, outcome: IssueOutcome, updatedAt: string, isMergeable?: boolean) => Promise<void>;
  /** The pull request was closed, or somebody pushed to it, while its issue is in work again. */
  readonly takeBack: (entry: Entry, outcome: IssueOutcome, updatedAt: string) => Promise<void>;
  /** Takes the steps that an issue without an attempt has before it: the pull request is told why following stops. */
  readonly settle: (issue: number) => void;
  /** An attempt is due, or polls are. */
  readonly onDue: () => void;
  /** Asks for a reading after some time. */
  readonly later: (look: Look, ms: number) => void;
  /** Older pull requests of ours that conflict with the one of an issue. */
  readonly rivalsOf: (entry: Entry, signal: AbortSignal) => Promise<readonly Rival[]>;
  readonly once?: boolean;
};

/** What people wrote on a pull request, as it was read for a version of it. `met`: when that was seen first, in elapsed time. */
type Words = Pick<PullRequestSight, 'reviews' | 'threads' | 'comments'> & {
  readonly updatedAt: string;
  readonly met: number;
  readonly readAt: number;
};

/** Checks as they were seen, and since when they stand there like that, in elapsed time. */
type StandingChecks = { readonly text: string; readonly since: number };

/** The service tells versions apart by the second: what is written in the second of a reading makes no new version. */
const SAME_VERSION_MS = 2_000;

/** So long after an older pull request was merged, the service may still say that this one can be merged. */
const RIVAL_LOST_MS = 30_000;

/** So many pull requests are read at the same time. */
const READ_AT_ONCE = 4;
/** So many failed checks are explained. */
const MOST_EXPLAINED = 5;

export class Follower {
  readonly #options: FollowerOptions;
  readonly #words = new Map<number, Words>();
  readonly #checks = new Map<number, StandingChecks>();
  readonly #misses = new Misses();
  /** When an older pull request that conflicts went away, in elapsed time, by issue; null: it is still there. */
  readonly #rivals = new Map<number, number | null>();
  /** What each pull request waits for, by issue. */
  readonly #waits = new Map<number, string>();
  readonly #seen = new Map<number, SeenPullRequest>();
  /** Issues whose pull requests are to be read again though no delivery may tell of it. */
  readonly #timed = new Set<number>();
  /** Issues whose pull requests are to be read, and those that are being read. */
  readonly #wanted = new Set<number>();
  readonly #reading = new Set<number>();
  #isWatchingAll = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** What the followed pull requests wait for, by issue. */
  get waits(): ReadonlyMap<number, string> {
    return this.#waits;
  }

  /** The followed pull requests as they were read last, by issue. */
  get seen(): ReadonlyMap<number, SeenPullRequest> {
    return this.#seen;
  }

  /** Whether a reading failed, or a pull request waits for time: deliveries tell of neither. */
  get waitsForTime(): boolean {
    const { entries } = this.#options.journal.state;
    return [...this.#timed].some((issue) => (entries.get(issue)?.follow ?? null) !== null);
  }

  /** Looks at every pull request that is followed. While that is under way, another call does nothing. */
  async watchAll(signal: AbortSignal): Promise<void> {
    if (this.#isWatchingAll) return;
    this.#isWatchingAll = true;
    try {
      const { entries } = this.#options.journal.state;
      const all = [this.#words, this.#checks, this.#misses, this.#rivals, this.#waits, this.#seen, this.#timed];
      for (const known of all)
        for (const issue of known.keys()) if ((entries.get(issue)?.follow ?? null) === null) known.delete(issue);
      await this.#readAll(() => true, signal);
    } finally {
      this.#isWatchingAll = false;
    }
  }

  /** Looks at those that a delivery names. One that is being read is read once more. */
  async watch({ pulls, allPulls, commits }: Look, signal: AbortSignal): Promise<void> {
    const isMeant = ({ pullRequest, pushed }: Entry) =>
      allPulls ||
      (pullRequest !== null && pulls.includes(pullRequest.number)) ||
      pushed.some((commit) => commits.includes(commit));
    await this.#readAll(isMeant, signal);
  }

  async #readAll(isMeant: (entry: Entry) => boolean, signal: AbortSignal): Promise<void> {
    const { tracker, journal } = this.#options;
    const { feed } = tracker;
    if (feed === null) return;
    for (const entry of journal.state.entries.values())
      if (entry.follow !== null && isMeant(entry)) this.#wanted.add(entry.number);
    const work = async () => {
      for (let next = this.#next(); next !== undefined && !signal.aborted; next = this.#next())
        await this.#readOne(next, feed, signal);
    };
    await Promise.all(Array.from({ length: READ_AT_ONCE - this.#reading.size }, work));
  }

  /** What is being read is left to its reader: that one takes it once more. */
  #next(): number | undefined {
    for (const issue of this.#wanted) if (!this.#reading.has(issue)) return issue;
    return undefined;
  }

  async #readOne(issue: number, feed: PullRequestFeed, signal: AbortSignal): Promise<void> {
    this.#wanted.delete(issue);
    this.#reading.add(issue);
    try {
      const entry = this.#options.journal.state.entries.get(issue);
      if (entry !== undefined) await this.#watch(entry, feed, signal);
    } finally {
      this.#reading.delete(issue);
    }
  }

  async #watch(entry: Entry, feed: PullRequestFeed, signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    const { number: issue, pullRequest, follow } = entry;
    if (pullRequest === null || follow === null) return;
    try {
      if (entry.phase === 'following' && follow.stopped === null) await this.#judge(entry, pullRequest, feed, signal);
      else if (entry.phase === 'running' || isIdle(entry.phase)) {
        const status = await feed.read(pullRequest.number, signal);
        const isOver = status === null ? this.#isGone(issue) : tookOver({ status }, entry.pushed) !== null;
        if (status !== null) this.#misses.delete(issue);
        this.#setTimed(issue, status === null);
        if (isOver) await this.#options.takeBack(entry, 'done', follow.updatedAt);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#setTimed(issue, true);
      const said = messageOf(error);
      const waits = `it could not be read: ${said}`;
      if (this.#waits.get(issue) === waits) return;
      const what = { pull_request: pullRequest.number, issue, said };
      log.log('warn', 'poller', refusal(WORK_CODES.follow_unreadable, what), { issue });
      this.#waits.set(issue, waits);
    }
  }

  #isGone(issue: number): boolean {
    return this.#misses.isGone(issue, this.#options.clock.elapsed());
  }

  /** The loop works out anew when its next poll is due. */
  #setTimed(issue: number, isTimed: boolean): void {
    if (!isTimed) this.#timed.delete(issue);
    else if (!this.#timed.has(issue)) {
      this.#timed.add(issue);
      this.#options.onDue();
    }
  }

  /** With `once`, no later reading would come: this one waits. */
  async #readAgain(issue: number, { number }: PullRequest, ms: number, signal: AbortSignal): Promise<void> {
    const { once, clock, later } = this.#options;
    if (once !== true) {
      later({ ...NO_LOOK, pulls: [number] }, ms);
      return;
    }
    await clock.sleep(ms, signal);
    this.#wanted.add(issue);
  }

  async #judge(entry: Entry, pullRequest: PullRequest, feed: PullRequestFeed, signal: AbortSignal): Promise<void> {
    const { workflow, journal, clock, log, finish, settle } = this.#options;
    const issue = entry.number;
    const status = await feed.read(pullRequest.number, signal);
    const account = await feed.account(signal);
    const sight = await this.#sightOf(entry, status, feed, signal);
    // Somebody may have closed the issue meanwhile.
    const now = journal.state.entries.get(issue);
    if (now?.phase !== 'following' || now.follow === null || signal.aborted) return;
    if (sight !== null) {
      this.#misses.delete(issue);
      this.#seen.set(issue, seenOf(sight, clock.now()));
    }
    const verdict: FollowVerdict =
      sight === null
        ? this.#isGone(issue)
          ? { kind: 'over', why: 'it is gone', isMergeable: false }
          : waitForTime('the service does not show it')
        : judgeFollow(now.follow, workflow().follow, sight, now.pushed, account, clock.now());
    this.#setTimed(issue, verdict.kind === 'wait' && verdict.forTime);
    const fields = { issue, pull_request: pullRequest.number };
    const name = `pull request #${pullRequest.number} of issue #${issue}`;
    switch (verdict.kind) {
      case 'wait':
        this.#waits.set(issue, verdict.why);
        // A reading at a time is enough.
        if (verdict.againMs !== undefined && sight?.checksStandMs === 0)
          await this.#readAgain(issue, pullRequest, verdict.againMs, signal);
        return;
      case 'over':
        log.log('info', 'poller', `${name} is not followed any more: ${verdict.why}`, fields);
        if (status !== null && status.state !== 'open')
          await journal.append({
            type: 'pull_request_over',
            issue,
            pull_request: pullRequest.number,
            state: status.state,
          });
        await finish(issue, 'done', now.follow.updatedAt, verdict.isMergeable);
        return;
      case 'stop':
        log.log('warn', 'poller', verdict.why, fields);
        await journal.append({ type: 'follow_stopped', issue, reason: textOf(verdict.why) });
        settle(issue);
        return;
      case 'continue': {
        const failures = await this.#explain(verdict.events, feed, signal);
        const base = await this.#options.workspaces.defaultBranch(signal);
        const { events, failure } = verdict;
        const { text, told } = followText(pullRequest, entry.branch, base, { events, failures });
        const reason = `On pull request #${pullRequest.number}: ${describeEvents(told)}.`;
        // An operator may have ended it meanwhile.
        const later = journal.state.entries.get(issue);
        if (later?.phase !== 'following' || later.follow?.stopped !== null || signal.aborted) return;
        // The base has moved where the branch conflicts with it.
        this.#options.workspaces.outdate();
        const [handled, reviewers] = [keysOf(told), reviewersOf(told)];
        await journal.append({ type: 'continued', issue, reason, told: text, handled, failure, reviewers });
        log.log('info', 'poller', `${name} goes on (round ${now.follow.rounds + 1}): ${describeEvents(told)}`, fields);
        this.#waits.delete(issue);
        this.#options.onDue();
      }
    }
  }

  /** What stands on the pull request now; null when it is gone. What people wrote is read when it changed. */
  async #sightOf(
    entry: Entry,
    read: PullRequestStatus | null,
    feed: PullRequestFeed,
    signal: AbortSignal,
  ): Promise<PullRequestSight | null> {
    const { number: issue, pullRequest } = entry;
    if (read === null || pullRequest === null) return null;
    const nothing = { reviews: [], threads: [], comments: [], rivals: [] };
    if (read.state !== 'open') return { status: read, checks: [], checksStandMs: 0, ...nothing };
    const rivals = await this.#options.rivalsOf(entry, signal);
    const status = { ...read, conflicts: this.#hasLostRival(issue, rivals) ? read.conflicts || null : read.conflicts };
    const checks = await feed.checks(status.head, signal);
    const checksStandMs = this.#standMs(issue, status.head, checks);
    const known = this.#words.get(issue);
    const isSame = known?.updatedAt === status.updatedAt;
    if (isSame && known.readAt - known.met >= SAME_VERSION_MS)
      return { ...known, status, checks, checksStandMs, rivals };
    const readAt = this.#options.clock.elapsed();
    const met = isSame ? known.met : readAt;
    const words = { ...(await this.#read(pullRequest.number, feed, signal)), updatedAt: status.updatedAt, met, readAt };
    this.#words.set(issue, words);
    return { ...words, status, checks, checksStandMs, rivals };
  }

  /** An older pull request went away so lately that the service may not know yet whether this one can be merged. */
  #hasLostRival(issue: number, rivals: readonly Rival[]): boolean {
    const now = this.#options.clock.elapsed();
    const lost = this.#rivals.get(issue);
    if (rivals.length > 0) this.#rivals.set(issue, null);
    else if (lost === null) this.#rivals.set(issue, now);
    else if (lost !== undefined && now - lost >= RIVAL_LOST_MS) this.#rivals.delete(issue);
    return rivals.length === 0 && this.#rivals.has(issue);
  }

  #standMs(issue: number, head: string, checks: readonly Check[]): number {
    const now = this.#options.clock.elapsed();
    const text = JSON.stringify([head, checks.map(({ run, name, state }) => [run, name, state])]);
    const known = this.#checks.get(issue);
    if (known?.text === text) return now - known.since;
    this.#checks.set(issue, { text, since: now });
    return 0;
  }

  /** Where no reason can be read, the agent is told that. */
  async #explain(
    events: readonly FollowEvent[],
    feed: PullRequestFeed,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<Check, CheckFailure>> {
    const checks = events.flatMap((event) => (event.kind === 'check' ? [event.check] : []));
    const failures = new Map<Check, CheckFailure>();
    for (const check of checks.slice(0, MOST_EXPLAINED))
      try {
        failures.set(check, await feed.explain(check, signal));
      } catch (error) {
        signal.throwIfAborted();
        const said = oneLine(messageOf(error));
        this.#options.log.log('warn', 'poller', refusal(WORK_CODES.check_unexplained, { check: check.name, said }));
        failures.set(check, { step: null, log: `${check.summary}\n[its log cannot be read: ${said}]`.trim() });
      }
    return failures;
  }

  async #read(
    number: number,
    feed: PullRequestFeed,
    signal: AbortSignal,
  ): Promise<Pick<Words, 'reviews' | 'threads' | 'comments'>> {
    const [reviews, threads, comments] = await Promise.all([
      feed.reviews(number, signal),
      feed.threads(number, signal),
      feed.comments(number, signal),
    ]);
    const counts = (one: Review | Remark) => areHeard(this.#options.tracker, one, signal);
    const kept: ReviewThread[] = [];
    for (const thread of threads) kept.push({ ...thread, comments: await keep(thread.comments, counts) });
    return { reviews: await keep(reviews, counts), threads: kept, comments: await keep(comments, counts) };
  }
}

async function keep<T>(all: readonly T[], counts: (one: T) => Promise<boolean>): Promise<readonly T[]> {
  const kept: T[] = [];
  for (const one of all) if (await counts(one)) kept.push(one);
  return kept;
}
