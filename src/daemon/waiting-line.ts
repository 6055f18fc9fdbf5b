// Waiting line: so many at a time, first come first served; with shares, among the lines of several repositories.

import type { Share, SlotShares } from './slot-shares.ts';

export type WaitingLineOptions = {
  /** How many at a time. */
  readonly most: () => number;
  readonly shares?: SlotShares | undefined;
};

type Waiter<T> = { readonly of: T; readonly admit: () => void };

export class WaitingLine<T> {
  readonly #most: () => number;
  readonly #share: Share | undefined;
  #admitted = 0;
  readonly #waiters: Waiter<T>[] = [];

  constructor({ most, shares }: WaitingLineOptions) {
    this.#most = most;
    this.#share = shares?.join({ held: () => this.#admitted, spentOn: () => 0, wake: () => this.#look() });
  }

  get waiting(): ReadonlySet<T> {
    return new Set(this.#waiters.map(({ of }) => of));
  }

  /** Gives the way out, which works once. Rejects when it is aborted. @param onWait called when it has to wait */
  async enter(of: T, signal: AbortSignal, onWait?: () => void): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#waiters.length > 0 || this.#free <= 0) await this.#admission(of, signal, onWait);
    else this.#admitted += 1;
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      this.#admitted -= 1;
      this.#look();
      this.#share?.freed();
    };
  }

  /** Nobody enters any more. */
  leave(): void {
    this.#share?.leave();
  }

  get #free(): number {
    const own = this.#most() - this.#admitted;
    return this.#share === undefined ? own : Math.min(own, this.#share.free());
  }

  #admission(of: T, signal: AbortSignal, onWait?: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        this.#share?.wants(this.#waiters.length);
        reject(signal.reason);
      };
      const waiter: Waiter<T> = {
        of,
        admit: () => {
          signal.removeEventListener('abort', abort);
          this.#admitted += 1;
          resolve();
        },
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#waiters.push(waiter);
      this.#share?.wants(this.#waiters.length);
      onWait?.();
    });
  }

  #look(): void {
    while (this.#free > 0) {
      const first = this.#waiters.shift();
      if (first === undefined) return;
      first.admit();
      this.#share?.wants(this.#waiters.length);
    }
  }
}
