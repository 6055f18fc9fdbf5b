// A limit that counts from what was heard last.

export class SilenceLimit {
  readonly #ms: number;
  readonly #onSilent: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** It runs at once. */
  constructor(ms: number, onSilent: () => void) {
    this.#ms = ms;
    this.#onSilent = onSilent;
    this.heard();
  }

  /** Something came: it counts from here. */
  heard(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onSilent, this.#ms);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
