// The open issues that carry all of some labels, kept in memory: a poll asks only for what changed last, whatever the backlog.

import type { Clock } from '../../base/ports.ts';
import { blockersKey } from '../rules/blockers.ts';
import { hasLabel, type Issue } from '../rules/issue.ts';

export type ListQuery = {
  readonly labels: string;
  readonly sort: 'created' | 'updated';
  readonly direction: 'asc' | 'desc';
  readonly page: number;
};

/** One page of the service's list. `isFull`: another may follow, whatever the answer's own links say. */
export type ListPage = {
  readonly etag: string | undefined;
  readonly issues: readonly Issue[];
  /** When the last row of the page was updated, pull requests included; empty for a page without rows. */
  readonly oldest: string;
  readonly isFull: boolean;
  readonly last: number;
};

/** Null: nothing changed since the answer that had this `etag`. */
export type ReadPage = (query: ListQuery, etag: string | undefined, signal: AbortSignal) => Promise<ListPage | null>;

/** A whole listing is read so often: a poll shows what was added, not what went away. */
const WHOLE_EVERY_MS = 10 * 60_000;
const MOST_PAGES = 1_000;
const MOST_GONE = 1_000;

type Known = { readonly etag: string | undefined; readonly numbers: readonly number[]; readonly isFull: boolean };

export class LabelList {
  readonly #labels: readonly string[];
  readonly #read: ReadPage;
  readonly #clock: Clock;
  readonly #issues = new Map<number, Issue>();
  /** Issues that were read and are not in the list any more, as of that time: an older row does not bring them back. */
  readonly #gone = new Map<number, string>();
  /** Pages of the whole listing, oldest issue first. */
  readonly #pages = new Map<number, Known>();
  #lastPage = 1;
  #isBegun = false;
  /** Nothing that was updated before is news; null before the first page of the newest was read. */
  #newest: string | null = null;
  #headEtag: string | undefined;
  /** When the whole listing was read last, in elapsed time; null while it never was. */
  #wholeAt: number | null = null;
  /** Issues that a poll showed while a whole listing was being read. */
  #shown: Set<number> | null = null;
  /** Grows with every change. */
  version = 0;

  constructor(labels: readonly string[], read: ReadPage, clock: Clock) {
    this.#labels = labels;
    this.#read = read;
    this.#clock = clock;
  }

  get issues(): Iterable<Issue> {
    return this.#issues.values();
  }

  /** One conditional request, and further ones only as far as something is new. */
  async poll(signal: AbortSignal): Promise<void> {
    if (this.#isBegun) await this.#pollNewest(signal);
    else await this.#begin(signal);
  }

  /** The oldest come first: agents start on these, while the rest is read. */
  async #begin(signal: AbortSignal): Promise<void> {
    const page = await this.#whole(1, signal);
    this.#isBegun = true;
    if (page.isFull) return;
    this.#wholeAt = this.#clock.elapsed();
    this.#newest = [...this.#issues.values()].reduce((at, { updatedAt }) => (updatedAt > at ? updatedAt : at), '');
  }

  async #pollNewest(signal: AbortSignal): Promise<void> {
    const query = { labels: this.#labels.join(','), sort: 'updated', direction: 'desc' } as const;
    const first = await this.#read({ ...query, page: 1 }, this.#headEtag, signal);
    if (first === null) return;
    if (!first.isFull) this.#keepOnly(new Set(first.issues.map(({ number }) => number)));
    const since = this.#newest;
    let newest = since ?? '';
    let page = first;
    for (let number = 1; ; number++) {
      for (const issue of page.issues) {
        this.#take(issue);
        this.#shown?.add(issue.number);
        if (issue.updatedAt > newest) newest = issue.updatedAt;
      }
      // Times are in whole seconds: of the same second, there may be more on the next page.
      if (!page.isFull || since === null || page.oldest < since || number === MOST_PAGES) break;
      const next = await this.#read({ ...query, page: number + 1 }, undefined, signal);
      if (next === null) break;
      page = next;
    }
    // Only now: what was broken off is read again.
    this.#newest = newest;
    this.#headEtag = first.etag;
    if (!first.isFull) this.#wholeAt = this.#clock.elapsed();
  }

  /** Whether `readWhole` has something to do. */
  get isDue(): boolean {
    if (!this.#isBegun) return false;
    return this.#wholeAt === null || (this.#lastPage > 1 && this.#clock.elapsed() - this.#wholeAt >= WHOLE_EVERY_MS);
  }

  /**
   * Reads the whole listing, page by page, each conditional. From its end to its beginning: what is taken off meanwhile
   * moves the others nearer to the beginning, so none is passed over.
   */
  async readWhole(signal: AbortSignal): Promise<void> {
    if (this.#newest === null) await this.#pollNewest(signal);
    const shown = new Set<number>();
    this.#shown = shown;
    try {
      const seen = new Set<number>();
      const read = async (number: number) => {
        const page = await this.#whole(number, signal);
        for (const issue of page.numbers) seen.add(issue);
        return page;
      };
      const from = this.#lastPage;
      let last = from;
      while ((await read(last)).isFull && last < MOST_PAGES) last += 1;
      for (let number = from - 1; number >= 1; number--) await read(number);
      this.#lastPage = last;
      for (const number of this.#pages.keys()) if (number > last) this.#pages.delete(number);
      this.#keepOnly(new Set([...seen, ...shown]));
      this.#wholeAt = this.#clock.elapsed();
    } finally {
      this.#shown = null;
    }
  }

  async #whole(number: number, signal: AbortSignal): Promise<Known> {
    const known = this.#pages.get(number);
    const query = { labels: this.#labels.join(','), sort: 'created', direction: 'asc', page: number } as const;
    const page = await this.#read(query, known?.etag, signal);
    if (page === null) return known ?? { etag: undefined, numbers: [], isFull: false };
    for (const issue of page.issues) this.#take(issue);
    const fresh = { etag: page.etag, numbers: page.issues.map((issue) => issue.number), isFull: page.isFull };
    this.#pages.set(number, fresh);
    this.#lastPage = Math.max(this.#lastPage, page.last);
    return fresh;
  }

  /** The issue was read by itself: that is newer than any list. */
  note(number: number, issue: Issue | null): void {
    const known = this.#issues.get(number);
    const carries = issue !== null && this.#labels.every((label) => hasLabel(issue.labels, label));
    if (carries && issue.state === 'open') {
      if (known !== undefined && known.updatedAt <= issue.updatedAt) this.#set(issue);
      return;
    }
    if (issue !== null && known !== undefined && known.updatedAt > issue.updatedAt) return;
    this.#gone.delete(number);
    this.#gone.set(number, issue?.updatedAt ?? '');
    for (const oldest of this.#gone.keys()) if (this.#gone.size > MOST_GONE) this.#gone.delete(oldest);
    if (this.#issues.delete(number)) this.version += 1;
  }

  #take(issue: Issue): void {
    const gone = this.#gone.get(issue.number);
    if (gone !== undefined && issue.updatedAt < gone) return;
    this.#gone.delete(issue.number);
    const known = this.#issues.get(issue.number);
    if (known === undefined || known.updatedAt <= issue.updatedAt) this.#set(issue);
  }

  /** What a list shows of an issue is enough to choose it. Its text is read right before an agent starts. */
  #set(issue: Issue): void {
    const known = this.#issues.get(issue.number);
    const isSame =
      known?.updatedAt === issue.updatedAt &&
      known.title === issue.title &&
      known.labels.join('\n') === issue.labels.join('\n') &&
      blockersKey(known.blockers) === blockersKey(issue.blockers);
    if (isSame) return;
    this.#issues.set(issue.number, { ...issue, body: '' });
    this.version += 1;
  }

  #keepOnly(numbers: ReadonlySet<number>): void {
    for (const number of this.#issues.keys())
      if (!numbers.has(number)) {
        this.#issues.delete(number);
        this.version += 1;
      }
  }
}
