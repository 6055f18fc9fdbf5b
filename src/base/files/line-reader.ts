// Reads the lines of a file that grows, each of them once.

import { readSync } from 'node:fs';

const CHUNK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** Where a line stands in the file. `offset`: of its first byte. */
export type LineRange = { readonly offset: number; readonly bytes: number };

export class LineReader {
  readonly #fd: number;
  /** Read into again and again: whatever outlives a call is copied. */
  readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  #offset: number;
  /** The beginning of a line whose end has not been read. */
  #rest: Buffer[] = [];
  /** What is being handed on: lines, how many were before, and where they begin in the file. */
  #current: { lines: Buffer; number: number; offset: number } = { lines: Buffer.alloc(0), number: 0, offset: 0 };

  constructor(fd: number, offset: number) {
    this.#fd = fd;
    this.#offset = offset;
  }

  /** Bytes of the file that have been read. */
  get offset(): number {
    return this.#offset;
  }

  /** What stands behind the last newline. */
  get rest(): Buffer {
    return Buffer.concat(this.#rest);
  }

  get hasRest(): boolean {
    return this.#rest.length > 0;
  }

  /** Takes what stands behind the last newline for read. */
  dropRest(): void {
    this.#rest = [];
  }

  /** Where the line stands that is being handed on. */
  get range(): LineRange {
    const { lines, number, offset } = this.#current;
    let start = 0;
    for (let count = 0; count < number; count++) start = lines.indexOf(NEWLINE, start) + 1;
    return { offset: offset + start, bytes: lines.indexOf(NEWLINE, start) - start };
  }

  /** Reads to the end of the file, or to where `isEnough` says so. Empty lines are left out. */
  read(onLine: (line: string) => void, isEnough: () => boolean = () => false): void {
    while (!isEnough()) {
      const count = readSync(this.#fd, this.#chunk, 0, CHUNK_BYTES, this.#offset);
      if (count === 0) return;
      this.#offset += count;
      this.#split(this.#chunk.subarray(0, count), onLine);
    }
  }

  #split(chunk: Buffer, onLine: (line: string) => void): void {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end === 0) {
      this.#rest.push(Buffer.from(chunk));
      return;
    }
    const whole = chunk.subarray(0, end);
    const lines = this.#rest.length === 0 ? whole : Buffer.concat([...this.#rest, whole]);
    const offset = this.#offset - (chunk.length - end) - lines.length;
    this.#rest = end === chunk.length ? [] : [Buffer.from(chunk.subarray(end))];
    this.#current = { lines, number: 0, offset };
    for (const text of lines.toString('utf8').split('\n')) {
      if (text !== '') onLine(text);
      this.#current.number += 1;
    }
  }
}
