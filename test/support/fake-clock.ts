// A clock that stands still until it is moved: no test waits for real time.

import type { Clock } from '../../src/base/ports.ts';

type Sleeper = { readonly at: number; readonly wake: () => void };

export class FakeClock implements Clock {
  /** What the clock on the wall is ahead of the time that has passed. */
  #offset: number;
  #elapsed = 0;
  readonly #sleepers = new Set<Sleeper>();

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#offset = start;
  }

  now = (): number => this.#offset + this.#elapsed;
  elapsed = (): number => this.#elapsed;

  /** Somebody sets the clock on the wall. */
  set(byMs: number): void {
    this.#offset += byMs;
  }

  sleep = (ms: number, signal: AbortSignal): Promise<void> => {
    if (signal.aborted || ms <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const sleeper: Sleeper = {
        at: this.#elapsed + ms,
        wake: () => {
          this.#sleepers.delete(sleeper);
          signal.removeEventListener('abort', sleeper.wake);
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal.addEventListener('abort', sleeper.wake, { once: true });
    });
  };

  /** The process is stopped, or the machine sleeps: time passes, and whatever was due happens late, all at once. */
  stop(ms: number): void {
    this.#elapsed += ms;
    for (const sleeper of [...this.#sleepers]) if (sleeper.at <= this.#elapsed) sleeper.wake();
  }

  /** Lets everything run that needs no time. Without a promise for each round: the test runner tracks them all. */
  settle(): Promise<void> {
    return new Promise((resolve) => {
      let rounds = 40;
      const next = () => {
        rounds -= 1;
        if (rounds > 0) setImmediate(next);
        else resolve();
      };
      setImmediate(next);
    });
  }

  /** Moves to the next moment somebody waits for; false when nobody waits or that is after `limit`, in elapsed time. */
  async step(limit = Number.POSITIVE_INFINITY): Promise<boolean> {
    await this.settle();
    return this.#move(limit);
  }

  /** The same, where everything has settled. */
  async #move(limit: number): Promise<boolean> {
    const next = Math.min(...[...this.#sleepers].map((sleeper) => sleeper.at));
    if (!Number.isFinite(next) || next > limit) return false;
    this.#elapsed = Math.max(this.#elapsed, next);
    for (const sleeper of [...this.#sleepers]) if (sleeper.at <= this.#elapsed) sleeper.wake();
    await this.settle();
    return true;
  }

  /** Lets `ms` pass, everything on the way happening at its time. */
  async pass(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    await this.settle();
    while (await this.#move(end));
    this.#elapsed = end;
    await this.settle();
  }
}
