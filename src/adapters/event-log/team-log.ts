// A team's log on disk, continued in a new file when it has grown.

import { existsSync, linkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, ToolError } from '../../domain/errors.ts';
import type { Stored } from '../../domain/log.ts';
import type { TeamRecord } from '../../domain/team/record.ts';
import { freezeTeam } from '../../domain/team/snapshot.ts';
import type { TeamState } from '../../domain/team/state.ts';
import type { Appended, TeamLog } from '../../engine/ports.ts';
import { lateCrypto } from '../late-crypto.ts';
import { syncDirectory } from './sync-directory.ts';
import { lastNumber, logFile, TeamFile } from './team-file.ts';

const MAX_BYTES = 1024 * 1024;
/** So often, and so many milliseconds each time, the next file is waited for that somebody else is to make. */
const PATIENCE_TRIES = 50;
const PATIENCE_MS = 2;
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
  readonly onRecord?: (record: Stored<TeamRecord>, refusal: string | null) => void;
};

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/** One opened log of a team. */
export class FileTeamLog implements TeamLog {
  readonly #options: TeamLogOptions;
  #file: TeamFile;
  /** The number of the file whose name is known to be on the disk. */
  #named = 0;
  /** Whether it is up to this one to make the next file. */
  #isContinuing = false;

  constructor(options: TeamLogOptions) {
    this.#options = options;
    const last = lastNumber(options.directory);
    this.#file = this.#open(last ?? 1, last === undefined && options.create !== false);
    try {
      this.#follow(false);
    } catch (error) {
      void this.#file.close();
      throw error;
    }
  }

  get state(): TeamState {
    return this.#file.state;
  }

  get directory(): string {
    return this.#options.directory;
  }

  /** How many lines of the file are not whole and do not count. */
  get tornLines(): number {
    return this.#file.incomplete;
  }

  #open(number: number, create: boolean): TeamFile {
    const { directory, now, onRecord } = this.#options;
    return new TeamFile({ directory, number, now, create, onRecord });
  }

  /** Takes in what others have written since. Writes nothing. */
  refresh(): void {
    this.#file.readOn();
    this.#follow(false);
  }

  /** Goes on in the file that continues this one; where there is none yet, only to make it. */
  #follow(isWriting: boolean): void {
    for (let next = this.state.continuedIn; next !== null; next = this.state.continuedIn) {
      const number = this.#file.number + 1;
      if (next !== logFile(number))
        throw new ToolError(
          'state_unusable',
          `${this.#file.path} goes on in ${next}; expected ${logFile(number)}, which comes after it`,
        );
      const path = join(this.#options.directory, next);
      const isThere = existsSync(path) || (isWriting && this.#awaits(path));
      if (!isThere && !isWriting && this.#file.isInPlace) return;
      const made = isThere ? undefined : this.#begin(path);
      const file = this.#open(number, false);
      // With the old file where it was, the new one was opened beside it: a directory goes away whole.
      if (!this.#file.isInPlace) {
        void file.close();
        if (made !== undefined && inodeOf(path) === made) rmSync(path, { force: true });
        throw this.#away();
      }
      void this.#file.close();
      this.#file = file;
    }
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
    return new ToolError(
      'refused',
      `the log in ${this.#options.directory} was put away meanwhile: the team was deleted`,
    );
  }

  /** Makes the next file, unless somebody has: whoever folded as far would make the same. Gives its inode. */
  #begin(path: string): number | undefined {
    if (!this.#file.isInPlace) throw this.#away();
    const state = freezeTeam({ ...this.state, continuedIn: null });
    const at = this.#options.now();
    const id = `snapshot-${this.#file.number + 1}`;
    const line = `\n${JSON.stringify({ type: 'snapshot', state, v: 1, id, at })}\n`;
    const temporary = `${path}.${lateCrypto().randomBytes(6).toString('hex')}.tmp`;
    try {
      writeFileSync(temporary, line, { mode: 0o600, flag: 'wx', flush: true });
      linkSync(temporary, path);
      return inodeOf(temporary);
    } catch (error) {
      if (existsSync(path)) return undefined;
      throw new ToolError('state_unusable', `cannot continue the log in ${path}: ${messageOf(error)}`, {
        cause: error,
      });
    } finally {
      rmSync(temporary, { force: true });
    }
  }

  async append(record: TeamRecord, options?: { readonly flush?: boolean }): Promise<Appended> {
    for (;;) {
      this.#follow(true);
      const { id, at, refusal, isBehind } = this.#file.append(record);
      if (isBehind) continue;
      if (refusal !== null) return { id, at, refusal };
      if (options?.flush !== false) this.#flush();
      this.#continueWhenLong();
      return { id, at, refusal };
    }
  }

  /** The file's name first: others may have made it, and have come no further. */
  #flush(): void {
    if (this.#named !== this.#file.number) {
      // Whoever put the directory away meanwhile has its name on the disk, or will.
      if (existsSync(this.#options.directory)) syncDirectory(this.#options.directory);
      this.#named = this.#file.number;
    }
    this.#file.flush();
  }

  #continueWhenLong(): void {
    const limit = Math.max(this.#options.maxBytes ?? MAX_BYTES, 4 * this.#file.snapshotBytes);
    if (this.#file.size <= limit || this.state.session === 'deleted') return;
    try {
      const { isBehind } = this.#file.append({ type: 'continued', next: logFile(this.#file.number + 1) });
      this.#isContinuing = !isBehind;
      this.#follow(true);
    } catch {
      // The record before stands, and its author is told so; what is in the way meets the next.
    }
    this.#isContinuing = false;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
