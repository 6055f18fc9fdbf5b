// Queue that runs one piece of work at a time, in the order of the calls.

export class SerialQueue {
  #last: Promise<void> = Promise.resolve();

  /** Gives what the work gives, once all that came before is over. */
  run(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
