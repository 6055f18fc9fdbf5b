// Older open pull requests of ours that conflict with a followed one, told by git alone.

import type { Journal, Workspaces } from './ports.ts';
import { tipOf } from './rules/follow.ts';
import type { Rival } from './rules/follow-events.ts';
import type { OpenPull } from './rules/record.ts';
import type { Entry } from './rules/state.ts';

/** So many pairs of commits are kept in mind. */
const MOST_PAIRS = 2_000;

export class Rivals {
  readonly #journal: Journal;
  readonly #workspaces: Pick<Workspaces, 'conflicts'>;
  /** Paths in conflict by pair of commits. */
  readonly #pairs = new Map<string, readonly string[]>();
  /** Numbers of the older pull requests, by issue. */
  readonly #found = new Map<number, readonly number[]>();

  constructor(journal: Journal, workspaces: Pick<Workspaces, 'conflicts'>) {
    this.#journal = journal;
    this.#workspaces = workspaces;
  }

  /** Those that followed pull requests conflict with. */
  get found(): readonly OpenPull[] {
    const { entries, open } = this.#journal.state;
    for (const issue of this.#found.keys()) if (entries.get(issue)?.phase !== 'following') this.#found.delete(issue);
    return [...new Set([...this.#found.values()].flat())].flatMap((number) => open.get(number) ?? []);
  }

  async of(entry: Entry, signal: AbortSignal): Promise<readonly Rival[]> {
    const { number: issue, pullRequest } = entry;
    const head = tipOf(entry);
    if (pullRequest === null || head === undefined) return [];
    const rivals: Rival[] = [];
    for (const older of this.#journal.state.open.values()) {
      if (older.issue === issue || older.number >= pullRequest.number || older.head === '') continue;
      const paths = await this.#conflicts(older.head, head, signal);
      if (paths.length > 0) rivals.push({ number: older.number, paths });
    }
    this.#found.set(
      issue,
      rivals.map(({ number }) => number),
    );
    return rivals;
  }

  async #conflicts(older: string, younger: string, signal: AbortSignal): Promise<readonly string[]> {
    const pair = `${older} ${younger}`;
    const known = this.#pairs.get(pair);
    if (known !== undefined) return known;
    // A commit that is not here any more conflicts with nothing that could be told.
    const paths = await this.#workspaces.conflicts(older, younger, signal).catch(() => []);
    signal.throwIfAborted();
    if (this.#pairs.size >= MOST_PAIRS) this.#pairs.clear();
    this.#pairs.set(pair, paths);
    return paths;
  }
}
