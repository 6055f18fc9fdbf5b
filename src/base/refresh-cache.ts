// Repeats work only when the last run is too old, or began before the result became stale.

import type { Clock } from './ports.ts';
import { SingleFlight } from './single-flight.ts';

export class RefreshCache {
  readonly #clock: Clock;
  readonly #freshMs: number;
  readonly #flight: SingleFlight<void>;
  /** When the newest run that ended well began. */
  #begunAt = Number.NEGATIVE_INFINITY;
  #outdatedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, freshMs: number, work: (signal: AbortSignal) => Promise<void>) {
    this.#clock = clock;
    this.#freshMs = freshMs;
    this.#flight = new SingleFlight(async (signal) => {
      const startedAt = clock.elapsed();
      await work(signal);
      this.#begunAt = startedAt;
    });
  }

  /** What came of the work may be another thing by now: a run that began before this serves nobody who comes after it. */
  outdate(): void {
    this.#outdatedAt = this.#clock.elapsed();
  }

  /** Resolves when the work was done lately; calls that come together share one run. `isUsable` false: whatever its age. */
  async ensure(isUsable: boolean, signal: AbortSignal): Promise<void> {
    const oldest = this.#outdatedAt;
    const isFresh = this.#begunAt >= oldest && this.#clock.elapsed() - this.#begunAt < this.#freshMs;
    if (isFresh && isUsable && !this.#flight.isRunning) return;
    do await this.#flight.join(signal);
    while (this.#begunAt < oldest);
  }
}
