// Pull requests that the service says do not exist: whether that is to be believed.

/** A service that lags says so for a moment: it has to say so as often, and for so long. */
const MOST_MISSES = 3;
const MISSING_MS = 60_000;

export class Misses {
  /** How often in a row, and since when, in elapsed time. */
  readonly #misses = new Map<number, { readonly count: number; readonly since: number }>();

  /** It was not found. @param now in elapsed time */
  isGone(key: number, now: number): boolean {
    const { count, since } = this.#misses.get(key) ?? { count: 0, since: now };
    this.#misses.set(key, { count: count + 1, since });
    return count + 1 >= MOST_MISSES && now - since >= MISSING_MS;
  }

  keys(): Iterable<number> {
    return this.#misses.keys();
  }

  /** It was found, or nobody asks any more. */
  delete(key: number): void {
    this.#misses.delete(key);
  }
}
