// Persistent map of finished issues: enough of each to tell a relabelled issue from an outdated listing.
// There may be tens of thousands, so a change copies one page of them and shares the others.

import type { IssueOutcome } from './record.ts';

export type FinishedIssue = {
  readonly life: number;
  readonly labelEvent: number | null;
  readonly updatedAt: string;
  readonly outcome: IssueOutcome;
};

export type FinishedIssues = ReadonlyMap<number, ReadonlyMap<number, FinishedIssue>>;

const PAGE = 256;

export const NO_FINISHED_ISSUES: FinishedIssues = new Map();

function pageOf(issue: number): number {
  return Math.floor(issue / PAGE);
}

export function finishedIssueOf(book: FinishedIssues, issue: number): FinishedIssue | undefined {
  return book.get(pageOf(issue))?.get(issue);
}

/** A new map with one more issue; the given one is unchanged. */
export function withFinishedIssue(book: FinishedIssues, issue: number, past: FinishedIssue): FinishedIssues {
  const page = new Map(book.get(pageOf(issue))).set(issue, past);
  return new Map(book).set(pageOf(issue), page);
}

export function* finishedIssues(book: FinishedIssues): Generator<readonly [number, FinishedIssue]> {
  for (const page of book.values()) yield* page;
}
