// An append-only log of JSON records, one a line, safe for many writers: each record is one O_APPEND write that begins
// and ends with a newline, so that a torn record spoils no other.

import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  openSync,
  readSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { BASE_CODES } from '../rules/base-codes.ts';
import { failure, messageOf, type ToolError } from '../rules/errors.ts';
import type { Stored } from '../rules/stored-record.ts';
import { isObject } from '../rules/values.ts';
import { renameExclusive } from './create-exclusive.ts';
import { type LineRange, LineReader } from './line-reader.ts';

const VERSION = 1;
/** What ends a record, whether the newline behind it stands or not. */
const BRACE = 0x7d;

export type EventLogOptions<R> = {
  readonly path: string;
  /** undefined: not a record of this kind, which is an error, since the version is known. */
  readonly decode: (value: unknown) => R | undefined;
  readonly now: () => number;
  /** Called for each record in the order of the file, the own ones included. `length`: of its JSON. */
  readonly onRecord: (record: Stored<R>, length: number) => void;
  /** Called with the JSON of each record of its own, once it stands in the file and was handed to `onRecord`. */
  readonly onAppended?: (text: string) => void;
  /** So many bytes at the beginning are known already and are not read. */
  readonly skip?: number;
  /** False: a log that is not there is an error, and is not begun. */
  readonly create?: boolean;
};

function isStored<R extends object>(record: R): record is Stored<R> {
  return (
    'v' in record &&
    record.v === VERSION &&
    'id' in record &&
    typeof record.id === 'string' &&
    'at' in record &&
    typeof record.at === 'number'
  );
}

/** No secret: it only has to be nobody else's, and cryptography takes long to load. */
function unlikeAnyOther(): string {
  const random = () => Math.random().toString(36).slice(2, 10);
  return `${process.pid.toString(36)}-${random()}${random()}`;
}

/** undefined when the text is no JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One open log. `append` is synchronous: when it returns, the record stands in the file and has been folded. */
export class EventLog<R extends { readonly type: string }> {
  readonly #options: EventLogOptions<R>;
  readonly #torn: LineRange[] = [];
  readonly #fd: number;
  readonly #lines: LineReader;
  #path: string;
  /** The record that is being appended, until it is met in the file; what was checked of it is not read again. */
  #own: { readonly text: string; readonly record: Stored<R> } | undefined;
  #flushing: Promise<void> | undefined;
  #flushAgain: Promise<void> | undefined;
  #closed = false;
  /** Why the file cannot be read beyond what was read: a state without the rest would be a wrong one. */
  #failure: unknown;
  readonly #onLine = (line: string): void => this.#line(line, undefined);
  /** Tells the records of this opening from all others. */
  readonly #writer = unlikeAnyOther();
  #count = 0;

  constructor(options: EventLogOptions<R>) {
    this.#options = options;
    this.#path = options.path;
    try {
      const flags = constants.O_RDWR | constants.O_APPEND;
      this.#fd = openSync(options.path, options.create === false ? flags : flags | constants.O_CREAT, 0o600);
    } catch (error) {
      throw failure(BASE_CODES.log_not_opened, { path: options.path, said: messageOf(error) }, { cause: error });
    }
    this.#lines = new LineReader(this.#fd, options.skip ?? 0);
    try {
      this.readOn();
    } catch (error) {
      closeSync(this.#fd);
      throw error;
    }
  }

  #nextId(): string {
    this.#count += 1;
    return `${this.#writer}.${this.#count}`;
  }

  /** Lines that were skipped because they are not whole. */
  get torn(): readonly LineRange[] {
    return this.#torn;
  }

  /** How many lines are not whole, one included that the file ends in the middle of. */
  get incomplete(): number {
    return this.#torn.length + (this.#lines.hasRest ? 1 : 0);
  }

  /** Bytes of the file that have been read. */
  get size(): number {
    return this.#lines.offset;
  }

  /** A closed descriptor may be another file's by now. */
  #mustBeOpen(): void {
    if (this.#closed) throw failure(BASE_CODES.log_closed, { path: this.#path });
  }

  /** Whether nothing has the path any more. */
  get isGone(): boolean {
    return statSync(this.#path, { throwIfNoEntry: false }) === undefined;
  }

  /** Writes what the open file holds into a new one. @param path where nothing is */
  copyTo(path: string): void {
    this.#mustBeOpen();
    const held = Buffer.alloc(fstatSync(this.#fd).size);
    for (let at = 0, count = -1; at < held.length && count !== 0; at += count)
      count = readSync(this.#fd, held, at, held.length - at, at);
    writeFileSync(path, held, { mode: 0o600, flag: 'wx', flush: true });
  }

  /** Whether the path still leads to the file that is open, and not to another or to none. */
  get isInPlace(): boolean {
    this.#mustBeOpen();
    const there = statSync(this.#path, { throwIfNoEntry: false });
    const here = fstatSync(this.#fd);
    return there?.ino === here.ino && there.dev === here.dev;
  }

  /** Gives the file another name. Throws where something has it already. */
  rename(path: string): void {
    renameExclusive(this.#path, path);
    this.#path = path;
  }

  /**
   * Appends one record with one write and reads on to it. Throws when the record is not one that could be read back, and
   * when the disk does not take it; nothing counts then.
   */
  append(record: R): Stored<R> {
    this.#mustBeOpen();
    if (this.#failure !== undefined) throw this.#failure;
    const text = JSON.stringify({ ...record, v: VERSION, id: this.#nextId(), at: this.#options.now() });
    // As it will be read: a number that is none is null in JSON.
    const read = this.#decode(JSON.parse(text));
    if (read === undefined) throw failure(BASE_CODES.record_not_written, { text: text.slice(0, 200) });
    this.#write(Buffer.from(`\n${text}\n`));
    this.#own = { text, record: read };
    this.#read(() => this.#own === undefined);
    if (this.#own !== undefined) this.#fail(this.#shorter());
    this.#options.onAppended?.(text);
    return read;
  }

  #write(line: Buffer): void {
    const path = this.#path;
    let written: number;
    try {
      written = writeSync(this.#fd, line);
    } catch (error) {
      throw failure(BASE_CODES.log_not_written, { path, said: messageOf(error) }, { cause: error });
    }
    // Without its last newline a record counts all the same.
    if (written < line.length - 1) throw failure(BASE_CODES.state_disk_full, { path, written, size: line.length });
  }

  /** Reads what was appended since, by whomever, and hands each record on. */
  readOn(): void {
    this.#mustBeOpen();
    if (this.#failure !== undefined) throw this.#failure;
    if (fstatSync(this.#fd).size < this.#lines.offset) this.#fail(this.#shorter());
    this.#read();
  }

  #read(isEnough?: () => boolean): void {
    this.#lines.read(this.#onLine, isEnough);
    // No beginning of an object's JSON is one itself: what is an object at the end of the file is whole.
    if (!this.#lines.hasRest) return;
    const { rest } = this.#lines;
    if (rest.at(-1) !== BRACE || !isObject(parse(rest.toString('utf8')))) return;
    const range = { offset: this.#lines.offset - rest.length, bytes: rest.length };
    this.#lines.dropRest();
    this.#line(rest.toString('utf8'), range);
  }

  #shorter(): ToolError {
    return failure(BASE_CODES.log_cut, { path: this.#path, bytes: this.#lines.offset });
  }

  #fail(error: unknown): never {
    this.#failure = error;
    throw error;
  }

  #decode(value: unknown): Stored<R> | undefined {
    const record = this.#options.decode(value);
    if (record === undefined || !isObject(value)) return undefined;
    const { v, id, at } = value;
    if (v !== VERSION || typeof id !== 'string' || typeof at !== 'number') return undefined;
    return isStored(record) ? record : { ...record, v, id, at };
  }

  /** @param range undefined: that of the line being read */
  #line(line: string, range: LineRange | undefined): void {
    const own = this.#own?.text === line ? this.#own.record : undefined;
    if (own !== undefined) this.#own = undefined;
    const value = own ?? parse(line);
    if (!isObject(value)) {
      this.#torn.push(range ?? this.#lines.range);
      return;
    }
    try {
      this.#options.onRecord(own ?? this.#stored(value, line, range), line.length);
    } catch (error) {
      this.#fail(error);
    }
  }

  #stored(value: Record<string, unknown>, line: string, range: LineRange | undefined): Stored<R> {
    const path = this.#path;
    const { v } = value;
    if (typeof v === 'number' && v > VERSION)
      throw failure(BASE_CODES.record_version_newer, { path, version: v, supported: VERSION });
    const record = this.#decode(value);
    if (record !== undefined) return record;
    const { offset } = range ?? this.#lines.range;
    throw failure(BASE_CODES.record_foreign, { path, offset, text: line.slice(0, 120) });
  }

  /** Resolves when all that was appended before the call is on the disk. Calls that come together share one flush. */
  flush(): Promise<void> {
    this.#mustBeOpen();
    return this.#flush();
  }

  #flush(): Promise<void> {
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
        return this.#flush();
      });
    return this.#flushAgain;
  }

  /** The same at once, for who has nothing else to do meanwhile: handing it to another thread costs as much again. */
  flushNow(): void {
    this.#mustBeOpen();
    try {
      fdatasyncSync(this.#fd);
    } catch (error) {
      throw this.#unflushed(error);
    }
  }

  #sync(): Promise<void> {
    return new Promise((resolve, reject) => {
      fdatasync(this.#fd, (error) => {
        if (error === null) resolve();
        else reject(this.#unflushed(error));
      });
    });
  }

  #unflushed(error: unknown): ToolError {
    return failure(BASE_CODES.log_not_written, { path: this.#path, said: messageOf(error) }, { cause: error });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    // One more may begin as one ends.
    while (this.#flushing !== undefined || this.#flushAgain !== undefined)
      await (this.#flushAgain ?? this.#flushing)?.catch(() => undefined);
    closeSync(this.#fd);
  }
}
