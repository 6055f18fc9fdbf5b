// The daemon's journal: an event log with the state folded from it, continued in a new file when it has grown.

import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { linkExclusive } from '../../base/files/create-exclusive.ts';
import { EventLog } from '../../base/files/event-log.ts';
import { syncDirectory } from '../../base/files/sync-directory.ts';
import { BASE_CODES } from '../../base/rules/base-codes.ts';
import { failure } from '../../base/rules/errors.ts';
import type { Stored } from '../../base/rules/stored-record.ts';
import type { Journal } from '../ports.ts';
import { fold } from '../rules/fold.ts';
import type { JournalRecord } from '../rules/record.ts';
import { freezeState } from '../rules/snapshot.ts';
import type { DaemonState } from '../rules/state.ts';
import { EMPTY_STATE } from '../rules/state.ts';
import { decodeRecord, decodeState } from './journal-decoder.ts';
import { Loading } from './journal-loading.ts';

export type JournalOptions = {
  readonly directory: string;
  readonly now: () => number;
  /** The log is continued in a new file when it is this long and four times as long as its snapshot. */
  readonly maxBytes?: number;
  /** Is told of every line that this process writes, at once and in order. */
  readonly follower?: JournalFollower | undefined;
};

export type JournalFollower = {
  readonly appended: (line: string) => void;
  /** The line, a snapshot, stands in the place of all before it. */
  readonly continued: (line: string) => void;
};

/** Name of the journal's file in the state directory. */
export const JOURNAL_FILE = 'journal.jsonl';
/** The one before its last continuation. */
export const ARCHIVE_FILE = 'journal.1.jsonl';

const MAX_BYTES = 1024 * 1024;

/** Opens `<directory>/journal.jsonl`; the file before the last continuation stays as `journal.1.jsonl`. */
export class FileJournal implements Journal {
  readonly #options: JournalOptions;
  readonly #path: string;
  #log: EventLog<JournalRecord>;
  #state: DaemonState = EMPTY_STATE;
  #loading: Loading | undefined;
  #snapshotBytes = 0;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#path = join(options.directory, JOURNAL_FILE);
    const loading = new Loading();
    this.#loading = loading;
    this.#log = this.#open(0);
    this.#state = loading.state;
    this.#loading = undefined;
  }

  get state(): DaemonState {
    return this.#state;
  }

  /** How many lines of the file were not whole and did not count. */
  get tornLines(): number {
    return this.#log.incomplete;
  }

  #open(skip: number): EventLog<JournalRecord> {
    return new EventLog<JournalRecord>({
      path: this.#path,
      decode: decodeRecord,
      now: this.#options.now,
      onRecord: (record) => this.#take(record),
      onAppended: (line) => this.#options.follower?.appended(line),
      skip,
    });
  }

  #take(record: Stored<JournalRecord>): void {
    if (record.type === 'snapshot') {
      const state = decodeState(record.state);
      if (state === undefined)
        throw failure(BASE_CODES.log_damaged, {
          path: this.#path,
          offset: 0,
          why: 'it begins with a snapshot that this program cannot read',
        });
      if (this.#loading === undefined) this.#state = state;
      else this.#loading.start(state);
    } else if (this.#loading === undefined) this.#state = fold(this.#state, record);
    else this.#loading.take(record);
  }

  async append(record: JournalRecord): Promise<Stored<JournalRecord>> {
    const stored = this.#log.append(record);
    const flushed = this.#log.flush();
    if (this.#log.size > Math.max(this.#options.maxBytes ?? MAX_BYTES, 4 * this.#snapshotBytes)) this.continue();
    await flushed;
    return stored;
  }

  /** Begins a new file with a snapshot. At every moment of this the journal's file is a whole one: the old, then the new. */
  continue(): void {
    const next = `${this.#path}.next`;
    rmSync(next, { force: true });
    const snapshot = {
      type: 'snapshot',
      state: freezeState(this.#state),
      v: 1,
      id: `snapshot-${this.#options.now()}`,
      at: this.#options.now(),
    };
    const text = JSON.stringify(snapshot);
    const line = Buffer.from(`\n${text}\n`);
    const fd = openSync(next, 'wx', 0o600);
    try {
      const written = writeSync(fd, line);
      if (written !== line.length)
        throw failure(BASE_CODES.state_disk_full, { path: next, written, size: line.length });
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    const archive = join(this.#options.directory, ARCHIVE_FILE);
    const link = `${archive}.link`;
    rmSync(link, { force: true });
    if (existsSync(this.#path)) linkExclusive(this.#path, link);
    renameSync(link, archive);
    renameSync(next, this.#path);
    syncDirectory(dirname(this.#path));
    const old = this.#log;
    // The state is the one just written.
    this.#log = this.#open(line.length);
    this.#snapshotBytes = line.length;
    void old.close();
    this.#options.follower?.continued(text);
  }

  close(): Promise<void> {
    return this.#log.close();
  }
}
