// Readings that deliveries of webhooks ask for. Those of a burst are joined, and each is done once more a second later.

import type { Clock } from '../base/ports.ts';
import type { Supervisor } from '../base/supervisor.ts';
import { type EventKind, isEmpty, isWithoutPulls, joinLooks, kindOf, type Look, NO_LOOK } from './rules/look.ts';

export type LooksOptions = {
  readonly clock: Clock;
  readonly supervisor: Supervisor;
  /** Reads followed pull requests. */
  readonly watch: (look: Look, signal: AbortSignal) => Promise<void>;
  /** There is something for the loop to take. */
  readonly onDue: () => void;
};

/** The service may answer for a moment with what was before its delivery. */
const AGAIN_MS = 1_000;
/** On average the loop reads so often. */
const PAUSE_MS = 1_000;
/** So many readings follow one another without a pause: of deliveries that come apart, none waits. */
const BURST = 3;

export class Looks {
  readonly #options: LooksOptions;
  readonly #arrivals = new Map<EventKind, number>();
  /** Waits for the loop. */
  #due: Look = NO_LOOK;
  /** When the readings so far are spread evenly, in elapsed time. */
  #evenAt = Number.NEGATIVE_INFINITY;
  #again: Look = NO_LOOK;
  #isWaiting = false;

  constructor(options: LooksOptions) {
    this.#options = options;
  }

  /** A valid delivery came. @param event name of its event */
  deliver(event: string, look: Look): void {
    const { clock, supervisor } = this.#options;
    const kind = kindOf(event);
    if (kind !== null) this.#arrivals.set(kind, clock.elapsed());
    this.#ask(look);
    this.#again = joinLooks(this.#again, look);
    if (!this.#isWaiting) supervisor.run('readings after deliveries', (signal) => this.#askAgain(signal));
  }

  /** When the last delivery of the kind came, in elapsed time; null: none has come. */
  arrival(kind: EventKind): number | null {
    return this.#arrivals.get(kind) ?? null;
  }

  /** How long until the loop can take something, ms. */
  get untilNext(): number {
    if (isEmpty(this.#due)) return Number.MAX_SAFE_INTEGER;
    return Math.max(0, this.#evenAt - (BURST - 1) * PAUSE_MS - this.#options.clock.elapsed());
  }

  /** What the loop is to read now; null: nothing. */
  take(): Look | null {
    if (this.untilNext > 0) return null;
    const look = this.#due;
    this.#due = NO_LOOK;
    this.#evenAt = Math.max(this.#evenAt, this.#options.clock.elapsed()) + PAUSE_MS;
    return look;
  }

  /** Asks for a reading after some time. */
  later(look: Look, ms: number): void {
    const { clock, supervisor } = this.#options;
    supervisor.run('a later reading', async (signal) => {
      await clock.sleep(ms, signal);
      if (!signal.aborted) this.#ask(look);
    });
  }

  #ask(look: Look): void {
    const { supervisor, watch, onDue } = this.#options;
    if (!isWithoutPulls(look)) supervisor.run('the followed pull requests', (signal) => watch(look, signal));
    if (!look.list && look.issues.length === 0) return;
    this.#due = joinLooks(this.#due, { ...look, pulls: [], allPulls: false, commits: [] });
    onDue();
  }

  async #askAgain(signal: AbortSignal): Promise<void> {
    this.#isWaiting = true;
    try {
      while (!isEmpty(this.#again) && !signal.aborted) {
        const look = this.#again;
        this.#again = NO_LOOK;
        await this.#options.clock.sleep(AGAIN_MS, signal);
        if (!signal.aborted) this.#ask(look);
      }
    } finally {
      this.#isWaiting = false;
    }
  }
}
