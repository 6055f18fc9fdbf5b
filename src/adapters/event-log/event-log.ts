// An append-only log of JSON records, one a line, safe for many writers: each record is one O_APPEND write that begins
// and ends with a newline, so that a torn record spoils no other.

import { randomBytes } from 'node:crypto';
import { closeSync, constants, fdatasync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { messageOf, ToolError } from '../../domain/errors.ts';
import type { Stored } from '../../domain/log.ts';

const VERSION = 1;
const NEWLINE = 0x0a;
const CHUNK_BYTES = 256 * 1024;

/** A line that does not count, and why. `offset`: of its first byte in the file. */
export type TornLine = { readonly offset: number; readonly bytes: number };

export type EventLogOptions<R> = {
  readonly path: string;
  /** undefined: not a record of this kind, which is an error, since the version is known. */
  readonly decode: (value: unknown) => R | undefined;
  readonly now: () => number;
  /** Called for each record in the order of the file, the own ones included. */
  readonly onRecord: (record: Stored<R>) => void;
  /** So many bytes at the beginning are known already and are not read. */
  readonly skip?: number;
  /** False: a log that is not there is an error, and is not begun. */
  readonly create?: boolean;
};

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One open log. `append` is synchronous: when it returns, the record stands in the file and has been folded. */
export class EventLog<R extends { readonly type: string }> {
  readonly #options: EventLogOptions<R>;
  readonly #torn: TornLine[] = [];
  #fd: number;
  #offset = 0;
  #rest: Buffer = Buffer.alloc(0);
  #flushing: Promise<void> | undefined;
  #flushAgain: Promise<void> | undefined;
  #closed = false;
  /** Tells the records of this opening from all others. */
  readonly #writer = randomBytes(9).toString('base64url');
  #count = 0;

  constructor(options: EventLogOptions<R>) {
    this.#options = options;
    try {
      const flags = constants.O_RDWR | constants.O_APPEND;
      this.#fd = openSync(options.path, options.create === false ? flags : flags | constants.O_CREAT, 0o600);
    } catch (error) {
      throw new ToolError('state_unusable', `cannot open ${options.path}: ${messageOf(error)}`, { cause: error });
    }
    this.#offset = options.skip ?? 0;
    this.readOn();
  }

  #nextId(): string {
    this.#count += 1;
    return `${this.#writer}.${this.#count}`;
  }

  /** Lines that were skipped because they are not whole. */
  get torn(): readonly TornLine[] {
    return this.#torn;
  }

  /** How many lines are not whole, one included that the file ends in the middle of. */
  get incomplete(): number {
    return this.#torn.length + (this.#rest.length === 0 ? 0 : 1);
  }

  /** Bytes of the file that have been read. */
  get size(): number {
    return this.#offset;
  }

  /**
   * Appends one record with one write and reads on to it. Throws when the record is not one that could be read back, and
   * when the disk does not take it; nothing counts then.
   */
  append(record: R): Stored<R> {
    const stored: Stored<R> = {
      ...record,
      v: VERSION,
      id: this.#nextId(),
      at: this.#options.now(),
    };
    const text = JSON.stringify(stored);
    // As it will be read: a number that is none is null in JSON.
    const decoded = this.#options.decode(JSON.parse(text));
    if (decoded === undefined)
      throw new ToolError('internal', `not a record that can be read back; nothing was written: ${text.slice(0, 200)}`);
    const line = Buffer.from(`\n${text}\n`);
    let written: number;
    try {
      written = writeSync(this.#fd, line);
    } catch (error) {
      throw new ToolError('state_unusable', `cannot write to ${this.#options.path}: ${messageOf(error)}`, {
        cause: error,
      });
    }
    if (written !== line.length) {
      throw new ToolError(
        'state_unusable',
        `cannot write to ${this.#options.path}: the disk took ${written} of ${line.length} bytes; is it full?`,
      );
    }
    // With nobody else's record before it, it need not be read again.
    if (this.#rest.length === 0 && fstatSync(this.#fd).size === this.#offset + line.length) {
      this.#offset += line.length;
      this.#options.onRecord({ ...decoded, v: VERSION, id: stored.id, at: stored.at });
    } else this.readOn();
    return stored;
  }

  /** Reads what was appended since, by whomever, and hands each record on. */
  readOn(): void {
    const size = fstatSync(this.#fd).size;
    while (this.#offset < size) {
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - this.#offset));
      const count = readSync(this.#fd, chunk, 0, chunk.length, this.#offset);
      if (count === 0) return;
      this.#offset += count;
      this.#split(chunk.subarray(0, count));
    }
  }

  #split(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE, start); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      if (end > start) this.#line(bytes.subarray(start, end), this.#offset - bytes.length + start);
      start = end + 1;
    }
    this.#rest = start === bytes.length ? Buffer.alloc(0) : Buffer.from(bytes.subarray(start));
  }

  #line(line: Buffer, offset: number): void {
    let value: unknown;
    try {
      value = JSON.parse(line.toString('utf8'));
    } catch {
      this.#torn.push({ offset, bytes: line.length });
      return;
    }
    const { path } = this.#options;
    if (!isObject(value)) {
      this.#torn.push({ offset, bytes: line.length });
      return;
    }
    const { v, id, at } = value;
    if (typeof v === 'number' && v > VERSION) {
      throw new ToolError(
        'state_unusable',
        `${path} holds a record of version ${v}; this program reads version ${VERSION}: install the newer one`,
      );
    }
    const record = this.#options.decode(value);
    if (record === undefined || v !== VERSION || typeof id !== 'string' || typeof at !== 'number') {
      throw new ToolError(
        'state_unusable',
        `${path} holds a record at byte ${offset} that this program did not write: ${line.toString('utf8', 0, 120)}`,
      );
    }
    this.#options.onRecord({ ...record, v: VERSION, id, at });
  }

  /** Resolves when all that was appended before the call is on the disk. Calls that come together share one flush. */
  flush(): Promise<void> {
    if (this.#flushing === undefined) {
      this.#flushing = this.#sync().finally(() => {
        this.#flushing = undefined;
      });
      return this.#flushing;
    }
    // The flush under way may have begun before the last record: one more after it covers every call made meanwhile.
    this.#flushAgain ??= this.#flushing
      .catch(() => undefined)
      .then(() => {
        this.#flushAgain = undefined;
        return this.flush();
      });
    return this.#flushAgain;
  }

  #sync(): Promise<void> {
    return new Promise((resolve, reject) => {
      fdatasync(this.#fd, (error) => {
        if (error === null) resolve();
        else
          reject(
            new ToolError('state_unusable', `cannot flush ${this.#options.path}: ${messageOf(error)}`, {
              cause: error,
            }),
          );
      });
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await (this.#flushAgain ?? this.#flushing)?.catch(() => undefined);
    closeSync(this.#fd);
  }
}
