// The first fetch of a repository, which goes on beside the rest of its start.

import { setImmediate } from 'node:timers/promises';
import { systemClock } from '../base/clock.ts';
import type { Mirror } from '../daemon/workspaces/mirror/mirror.ts';

/** A first fetch that takes longer makes room for another. */
const SLOW_MS = 60_000;

export class FirstFetch {
  readonly #secret: () => Promise<string>;
  /** Resolves when it is over, however it ended. */
  readonly over: Promise<void>;
  readonly #started: Promise<void>;
  #sayStarted: () => void = () => undefined;
  #sayOver: () => void = () => undefined;

  constructor(secret: () => Promise<string>) {
    this.#secret = secret;
    this.#started = new Promise((resolve) => {
      this.#sayStarted = resolve;
    });
    this.over = new Promise((resolve) => {
      this.#sayOver = resolve;
    });
  }

  /** For git with the remote, which asks for it when it is about to start. */
  secret(): Promise<string> {
    this.#sayStarted();
    return this.#secret();
  }

  /** @param enter waits for its turn, where there are many; gives what leaves the place to another */
  async run(
    mirror: Mirror,
    enter: (signal: AbortSignal) => Promise<() => void> | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const ended = new AbortController();
    try {
      const leave = await enter(signal);
      if (leave) void systemClock.sleep(SLOW_MS, AbortSignal.any([signal, ended.signal])).then(leave);
      await mirror.refresh(signal).catch(() => undefined);
    } finally {
      ended.abort();
      this.#sayOver();
    }
  }

  /** Resolves when git has been started, or when it is over. */
  async started(): Promise<void> {
    await Promise.race([this.#started, this.over]);
    await setImmediate();
  }
}
