// Watches open pull requests of finished issues: at each poll, and after deliveries, what happened on one goes to its agent or ends the following.

import type { Logger } from '../base/ports.ts';
import { prefixed, type Refusal, refusal, textOf } from '../base/rules/codes.ts';
import { messageOf } from '../base/rules/errors.ts';
import { oneLine } from '../base/rules/text.ts';
import { Misses } from './misses.ts';
import type { Journal, PullRequestFeed, Workspaces } from './ports.ts';
import { followText } from './publish/follow-text.ts';
import { FOLLOW_CODES } from './rules/codes/follow-codes.ts';
import {
  describeEvents,
  type FollowVerdict,
  judgeFollow,
  knownCommits,
  tipOf,
  unreadWords,
  waitForTime,
} from './rules/follow.ts';
import { type FollowEvent, keysOf, type PullRequestSight, reviewersOf } from './rules/follow-events.ts';
import { seenOf } from './rules/follow-people.ts';
import { type Look, NO_LOOK } from './rules/look.ts';
import type { Check, CheckFailure, SeenPullRequest } from './rules/pull-request-status.ts';
import type { IssueOutcome, PullRequest } from './rules/record.ts';
import type { Entry } from './rules/state.ts';
import { isIdle } from './rules/steering.ts';
import type { Workflow } from './rules/workflow.ts';
import { Sights, type SightsOptions } from './sights.ts';

export type FollowerOptions = SightsOptions & {
  readonly workflow: () => Workflow;
  readonly journal: Journal;
  readonly workspaces: Pick<Workspaces, 'defaultBranch' | 'outdate' | 'goesOn'>;
  readonly log: Logger;
  /** Following is over. */
  readonly finish: (issue: number, outcome: IssueOutcome, updatedAt: string) => Promise<void>;
  /** The pull request was closed while its issue is in work again. */
  readonly takeBack: (entry: Entry, outcome: IssueOutcome, updatedAt: string) => Promise<void>;
  /** Takes the steps that an issue without an attempt has before it: the pull request is told why following stops. */
  readonly settle: (issue: number) => void;
  /** An attempt is due, or polls are. */
  readonly onDue: () => void;
  /** Asks for a reading after some time. */
  readonly later: (look: Look, ms: number) => void;
  readonly once?: boolean;
};

/** So many pull requests are read at the same time. */
const READ_AT_ONCE = 4;
/** So many failed checks are explained. */
const MOST_EXPLAINED = 5;

export class Follower {
  readonly #options: FollowerOptions;
  readonly #sights: Sights;
  readonly #misses = new Misses();
  /** When a reading that was asked for is due, in elapsed time, by issue. */
  readonly #due = new Map<number, number>();
  /** Issues for which the log has it that not every check can be read. */
  readonly #unread = new Set<number>();
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
    this.#sights = new Sights(options);
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
      const isFollowed = (issue: number) => (entries.get(issue)?.follow ?? null) !== null;
      this.#sights.keep(isFollowed);
      for (const known of [this.#misses, this.#waits, this.#seen, this.#timed, this.#due, this.#unread])
        for (const issue of known.keys()) if (!isFollowed(issue)) known.delete(issue);
      await this.#readAll(() => true, signal);
    } finally {
      this.#isWatchingAll = false;
    }
  }

  /** Looks at those that a delivery names. One that is being read is read once more. */
  async watch({ pulls, allPulls, commits }: Look, signal: AbortSignal): Promise<void> {
    const isMeant = (entry: Entry) =>
      allPulls ||
      (entry.pullRequest !== null && pulls.includes(entry.pullRequest.number)) ||
      knownCommits(entry).some((commit) => commits.includes(commit));
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
        // What others push meanwhile is looked at before the round is pushed.
        const isOver = status === null ? this.#isGone(issue) : status.state !== 'open';
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
      log.log('warn', 'poller', refusal(FOLLOW_CODES.follow_unreadable, what), { issue });
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

  /** The earliest reading is enough. With `once`, no later reading would come: this one waits. */
  async #readAgain(issue: number, { number }: PullRequest, ms: number, signal: AbortSignal): Promise<void> {
    const { once, clock, later } = this.#options;
    const [now, known] = [clock.elapsed(), this.#due.get(issue)];
    if (known !== undefined && known > now && known <= now + ms) return;
    this.#due.set(issue, now + ms);
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
    const sight = status === null ? null : await this.#sights.of(entry, status, feed, signal);
    // Somebody may have closed the issue meanwhile.
    const now = journal.state.entries.get(issue);
    if (now?.phase !== 'following' || now.follow === null || signal.aborted) return;
    if (sight !== null) {
      this.#misses.delete(issue);
      this.#seen.set(issue, seenOf(sight, clock.now()));
      this.#sayUnread(issue, pullRequest, sight);
    }
    const verdict: FollowVerdict =
      sight === null
        ? this.#isGone(issue)
          ? { kind: 'over', why: 'it is gone' }
          : waitForTime('the service does not show it')
        : judgeFollow(now.follow, workflow().follow, sight, now.pushed, account, clock.now());
    this.#setTimed(issue, verdict.kind === 'wait' && verdict.forTime);
    const fields = { issue, pull_request: pullRequest.number };
    const name = `pull request #${pullRequest.number} of issue #${issue}`;
    switch (verdict.kind) {
      case 'wait':
        this.#waits.set(issue, verdict.why);
        if (verdict.againMs !== undefined) await this.#readAgain(issue, pullRequest, verdict.againMs, signal);
        return;
      case 'person': {
        const { cause, why, note: reason } = verdict;
        this.#waits.set(issue, why);
        if (now.follow.noticed === cause) return;
        await journal.append({ type: 'awaits_person', issue, cause, reason });
        log.log('info', 'poller', `${name}: ${why}`, fields);
        return;
      }
      case 'pushed':
        await this.#takePushed(now, verdict.commit, signal);
        return;
      case 'update':
        this.#options.workspaces.outdate();
        await journal.append({ type: 'base_wanted', issue, commit: verdict.commit });
        log.log('info', 'poller', `${name} is behind its base, which is taken in`, fields);
        this.#waits.delete(issue);
        settle(issue);
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
        await finish(issue, 'done', now.follow.updatedAt);
        return;
      case 'stop':
        await this.#stop(issue, pullRequest, verdict.why);
        return;
      case 'continue': {
        const failures = await this.#explain(verdict.events, feed, signal);
        const base = await this.#options.workspaces.defaultBranch(signal);
        const { events, failure } = verdict;
        const { text, told } = followText(pullRequest, now, base, { events, failures });
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

  /** The pull request is told why nobody goes on with it. */
  async #stop(issue: number, { number }: PullRequest, why: Refusal): Promise<void> {
    const { journal, log, settle } = this.#options;
    const what = prefixed(`pull request #${number} of issue #${issue}: `, why);
    log.log('warn', 'poller', what, { issue, pull_request: number });
    await journal.append({ type: 'follow_stopped', issue, reason: textOf(why) });
    settle(issue);
  }

  /** A commit of others that goes on from the last one is taken in; a branch that was rewritten is theirs. */
  async #takePushed(entry: Entry, commit: string, signal: AbortSignal): Promise<void> {
    const { journal, log, workspaces } = this.#options;
    const { number: issue, branch, pullRequest } = entry;
    const isJoined = await workspaces.goesOn(branch, tipOf(entry) ?? commit, commit, signal);
    const now = journal.state.entries.get(issue);
    if (now?.phase !== 'following' || now.follow?.stopped !== null || pullRequest === null || signal.aborted) return;
    if (isJoined === false) {
      await this.#stop(issue, pullRequest, refusal(FOLLOW_CODES.branch_rewritten, { commit: commit.slice(0, 12) }));
      return;
    }
    this.#setTimed(issue, isJoined === null);
    this.#waits.set(issue, 'others pushed to it; their commit is being read');
    if (isJoined === null) return;
    await journal.append({ type: 'others_pushed', issue, commit, joins: false });
    const what = `others pushed commit ${commit.slice(0, 12)} to pull request #${pullRequest.number}, which stays followed`;
    log.log('info', 'poller', what, { issue, pull_request: pullRequest.number });
    this.#wanted.add(issue);
  }

  /** Once, until everything can be read again. */
  #sayUnread(issue: number, { number }: PullRequest, { unread }: PullRequestSight): void {
    if (unread.length === 0) this.#unread.delete(issue);
    if (unread.length === 0 || this.#unread.has(issue)) return;
    this.#unread.add(issue);
    const what = refusal(FOLLOW_CODES.checks_unreadable, { pull_request: number, issue, said: unreadWords(unread) });
    this.#options.log.log('warn', 'poller', what, { issue });
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
        this.#options.log.log('warn', 'poller', refusal(FOLLOW_CODES.check_unexplained, { check: check.name, said }));
        failures.set(check, { step: null, log: `${check.summary}\n[its log cannot be read: ${said}]`.trim() });
      }
    return failures;
  }
}
