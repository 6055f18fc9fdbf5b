// Work that is done one after the other, in the order in which it is asked for.

export class SerialQueue {
  #last: Promise<void> = Promise.resolve();

  /** Gives what the work gives, once all that came before is over. */
  run(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
