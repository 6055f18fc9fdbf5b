// The refs of a repository that only this process changes, read once and then kept in step.

export type Refs = ReadonlyMap<string, string>;

/** Arguments of git for what `parseRefs` reads. */
export const LIST_REFS = [
  ...['for-each-ref', '--format=%(objectname) %(refname)'],
  ...['refs/heads', 'refs/tags', 'refs/toolcrew'],
];

export function parseRefs(text: string): Map<string, string> {
  const rows = text.split('\n').filter((row) => row !== '');
  return new Map(rows.map((row) => [row.slice(row.indexOf(' ') + 1), row.split(' ')[0] ?? '']));
}

export class KnownRefs {
  readonly #read: () => Promise<Refs>;
  #refs: Promise<Map<string, string>> | undefined;

  /** @param read gives every ref with its commit */
  constructor(read: () => Promise<Refs>) {
    this.#read = read;
  }

  /** All of them. What is set while they are being read is among them. */
  async all(): Promise<Refs> {
    this.#refs ??= this.#load();
    return this.#refs;
  }

  /** The repository was made just now, with these. */
  begin(refs: Refs): void {
    this.#refs = Promise.resolve(new Map(refs));
  }

  async #load(): Promise<Map<string, string>> {
    try {
      return new Map(await this.#read());
    } catch (error) {
      this.#refs = undefined;
      throw error;
    }
  }

  /** A ref was put on a commit, or, with null, taken away. */
  async set(ref: string, sha: string | null): Promise<void> {
    const refs = await this.#refs?.catch(() => undefined);
    if (sha === null) refs?.delete(ref);
    else refs?.set(ref, sha);
  }

  /** Something else may have changed them: they are read anew when they are wanted. */
  forget(): void {
    this.#refs = undefined;
  }
}
