// Watches one agent: tells its owner when it gives no life sign for too long, or when a turn takes too long.

import type { Clock } from '../base/ports.ts';
import type { AgentEvent } from './ports.ts';
import type { Expiry } from './rules/expiry.ts';

export type WatchdogOptions = {
  readonly clock: Clock;
  /** 0: never. */
  readonly stallTimeoutMs: number;
  readonly turnTimeoutMs: number;
  readonly onExpired: (cause: Expiry) => void;
};

/** A tool call within its own limit is a life sign; a little more is allowed, since limits are not kept to the ms. */
const TOOL_GRACE_MS = 30_000;
/** No sleep is longer: one that ends late tells how long the process or the machine stood still. */
const LONGEST_SLEEP_MS = 30_000;
/** A sleep that ends so late was not just busy. */
const LATE_MS = 250;
/** What agents said meanwhile is read in this time, before anything is decided. */
const READING_MS = 1_000;

export class Watchdog {
  readonly #options: WatchdogOptions;
  /** Ends the sleep under way. */
  #wake = new AbortController();
  #closed = false;
  /** Calls of `outside` under way, and since when there are some. */
  #outside = 0;
  #outsideSince = 0;
  /** Running tool calls that state a limit, with when it is over. */
  readonly #tools = new Map<string, number>();
  #lastSignAt: number;
  #turnStartedAt: number;

  constructor(options: WatchdogOptions) {
    this.#options = options;
    this.#lastSignAt = options.clock.elapsed();
    this.#turnStartedAt = this.#lastSignAt;
  }

  sign(event: AgentEvent): void {
    this.#lastSignAt = this.#options.clock.elapsed();
    if (event.type === 'tool_started' && event.limitMs !== null)
      this.#tools.set(event.id, this.#lastSignAt + event.limitMs + TOOL_GRACE_MS);
    // The deadline may have come nearer than the sleep under way reaches.
    if (event.type === 'tool_ended' && this.#tools.delete(event.id)) this.#wake.abort();
  }

  turnStarted(): void {
    this.#turnStartedAt = this.#options.clock.elapsed();
    this.#lastSignAt = this.#turnStartedAt;
    this.#tools.clear();
    this.#wake.abort();
  }

  /** When the agent will be ended if nothing is heard, in elapsed time, and why. */
  #deadline(): { readonly at: number; readonly cause: Expiry } {
    const { stallTimeoutMs, turnTimeoutMs } = this.#options;
    const turn = {
      at: this.#turnStartedAt + turnTimeoutMs,
      cause: { kind: 'turn_timeout', afterMs: turnTimeoutMs },
    } as const;
    if (stallTimeoutMs === 0) return turn;
    const stalled = Math.max(this.#lastSignAt + stallTimeoutMs, ...this.#tools.values());
    return stalled < turn.at ? { at: stalled, cause: { kind: 'stalled', afterMs: stallTimeoutMs } } : turn;
  }

  /** Runs until the agent is to be ended or `close` is called. */
  async watch(): Promise<void> {
    const { clock, onExpired } = this.#options;
    while (!this.#closed) {
      const { at, cause } = this.#deadline();
      const left = this.#outside > 0 ? LONGEST_SLEEP_MS : at - clock.elapsed();
      if (left <= 0) {
        onExpired(cause);
        return;
      }
      this.#wake = new AbortController();
      const planned = Math.min(left, LONGEST_SLEEP_MS);
      const asleepAt = clock.elapsed();
      await clock.sleep(planned, this.#wake.signal);
      const late = clock.elapsed() - asleepAt - planned;
      if (late >= LATE_MS && this.#outside === 0) this.#skipPause(late + READING_MS);
    }
  }

  /** Does what takes time without the agent's doing: that time counts for no limit. */
  async outside<T>(act: () => Promise<T>): Promise<T> {
    const { clock } = this.#options;
    if (this.#outside === 0) this.#outsideSince = clock.elapsed();
    this.#outside += 1;
    try {
      return await act();
    } finally {
      this.#outside -= 1;
      if (this.#outside === 0) {
        this.#skipPause(clock.elapsed() - this.#outsideSince);
        // Signs came meanwhile.
        this.#lastSignAt = Math.min(this.#lastSignAt, clock.elapsed());
        this.#turnStartedAt = Math.min(this.#turnStartedAt, clock.elapsed());
        this.#wake.abort();
      }
    }
  }

  /** The daemon was stopped, or the machine slept: that time counts for no limit. */
  #skipPause(ms: number): void {
    this.#lastSignAt += ms;
    this.#turnStartedAt += ms;
    for (const [id, at] of this.#tools) this.#tools.set(id, at + ms);
  }

  close(): void {
    this.#closed = true;
    this.#wake.abort();
  }
}
