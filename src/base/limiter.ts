// Work of which only so many pieces run at a time; the others wait in the order of the calls.

export class Limiter {
  #free: number;
  readonly #longestMs: number;
  readonly #waiting: (() => void)[] = [];

  /**
   * @param most pieces at a time
   * @param longestMs a piece that takes longer keeps nobody waiting any more
   */
  constructor(most: number, longestMs: number) {
    this.#free = most;
    this.#longestMs = longestMs;
  }

  /** Gives what the work gives. When the signal aborts, work that waits begins at once: it ends by itself. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const isCounted = signal?.aborted !== true && (await this.#turn(signal));
    let isHeld = isCounted;
    const leave = () => {
      if (isHeld) this.#next();
      isHeld = false;
    };
    const timer = isCounted ? setTimeout(leave, this.#longestMs) : undefined;
    timer?.unref();
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      leave();
    }
  }

  #next(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }

  /** False: the signal came first. */
  async #turn(signal: AbortSignal | undefined): Promise<boolean> {
    if (this.#free > 0) {
      this.#free -= 1;
      return true;
    }
    return new Promise((resolve) => {
      const begin = () => {
        signal?.removeEventListener('abort', leave);
        resolve(true);
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        resolve(false);
      };
      this.#waiting.push(begin);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }
}
