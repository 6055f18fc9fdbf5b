// Timers of a library that offers no way to end them: those that come of its calls can be cleared from here.

import { AsyncLocalStorage, createHook } from 'node:async_hooks';

export class HeldTimers {
  readonly #inside = new AsyncLocalStorage<true>();
  readonly #timers = new Set<NodeJS.Timeout>();
  /** Calls that are not over. Between them nothing is watched. */
  #calls = 0;
  readonly #hook = createHook({
    init: (_id, type, _trigger, timer) => {
      if (type === 'Timeout' && this.#inside.getStore() === true) this.#timers.add(timer as NodeJS.Timeout);
    },
  });

  /** @param call gets what it calls once when it is over */
  run(call: (over: () => void) => void): void {
    this.#calls += 1;
    this.#hook.enable();
    this.#inside.run(true, () => call(() => this.#over()));
  }

  #over(): void {
    this.#calls -= 1;
    if (this.#calls > 0) return;
    this.#hook.disable();
    this.#timers.clear();
  }

  /** What waits for one of these waits for ever, and holds no process. */
  clear(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }
}
