// A team's log on disk, continued in a new file when it has grown.

import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renameExclusive } from '../../base/files/create-exclusive.ts';
import { syncDirectory } from '../../base/files/sync-directory.ts';
import { lazyCrypto } from '../../base/lazy-crypto.ts';
import { BASE_CODES } from '../../base/rules/base-codes.ts';
import { type Refusal, textOf } from '../../base/rules/codes.ts';
import { failure, messageOf, ToolError } from '../../base/rules/errors.ts';
import type { Stored } from '../../base/rules/stored-record.ts';
import type { Appended, TeamLog } from '../ports.ts';
import { LOG_CODES } from '../rules/codes/log-codes.ts';
import { TeamFold } from '../rules/log/fold.ts';
import type { TeamRecord } from '../rules/log/record.ts';
import { serializeTeam } from '../rules/log/snapshot.ts';
import type { TeamState } from '../rules/log/state.ts';
import { type JudgedRecord, lastFileNumber, logFile, TeamFile } from './team-file.ts';

const MAX_BYTES = 1024 * 1024;
/** So often, and so many milliseconds each time, the next file is waited for that somebody else is to make. */
const PATIENCE_TRIES = 50;
const PATIENCE_MS = 2;
/** What a log comes to that nobody has begun. */
const NOTHING = new TeamFold();
/** What is never changed, to wait on. */
const SLEEPER = new Int32Array(new SharedArrayBuffer(4));

export type TeamLogOptions = {
  readonly directory: string;
  readonly now: () => number;
  /** The log is continued in a new file when it is this long and four times as long as its snapshot. */
  readonly maxBytes?: number;
  /** False: a log that is not there is an error, and is not begun. */
  readonly create?: boolean;
  /** Called with each record that counts or does not, in the order of the file. */
  readonly onRecord?: (record: Stored<TeamRecord>, refused: Refusal | null) => void;
};

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/** One opened log of a team. */
export class FileTeamLog implements TeamLog {
  readonly #options: TeamLogOptions;
  /** undefined: nobody has begun the log. The first record does, and is whole when the file has its name. */
  #file: TeamFile | undefined;
  /** The number of the file whose name is known to be on the disk. */
  #named = 0;
  /** Whether it is up to this one to make the next file. */
  #isContinuing = false;

  constructor(options: TeamLogOptions) {
    this.#options = options;
    const last = lastFileNumber(options.directory);
    if (last === undefined && options.create !== false) return;
    this.#file = this.#open(last ?? 1);
    try {
      this.#follow(this.#file, false);
    } catch (error) {
      void this.#file.close();
      throw error;
    }
  }

  get state(): TeamState {
    return this.#file?.state ?? NOTHING.state;
  }

  get directory(): string {
    return this.#options.directory;
  }

  /** How many lines of the file are not whole and do not count. */
  get tornLines(): number {
    return this.#file?.incomplete ?? 0;
  }

  #open(number: number, draft?: string): TeamFile {
    const { directory, now, onRecord } = this.#options;
    return new TeamFile({ directory, number, now, onRecord, ...(draft === undefined ? {} : { draft }) });
  }

  /** Takes in what others have written since. Writes nothing. */
  refresh(): void {
    const file = this.#file ?? this.#begunByOthers();
    file?.readOn();
    if (file !== undefined) this.#follow(this.#inPlace(file), false);
  }

  /**
   * The file of a team that goes on, put back where somebody has removed it, as `git clean -fdx` does: what is appended to a file
   * without a name nobody else reads. A log that was put away with its team stays there.
   */
  #inPlace(file: TeamFile): TeamFile {
    if (!file.isGone) return file;
    file.readOn();
    // What follows on it may say that the team was deleted.
    if (file.state.session === 'deleted' || file.state.continuedIn !== null) return file;
    const { directory } = this.#options;
    if (file.number > 1) throw failure(LOG_CODES.team_log_removed, { path: file.path });
    const draft = join(directory, `${logFile(1)}.${lazyCrypto().randomBytes(6).toString('hex')}.tmp`);
    try {
      mkdirSync(directory, { recursive: true });
      file.copyTo(draft);
      renameExclusive(draft, file.path);
    } catch (error) {
      // Somebody else has put it back.
      if (file.isGone)
        throw failure(LOG_CODES.team_log_removed, { path: file.path, said: messageOf(error) }, { cause: error });
    } finally {
      rmSync(draft, { force: true });
    }
    this.#file = this.#open(1);
    void file.close();
    return this.#file;
  }

  #begunByOthers(): TeamFile | undefined {
    const last = lastFileNumber(this.#options.directory);
    this.#file = last === undefined ? undefined : this.#open(last);
    return this.#file;
  }

  /** Begins the log with its first record; undefined: somebody else has begun it. What does not count begins none. */
  #first(record: TeamRecord): JudgedRecord | undefined {
    const { directory } = this.#options;
    const draft = join(directory, `${logFile(1)}.${lazyCrypto().randomBytes(6).toString('hex')}.tmp`);
    let file: TeamFile | undefined;
    try {
      file = this.#open(1, draft);
      const judged = file.append(record);
      if (judged.refused === null) {
        file.flush();
        file.settle();
        this.#file = file;
      }
      return judged;
    } catch (error) {
      if (this.#begunByOthers() !== undefined) return undefined;
      throw error instanceof ToolError
        ? error
        : failure(BASE_CODES.state_unwritable, { path: directory, said: messageOf(error) }, { cause: error });
    } finally {
      if (this.#file !== file) void file?.close();
      rmSync(draft, { force: true });
    }
  }

  /** Goes on in the file that continues this one; where there is none yet, only to make it. */
  #follow(from: TeamFile, isWriting: boolean): TeamFile {
    let current = from;
    for (let next = current.state.continuedIn; next !== null; next = current.state.continuedIn) {
      const number = current.number + 1;
      if (next !== logFile(number))
        throw failure(LOG_CODES.team_log_order_broken, { path: current.path, next, expected: logFile(number) });
      const path = join(this.#options.directory, next);
      const isThere = existsSync(path) || (isWriting && this.#awaits(path));
      if (!isThere && !isWriting && current.isInPlace) return current;
      const made = isThere ? undefined : this.#begin(current, path);
      const file = this.#open(number);
      // With the old file where it was, the new one was opened beside it: a directory goes away whole.
      if (!current.isInPlace) {
        void file.close();
        if (made !== undefined && inodeOf(path) === made) rmSync(path, { force: true });
        throw this.#away();
      }
      void current.close();
      this.#file = file;
      current = file;
    }
    return current;
  }

  /** Whether somebody makes the next file meanwhile: all who are in the way of its end would make the same at once. */
  #awaits(path: string): boolean {
    if (this.#isContinuing) return false;
    for (let tries = 0; tries < PATIENCE_TRIES; tries++) {
      Atomics.wait(SLEEPER, 0, 0, PATIENCE_MS);
      if (existsSync(path)) return true;
    }
    return false;
  }

  #away(): ToolError {
    return failure(LOG_CODES.team_log_put_away, { directory: this.#options.directory });
  }

  /** Makes the next file, unless somebody has: whoever folded as far would make the same. Gives its inode. */
  #begin(before: TeamFile, path: string): number | undefined {
    if (!before.isInPlace) throw this.#away();
    const state = serializeTeam({ ...before.state, continuedIn: null });
    const at = this.#options.now();
    const id = `snapshot-${before.number + 1}`;
    const line = `\n${JSON.stringify({ type: 'snapshot', state, v: 1, id, at })}\n`;
    const temporary = `${path}.${lazyCrypto().randomBytes(6).toString('hex')}.tmp`;
    try {
      writeFileSync(temporary, line, { mode: 0o600, flag: 'wx', flush: true });
      const inode = inodeOf(temporary);
      renameExclusive(temporary, path);
      return inode;
    } catch (error) {
      if (existsSync(path)) return undefined;
      throw failure(BASE_CODES.state_unwritable, { path, said: messageOf(error) }, { cause: error });
    } finally {
      rmSync(temporary, { force: true });
    }
  }

  async append(record: TeamRecord, options?: { readonly flush?: boolean }): Promise<Appended> {
    for (;;) {
      const judged = this.#file === undefined ? this.#first(record) : this.#next(this.#file, record);
      if (judged === undefined || judged.isBehind) continue;
      const { id, at, refused } = judged;
      const appended = { id, at, refused, refusal: refused === null ? null : textOf(refused) };
      if (refused !== null || this.#file === undefined) return appended;
      if (options?.flush !== false) this.#flush(this.#file);
      this.#continueWhenLong(this.#file);
      return appended;
    }
  }

  #next(file: TeamFile, record: TeamRecord): JudgedRecord {
    return this.#follow(this.#inPlace(file), true).append(record);
  }

  /** The file's name first: others may have made it, and have come no further. */
  #flush(file: TeamFile): void {
    if (this.#named !== file.number) {
      // Whoever put the directory away meanwhile has its name on the disk, or will.
      if (existsSync(this.#options.directory)) syncDirectory(this.#options.directory);
      this.#named = file.number;
    }
    file.flush();
  }

  #continueWhenLong(file: TeamFile): void {
    const limit = Math.max(this.#options.maxBytes ?? MAX_BYTES, 4 * file.snapshotBytes);
    if (file.size <= limit || this.state.session === 'deleted') return;
    try {
      const { isBehind } = file.append({ type: 'continued', next: logFile(file.number + 1) });
      this.#isContinuing = !isBehind;
      this.#follow(file, true);
    } catch {
      // The record before stands, and its author is told so; what is in the way meets the next.
    }
    this.#isContinuing = false;
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}
