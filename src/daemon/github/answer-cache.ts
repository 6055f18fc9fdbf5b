// The answers that were asked for last, so many of them.

/** An answer, with what tells whether it still holds. */
export type CachedAnswer<T> = { readonly etag: string | undefined; readonly value: T };

export function etagOf({ etag }: Readonly<Record<string, string | number | undefined>>): string | undefined {
  return typeof etag === 'string' ? etag : undefined;
}

export class AnswerCache<T> {
  readonly #most: number;
  readonly #answers = new Map<string, CachedAnswer<T>>();

  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): CachedAnswer<T> | undefined {
    return this.#answers.get(key);
  }

  set(key: string, answer: CachedAnswer<T>): void {
    this.#answers.delete(key);
    this.#answers.set(key, answer);
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= this.#most) return;
      this.#answers.delete(oldest);
    }
  }

  entries(): IterableIterator<[string, CachedAnswer<T>]> {
    return this.#answers.entries();
  }
}
