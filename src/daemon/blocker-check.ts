// Check whether an issue waits for others that are open: named in its text, or linked to it by the hosting service.

import type { Refusal } from '../base/rules/codes.ts';
import { isOver } from './gatekeeper.ts';
import type { Journal, Tracker } from './ports.ts';
import {
  blockedInCycle,
  blockersKey,
  hasBlockers,
  judgeBlockers,
  LINKS,
  type Link,
  type LinkedIssue,
  type OpenBlockers,
} from './rules/blockers.ts';
import { finishedIssueOf } from './rules/finished-issues.ts';
import type { Issue } from './rules/issue.ts';
import { TrackerError } from './rules/tracker-error.ts';

export type BlockerCheckOptions = { readonly journal: Journal; readonly tracker: Tracker };

/** `key`: what the row told of its blockers then; `why`: null when the issue can start. */
type Verdict = { readonly key: string; readonly poll: number; readonly why: Refusal | null };

/** So many blocked issues are checked in each poll. Where there are more, they take turns, within the limits of the service. */
const MOST_BLOCKED = 100;
/** A search for a cycle follows so many issues. */
const MOST_FOLLOWED = 50;

export class BlockerCheck {
  readonly #options: BlockerCheckOptions;
  readonly #verdicts = new Map<number, Verdict>();
  #listing: readonly Issue[] = [];
  /** Issues of the listing by number; null: to be made from it. */
  #listed: ReadonlyMap<number, Issue> | null = null;
  #poll = 0;
  /** Answers of this poll. */
  readonly #issues = new Map<number, Promise<Issue | null>>();
  readonly #links = new Map<string, Promise<readonly LinkedIssue[]>>();

  constructor(options: BlockerCheckOptions) {
    this.#options = options;
  }

  /** From now on issues are checked anew. */
  newPoll(): void {
    this.#poll += 1;
    this.#issues.clear();
    this.#links.clear();
  }

  /** Takes the issues that wait; the state of a blocker among them is known. */
  listed(listing: readonly Issue[]): void {
    if (listing === this.#listing) return;
    this.#listing = listing;
    this.#listed = null;
  }

  keepOnly(listed: ReadonlySet<number>): void {
    for (const number of this.#verdicts.keys()) if (!listed.has(number)) this.#verdicts.delete(number);
  }

  #verdict({ number, blockers }: Issue): Verdict | undefined {
    const verdict = this.#verdicts.get(number);
    return verdict?.key === blockersKey(blockers) ? verdict : undefined;
  }

  /** Whether the issue is to be checked in this poll. */
  isDue(issue: Issue): boolean {
    if (!hasBlockers(issue.blockers)) return false;
    const verdict = this.#verdict(issue);
    if (verdict === undefined) return true;
    const turns = verdict.why === null ? 1 : Math.ceil(this.#verdicts.size / MOST_BLOCKED);
    return verdict.poll !== this.#poll && (issue.number + this.#poll) % turns === 0;
  }

  /** Why the issue waits, as it was checked last; null: nothing is known that it waits for. */
  last(issue: Issue): Refusal | null {
    return this.#verdict(issue)?.why ?? null;
  }

  /** Whether the issue names blockers of which none is known to be open or closed, or one is open. */
  maybeBlocked(issue: Issue): boolean {
    return hasBlockers(issue.blockers) && this.#verdict(issue)?.why !== null;
  }

  async check(issue: Issue, signal: AbortSignal): Promise<void> {
    const { number, blockers } = issue;
    const open = await this.#openBlockers(issue, signal);
    const blocked = judgeBlockers(open);
    const cycle = blocked === null ? null : await this.#cycle(issue, signal);
    const why = cycle === null ? blocked : blockedInCycle(cycle);
    this.#verdicts.set(number, { key: blockersKey(blockers), poll: this.#poll, why });
  }

  async #openBlockers(issue: Issue, signal: AbortSignal): Promise<OpenBlockers> {
    const [isOpen, dependencies, subIssues] = await Promise.all([
      Promise.all(issue.blockers.named.map((number) => this.#isOpen(number, signal))),
      this.#openLinks(issue, 'dependencies', signal),
      this.#openLinks(issue, 'subIssues', signal),
    ]);
    return { named: issue.blockers.named.filter((_, index) => isOpen[index]), links: { dependencies, subIssues } };
  }

  async #openLinks(issue: Issue, link: Link, signal: AbortSignal): Promise<OpenBlockers['links'][Link]> {
    if (issue.blockers[link].open === 0) return { shown: [], unseen: 0 };
    const all = await this.#readLinks(issue.number, link, signal);
    const shown = all.filter(({ state }) => state === 'open');
    if (shown.length >= issue.blockers[link].open) return { shown, unseen: 0 };
    // The counts of the list may be old, or this account may not see all of these issues.
    const now = (await this.#options.tracker.readIssue(issue.number, signal))?.blockers[link];
    const isAll = now === undefined || all.length >= now.all;
    return { shown, unseen: isAll ? 0 : Math.max(0, now.open - shown.length) };
  }

  #isAtWork(number: number): boolean {
    const entry = this.#options.journal.state.entries.get(number);
    return entry !== undefined && entry.phase !== 'parked';
  }

  /** The issue of the listing with this number, if the daemon has not ended its work on it. */
  #waiting(number: number): Issue | undefined {
    this.#listed ??= new Map(this.#listing.map((issue) => [issue.number, issue]));
    const issue = this.#listed.get(number);
    const { past, entries } = this.#options.journal.state;
    const over = issue !== undefined && isOver(issue, finishedIssueOf(past, number), entries.get(number));
    return over ? undefined : issue;
  }

  async #isOpen(number: number, signal: AbortSignal): Promise<boolean> {
    if (this.#isAtWork(number) || this.#waiting(number) !== undefined) return true;
    return (await this.#read(number, signal))?.state === 'open';
  }

  #read(number: number, signal: AbortSignal): Promise<Issue | null> {
    const known = this.#issues.get(number);
    if (known !== undefined) return known;
    const reading = this.#options.tracker.readIssue(number, signal);
    this.#issues.set(number, reading);
    return reading;
  }

  #readLinks(number: number, link: Link, signal: AbortSignal): Promise<readonly LinkedIssue[]> {
    const key = `${link} ${number}`;
    const known = this.#links.get(key);
    if (known !== undefined) return known;
    const reading = this.#options.tracker.readLinks(number, link, signal);
    this.#links.set(key, reading);
    return reading;
  }

  /** The shortest way on which the issue waits for itself; null: none was found. */
  async #cycle(start: Issue, signal: AbortSignal): Promise<readonly number[] | null> {
    const cameFrom = new Map<number, number>();
    let ways: readonly Issue[] = [start];
    let left = MOST_FOLLOWED;
    try {
      while (ways.length > 0) {
        const further: Issue[] = [];
        for (const issue of ways)
          for (const next of await this.#waitsFor(issue, signal)) {
            if (next === start.number) return pathTo(issue.number, cameFrom);
            if (cameFrom.has(next)) continue;
            cameFrom.set(next, issue.number);
            if (left === 0) return null;
            left -= 1;
            const followed = await this.#follow(next, signal);
            if (followed !== null) further.push(followed);
          }
        ways = further;
      }
    } catch (error) {
      // The next poll searches again.
      if (!(error instanceof TrackerError)) throw error;
    }
    return null;
  }

  /** An issue that waits itself: open, and not at work. */
  async #follow(number: number, signal: AbortSignal): Promise<Issue | null> {
    if (this.#isAtWork(number)) return null;
    const issue = this.#waiting(number) ?? (await this.#read(number, signal));
    return issue?.state === 'open' ? issue : null;
  }

  /** Issues of this repository that the issue names or is linked to; some that are named may be closed. */
  async #waitsFor(issue: Issue, signal: AbortSignal): Promise<readonly number[]> {
    const numbers = [...issue.blockers.named];
    for (const link of LINKS)
      if (issue.blockers[link].open > 0)
        for (const { repository, number, state } of await this.#readLinks(issue.number, link, signal))
          if (repository === null && state === 'open') numbers.push(number);
    return numbers;
  }
}

/** The issues on the way from the first one to this one. */
function pathTo(end: number, cameFrom: ReadonlyMap<number, number>): readonly number[] {
  const path: number[] = [];
  for (let at: number | undefined = end; at !== undefined; at = cameFrom.get(at)) path.unshift(at);
  return path;
}
