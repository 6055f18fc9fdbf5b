// Batches work: items that arrive during a run are done together in the next run.

export class Batcher<T> {
  readonly #work: (items: readonly T[]) => Promise<void>;
  #waiting: readonly T[] = [];
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(work: (items: readonly T[]) => Promise<void>) {
    this.#work = work;
  }

  /** Resolves when it is done; rejects when the work on it, and on those with it, failed. */
  add(item: T): Promise<void> {
    this.#waiting = [...this.#waiting, item];
    this.#next ??= this.#run(this.#running);
    return this.#next;
  }

  async #run(before: Promise<void> | undefined): Promise<void> {
    await before?.catch(() => undefined);
    const items = this.#waiting;
    this.#waiting = [];
    this.#running = this.#next;
    this.#next = undefined;
    await this.#work(items);
  }
}
