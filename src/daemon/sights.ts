// Reads what stands on a followed pull request. What people wrote is read when its version changed.

import type { Clock } from '../base/ports.ts';
import { areHeard } from './heard-words.ts';
import type { PullRequestFeed, Tracker } from './ports.ts';
import { isCommand, type PullRequestSight, type Rival, type Words } from './rules/follow-events.ts';
import { isOurs } from './rules/message.ts';
import type { Check, PullRequestStatus, Remark, Review, ReviewThread } from './rules/pull-request-status.ts';
import type { Entry } from './rules/state.ts';

export type SightsOptions = {
  readonly tracker: Tracker;
  readonly clock: Clock;
  /** Older pull requests of ours that conflict with the one of an issue. */
  readonly rivalsOf: (entry: Entry, signal: AbortSignal) => Promise<readonly Rival[]>;
};

/** Words as they were read for a version of the pull request. `met`: when that was seen first, in elapsed time. */
type ReadWords = Words & { readonly updatedAt: string; readonly met: number; readonly readAt: number };

/** Checks as they were seen, and since when they stand there like that, in elapsed time. `redSince`: null, none is red. */
type StandingChecks = {
  readonly head: string;
  readonly text: string;
  readonly since: number;
  readonly redSince: number | null;
};

/** The service tells versions apart by the second: what is written in the second of a reading makes no new version. */
const SAME_VERSION_MS = 2_000;

/** So long after an older pull request was merged, the service may still say that this one can be merged. */
const RIVAL_LOST_MS = 30_000;

const NOTHING = { reviews: [], threads: [], comments: [], rivals: [], checks: [], unread: [] } as const;

export class Sights {
  readonly #options: SightsOptions;
  readonly #words = new Map<number, ReadWords>();
  readonly #checks = new Map<number, StandingChecks>();
  /** When an older pull request that conflicts went away, in elapsed time, by issue; null: it is still there. */
  readonly #rivals = new Map<number, number | null>();

  constructor(options: SightsOptions) {
    this.#options = options;
  }

  /** Forgets the issues that are not wanted. */
  keep(isWanted: (issue: number) => boolean): void {
    for (const known of [this.#words, this.#checks, this.#rivals])
      for (const issue of known.keys()) if (!isWanted(issue)) known.delete(issue);
  }

  /** What stands on the pull request of an issue now. @param read its state, just read */
  async of(
    entry: Entry,
    read: PullRequestStatus,
    feed: PullRequestFeed,
    signal: AbortSignal,
  ): Promise<PullRequestSight> {
    const { number: issue } = entry;
    if (read.state !== 'open') return { status: read, checksStandMs: 0, redMs: 0, ...NOTHING };
    const rivals = await this.#options.rivalsOf(entry, signal);
    const status = { ...read, conflicts: this.#hasLostRival(issue, rivals) ? read.conflicts || null : read.conflicts };
    const { checks, unread } = await feed.checks(status.head, signal);
    const standing = this.#standing(issue, status.head, checks);
    const words = await this.#wordsOf(entry, status, feed, signal);
    return { ...words, ...standing, status, checks, unread, rivals };
  }

  async #wordsOf(entry: Entry, status: PullRequestStatus, feed: PullRequestFeed, signal: AbortSignal): Promise<Words> {
    const { number: issue, pullRequest } = entry;
    const known = this.#words.get(issue);
    const isSame = known?.updatedAt === status.updatedAt;
    const commands = await this.#commands(entry, feed, signal);
    const withCommands = (words: Words): Words => ({ ...words, comments: [...words.comments, ...commands] });
    if (isSame && known.readAt - known.met >= SAME_VERSION_MS) return withCommands(known);
    const readAt = this.#options.clock.elapsed();
    const met = isSame ? known.met : readAt;
    const words = await this.#read(pullRequest?.number ?? 0, feed, signal);
    this.#words.set(issue, { ...words, updatedAt: status.updatedAt, met, readAt });
    return withCommands(words);
  }

  /** `/tool` comments on the issue that no agent got yet. Those from before the claim were for nobody. */
  async #commands(entry: Entry, feed: PullRequestFeed, signal: AbortSignal): Promise<readonly Remark[]> {
    const isNew = ({ id, createdAt, body }: Remark) =>
      isCommand(body) && id > entry.heard && (createdAt === undefined || Date.parse(createdAt) >= entry.claimedAt);
    const all = (await feed.comments(entry.number, signal)).filter(isNew);
    return keep(all, (one) => areHeard(this.#options.tracker, one, signal));
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

  #standing(issue: number, head: string, checks: readonly Check[]): Pick<PullRequestSight, 'checksStandMs' | 'redMs'> {
    const now = this.#options.clock.elapsed();
    const text = JSON.stringify([head, checks.map(({ run, name, state }) => [run, name, state])]);
    const known = this.#checks.get(issue);
    const since = known?.text === text ? known.since : now;
    const isRed = checks.some(({ state }) => state === 'failed');
    const redSince = isRed ? ((known?.head === head ? known.redSince : null) ?? now) : null;
    this.#checks.set(issue, { head, text, since, redSince });
    return { checksStandMs: now - since, redMs: now - (redSince ?? now) };
  }

  async #read(number: number, feed: PullRequestFeed, signal: AbortSignal): Promise<Words> {
    const [reviews, threads, comments] = await Promise.all([
      feed.reviews(number, signal),
      feed.threads(number, signal),
      feed.comments(number, signal),
    ]);
    const { tracker } = this.#options;
    const counts = (one: Review | Remark) => areHeard(tracker, one, signal);
    const account = await feed.account(signal);
    // Anybody can copy our marker.
    const isAnswer =
      (last: number) =>
      async ({ id, author, body }: Remark) =>
        id > last &&
        author !== null &&
        isOurs(body) &&
        (author.login === account || (await tracker.mayWrite(author, signal)));
    const kept: ReviewThread[] = [];
    for (const thread of threads) {
      const heard = await keep(thread.comments, counts);
      const last = Math.max(0, ...heard.map(({ id }) => id));
      kept.push({
        ...thread,
        comments: heard,
        isAnswered: (await keep(thread.comments, isAnswer(last))).length > 0,
      });
    }
    return { reviews: await keep(reviews, counts), threads: kept, comments: await keep(comments, counts) };
  }
}

async function keep<T>(all: readonly T[], counts: (one: T) => Promise<boolean>): Promise<readonly T[]> {
  const kept: T[] = [];
  for (const one of all) if (await counts(one)) kept.push(one);
  return kept;
}
