// Background work: every task has a name, is awaited at the end, and its failure is heard.

import { setMaxListeners } from 'node:events';
import type { Clock } from './ports.ts';
import { messageOf } from './rules/errors.ts';

export type SupervisorOptions = {
  readonly clock: Clock;
  readonly onFailure: (task: string, message: string) => void;
};

const RESTART_MIN_MS = 1_000;
const RESTART_MAX_MS = 60_000;

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #stop = new AbortController();
  readonly #tasks = new Map<Promise<void>, string>();

  constructor(options: SupervisorOptions) {
    this.#options = options;
    // As many wait for its end as there is work at once.
    setMaxListeners(0, this.#stop.signal);
  }

  /** Aborted when `close` is called. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Names of the tasks under way. */
  get running(): readonly string[] {
    return [...this.#tasks.values()];
  }

  /** Runs a task once. A failure is reported; nobody else needs to look at it. */
  run(name: string, task: (signal: AbortSignal) => Promise<void>): void {
    this.#track(
      name,
      this.#once(name, task).then(() => undefined),
    );
  }

  /** Keeps a task running until the end: after a failure it is started again, with growing pauses. */
  keep(name: string, task: (signal: AbortSignal) => Promise<void>): void {
    this.#track(name, this.#again(name, task));
  }

  #track(name: string, promise: Promise<void>): void {
    this.#tasks.set(promise, name);
    void promise.finally(() => this.#tasks.delete(promise));
  }

  async #once(name: string, task: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
    try {
      await task(this.signal);
      return true;
    } catch (error) {
      if (!this.signal.aborted) this.#options.onFailure(name, messageOf(error));
      return false;
    }
  }

  async #again(name: string, task: (signal: AbortSignal) => Promise<void>): Promise<void> {
    let pause = RESTART_MIN_MS;
    while (!this.signal.aborted) {
      const startedAt = this.#options.clock.elapsed();
      if (await this.#once(name, task)) return;
      if (this.#options.clock.elapsed() - startedAt > RESTART_MAX_MS) pause = RESTART_MIN_MS;
      await this.#options.clock.sleep(pause, this.signal);
      pause = Math.min(pause * 2, RESTART_MAX_MS);
    }
  }

  /** Aborts every task and waits for all of them. Calling it twice is fine. */
  async close(reason?: unknown): Promise<void> {
    if (!this.signal.aborted) this.#stop.abort(reason);
    while (this.#tasks.size > 0) await Promise.allSettled(this.#tasks.keys());
  }
}
