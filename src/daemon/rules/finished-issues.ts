// Persistent map of finished issues: enough of each to tell a relabelled issue from an outdated listing.
// There may be tens of thousands, so a change copies one page of them and shares the others.

import type { IssueOutcome } from './record.ts';

export type Past = {
  readonly life: number;
  readonly labelEvent: number | null;
  readonly updatedAt: string;
  readonly outcome: IssueOutcome;
};

export type PastBook = ReadonlyMap<number, ReadonlyMap<number, Past>>;

const PAGE = 256;

export const EMPTY_BOOK: PastBook = new Map();

function pageOf(issue: number): number {
  return Math.floor(issue / PAGE);
}

export function pastOf(book: PastBook, issue: number): Past | undefined {
  return book.get(pageOf(issue))?.get(issue);
}

/** A new map with one more issue; the given one is unchanged. */
export function withPast(book: PastBook, issue: number, past: Past): PastBook {
  const page = new Map(book.get(pageOf(issue))).set(issue, past);
  return new Map(book).set(pageOf(issue), page);
}

export function* pastIssues(book: PastBook): Generator<readonly [number, Past]> {
  for (const page of book.values()) yield* page;
}
