// The end of a log, whatever its size: kept while it streams, then made readable.

import { stripVTControlCharacters } from 'node:util';

/** Control and format characters, and separators; the zero-width joiner, line breaks and tabs stay. */
const UNSEEN = /(?![\u200d\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu;
/** The time that GitHub Actions puts before each line. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z ?/gm;

/** The last bytes of a stream, at least `least` of them where it has so many. */
export class StreamEnd {
  readonly #least: number;
  readonly #chunks: Uint8Array[] = [];
  #size = 0;
  #isCut = false;

  constructor(least: number) {
    this.#least = least;
  }

  /** Bytes that are held now: less than `least` and one chunk more. */
  get size(): number {
    return this.#size;
  }

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    for (let [first] = this.#chunks; first && this.#size - first.length >= this.#least; [first] = this.#chunks) {
      this.#chunks.shift();
      this.#size -= first.length;
      this.#isCut = true;
    }
  }

  /** Where the beginning was dropped, it begins at a line: half a line may begin within a character. */
  get text(): string {
    const text = Buffer.concat(this.#chunks).toString('utf8');
    return this.#isCut ? text.slice(text.indexOf('\n') + 1) : text;
  }
}

/** The last `most` characters of what a person would see of a log. */
export function readableEnd(log: string, most: number): string {
  const text = stripVTControlCharacters(log)
    .replaceAll(/\r\n/g, '\n')
    .replaceAll(UNSEEN, '')
    .replaceAll(TIME, '')
    .trimEnd();
  const end = text.slice(-most);
  // The second half of a pair is no character.
  return /^[\udc00-\udfff]/.test(end) ? end.slice(1) : end;
}
