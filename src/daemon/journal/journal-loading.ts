// Folds a whole journal at the start. A step of the fold copies the maps that it changes, so that nobody's state changes
// under him; while nobody has the state yet, that would copy everything for each of thousands of records.

import type { Stored } from '../../base/rules/stored-record.ts';
import { type FinishedIssue, type FinishedIssues, NO_FINISHED_ISSUES } from '../rules/finished-issues.ts';
import { fold } from '../rules/fold.ts';
import type { JournalRecord } from '../rules/record.ts';
import { type Cleanup, type DaemonState, EMPTY_STATE, type Entry } from '../rules/state.ts';

type Pages = Map<number, Map<number, FinishedIssue>>;

/** Puts what stands in a book into pages that are not shared with anybody. */
export function addPages(pages: Pages, book: FinishedIssues): void {
  for (const [number, issues] of book) {
    const page = pages.get(number);
    if (page === undefined) pages.set(number, new Map(issues));
    else for (const [issue, past] of issues) page.set(issue, past);
  }
}

function only<T>(map: ReadonlyMap<number, T>, issue: number): Map<number, T> {
  const value = map.get(issue);
  return value === undefined ? new Map() : new Map([[issue, value]]);
}

function putBack<T>(map: Map<number, T>, part: ReadonlyMap<number, T>, issue: number): void {
  const value = part.get(issue);
  if (value === undefined) map.delete(issue);
  else map.set(issue, value);
}

export class Loading {
  #entries = new Map<number, Entry>();
  #cleanups = new Map<number, Cleanup>();
  #pages: Pages = new Map();
  #others: DaemonState = EMPTY_STATE;

  start(state: DaemonState): void {
    this.#entries = new Map(state.entries);
    this.#cleanups = new Map(state.cleanups);
    this.#pages = new Map();
    addPages(this.#pages, state.past);
    this.#others = { ...state, ...EMPTY_MAPS };
  }

  /** A record changes what is known of its own issue and the sums over all: only those are handed to the fold. */
  take(record: Stored<Exclude<JournalRecord, { type: 'snapshot' }>>): void {
    const { issue } = record;
    const part = fold(
      {
        ...this.#others,
        entries: only(this.#entries, issue),
        cleanups: only(this.#cleanups, issue),
        past: NO_FINISHED_ISSUES,
      },
      record,
    );
    putBack(this.#entries, part.entries, issue);
    putBack(this.#cleanups, part.cleanups, issue);
    addPages(this.#pages, part.past);
    this.#others = { ...part, ...EMPTY_MAPS };
  }

  /** To be taken once, at the end. */
  get state(): DaemonState {
    return { ...this.#others, entries: this.#entries, cleanups: this.#cleanups, past: this.#pages };
  }
}

const { entries, cleanups, past } = EMPTY_STATE;
const EMPTY_MAPS = { entries, cleanups, past };
