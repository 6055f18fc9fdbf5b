// The state as plain JSON and back, for the record that begins a continued journal.

import { EMPTY_BOOK, type PastBook, pastIssues, withPast } from './past.ts';
import type { IssueOutcome } from './record.ts';
import type { DaemonState, Entry } from './state.ts';

/** The state as plain JSON. What is kept of every issue that is over is packed: there may be tens of thousands. */
export type FrozenState = Omit<DaemonState, 'entries' | 'past' | 'cleanups'> & {
  entries: Entry[];
  past: [number: number, life: number, labelEvent: number | null, updatedAt: string, outcome: IssueOutcome][];
  cleanups: [number, string][];
};

/** For a snapshot record. */
export function freezeState(state: DaemonState): FrozenState {
  return {
    ...state,
    entries: [...state.entries.values()],
    past: [...pastIssues(state.past)].map(([number, past]) => [
      number,
      past.life,
      past.labelEvent,
      past.updatedAt,
      past.outcome,
    ]),
    cleanups: [...state.cleanups],
  };
}

/** The inverse of `freezeState`. */
export function thawState(frozen: FrozenState): DaemonState {
  return {
    ...frozen,
    entries: new Map(frozen.entries.map((entry) => [entry.number, entry])),
    past: frozen.past.reduce<PastBook>(
      (book, [issue, life, labelEvent, updatedAt, outcome]) =>
        withPast(book, issue, { life, labelEvent, updatedAt, outcome }),
      EMPTY_BOOK,
    ),
    cleanups: new Map(frozen.cleanups),
  };
}
