// Listeners of one event.

export class Listeners {
  readonly #all = new Set<() => void>();

  /** Gives the way to end it. */
  readonly add = (listener: () => void): (() => void) => {
    this.#all.add(listener);
    return () => this.#all.delete(listener);
  };

  tell(): void {
    for (const listener of this.#all) listener();
  }
}
