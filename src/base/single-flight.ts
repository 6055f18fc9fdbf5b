// One run shared by all callers; a caller that stops waiting does not end it for the others.

export class SingleFlight<T> {
  readonly #work: (signal: AbortSignal) => Promise<T>;
  #running: { readonly end: AbortController; readonly done: Promise<T>; waiting: number } | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(work: (signal: AbortSignal) => Promise<T>) {
    this.#work = work;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Joins the work under way, or begins it. It ends early when nobody waits for it any more. */
  async join(signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const running = this.#running ?? this.#begin();
    running.waiting += 1;
    let giveUp: (() => void) | undefined;
    const gaveUp = new Promise<never>((_, reject) => {
      giveUp = () => {
        running.waiting -= 1;
        if (running.waiting > 0) {
          reject(signal.reason);
          return;
        }
        // The last one sees the work end: nothing of it is left running.
        if (this.#running === running) this.#running = undefined;
        running.end.abort(signal.reason);
      };
      signal.addEventListener('abort', giveUp, { once: true });
    });
    try {
      return await Promise.race([running.done, gaveUp]);
    } finally {
      if (giveUp !== undefined) signal.removeEventListener('abort', giveUp);
    }
  }

  #begin() {
    const end = new AbortController();
    const before = this.#last;
    const done = (async () => {
      await before;
      end.signal.throwIfAborted();
      return this.#work(end.signal);
    })();
    const running = { end, done, waiting: 0 };
    this.#running = running;
    this.#last = done
      .catch(() => undefined)
      .finally(() => {
        if (this.#running === running) this.#running = undefined;
      });
    return running;
  }
}
