// The state as plain JSON and back, for the record that begins a continued journal.

import { DEFAULT_PREFIX } from './branch-prefix.ts';
import { type FinishedIssues, finishedIssueOf, finishedIssues } from './finished-issues.ts';
import { branchOf } from './issue.ts';
import type { Message } from './message.ts';
import type { IssueOutcome, OpenPull } from './record.ts';
import type { DaemonState, Entry, StandingOrder } from './state.ts';

/** The state as plain JSON. What is kept of every issue that is over is packed: there may be tens of thousands. */
export type FrozenState = Omit<DaemonState, 'entries' | 'orders' | 'messages' | 'open' | 'past' | 'cleanups'> & {
  entries: Entry[];
  orders: [number, StandingOrder][];
  messages: [number, readonly Message[]][];
  open: OpenPull[];
  past: [number: number, life: number, labelEvent: number | null, updatedAt: string, outcome: IssueOutcome][];
  /** Earlier programs wrote no branch: the prefix was always the same. Nor did they write what was saved. */
  cleanups: [number, directory: string, branch?: string, saved?: readonly string[]][];
};

/** For a snapshot record. */
export function freezeState(state: DaemonState): FrozenState {
  return {
    ...state,
    entries: [...state.entries.values()],
    orders: [...state.orders],
    messages: [...state.messages],
    open: [...state.open.values()],
    past: [...finishedIssues(state.past)].map(([number, past]) => [
      number,
      past.life,
      past.labelEvent,
      past.updatedAt,
      past.outcome,
    ]),
    cleanups: [...state.cleanups].map(([issue, { directory, branch, saved }]): FrozenState['cleanups'][number] =>
      saved.length === 0 ? [issue, directory, branch] : [issue, directory, branch, saved],
    ),
  };
}

/** The inverse of `freezeState`, with the past already unpacked. */
export function thawState(past: FinishedIssues, frozen: Omit<FrozenState, 'past'>): DaemonState {
  return {
    ...frozen,
    past,
    entries: new Map(frozen.entries.map((entry) => [entry.number, entry])),
    orders: new Map(frozen.orders),
    messages: new Map(frozen.messages),
    open: new Map(frozen.open.map((pull) => [pull.number, pull])),
    cleanups: new Map(
      frozen.cleanups.map(([issue, directory, branch, saved = []]) => [
        issue,
        {
          directory,
          branch: branch ?? branchOf(DEFAULT_PREFIX, issue, finishedIssueOf(past, issue)?.life ?? 1),
          saved,
        },
      ]),
    ),
  };
}
