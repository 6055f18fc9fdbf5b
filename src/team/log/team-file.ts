// One file of a team's log: its records folded as they come, by whomever they are written.

import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EventLog } from '../../base/files/event-log.ts';
import { BASE_CODES } from '../../base/rules/base-codes.ts';
import type { Refusal } from '../../base/rules/codes.ts';
import { failure, messageOf, type ToolError } from '../../base/rules/errors.ts';
import type { Stored } from '../../base/rules/stored-record.ts';
import { LOG_CODES } from '../rules/codes/log-codes.ts';
import { TeamFold } from '../rules/log/fold.ts';
import type { TeamRecord } from '../rules/log/record.ts';
import { deserializeTeam } from '../rules/log/snapshot.ts';
import type { TeamState } from '../rules/log/state.ts';
import { decodeTeamRecord } from './team-decoder.ts';

const FILE = /^log(?:\.([2-9]|[1-9]\d+))?\.jsonl$/;

/** The first is `log.jsonl`, the next `log.2.jsonl`. */
export function logFile(number: number): string {
  return number === 1 ? 'log.jsonl' : `log.${number}.jsonl`;
}

/** Numbers of the files that a team's log has, the oldest first. */
function numbersOf(directory: string): readonly number[] {
  try {
    const numbers = readdirSync(directory).flatMap((name) => {
      const match = FILE.exec(name);
      return match === null ? [] : [Number(match[1] ?? 1)];
    });
    return numbers.sort((one, other) => one - other);
  } catch (error) {
    throw failure(BASE_CODES.state_unreadable, { path: directory, said: messageOf(error) }, { cause: error });
  }
}

/** Names of a team's log files, the oldest first. */
export function logFiles(directory: string): readonly string[] {
  return numbersOf(directory).map(logFile);
}

/** The number of the file in which a team's log stands now; undefined when there is none. */
export function lastFileNumber(directory: string): number | undefined {
  return numbersOf(directory).at(-1);
}

/** Of a first file without the record that a team begins with: whoever makes one writes that before the file has its name. */
export function noFirstRecord(path: string): ToolError {
  return failure(LOG_CODES.team_log_headless, { path, directory: dirname(path) });
}

export type TeamFileOptions = {
  readonly directory: string;
  readonly number: number;
  readonly now: () => number;
  /** The path under which the file is made, whose name it gets later; missing: it is there. */
  readonly draft?: string;
  readonly onRecord?: ((record: Stored<TeamRecord>, refused: Refusal | null) => void) | undefined;
};

/** `isBehind`: the record stands behind the end of the file and has to be written to the next. */
export type JudgedRecord = {
  readonly id: string;
  readonly at: number;
  readonly refused: Refusal | null;
  readonly isBehind: boolean;
};

export class TeamFile {
  readonly number: number;
  /** As it is called, or is to be. */
  readonly path: string;
  readonly #options: TeamFileOptions;
  readonly #refusals = new Map<string, Pick<JudgedRecord, 'refused' | 'isBehind'>>();
  readonly #log: EventLog<TeamRecord>;
  #fold = new TeamFold();
  #snapshotBytes = 0;
  #isEmpty = true;

  constructor(options: TeamFileOptions) {
    this.#options = options;
    this.number = options.number;
    this.path = join(options.directory, logFile(options.number));
    this.#log = new EventLog<TeamRecord>({
      path: options.draft ?? this.path,
      decode: decodeTeamRecord,
      now: options.now,
      onRecord: (record, bytes) => this.#take(record, bytes),
      create: options.draft !== undefined,
    });
    this.#refusals.clear();
    if (options.draft !== undefined || (this.number > 1 ? !this.#isEmpty : this.#fold.hasBegun)) return;
    void this.#log.close();
    throw this.number > 1 ? this.#headless() : noFirstRecord(this.path);
  }

  get state(): TeamState {
    return this.#fold.state;
  }

  /** How many lines are not whole and do not count. */
  get incomplete(): number {
    return this.#log.incomplete;
  }

  get size(): number {
    return this.#log.size;
  }

  /** How long the snapshot is that it begins with. */
  get snapshotBytes(): number {
    return this.#snapshotBytes;
  }

  /** Gives the file that was made under another path its name. Throws where there is one already. */
  settle(): void {
    this.#log.rename(this.path);
  }

  get isInPlace(): boolean {
    return this.#log.isInPlace;
  }

  /** Whether nothing has its name any more. */
  get isGone(): boolean {
    return this.#log.isGone;
  }

  /** Writes what it holds into a new file. */
  copyTo(path: string): void {
    this.#log.copyTo(path);
  }

  #headless(): ToolError {
    return failure(LOG_CODES.team_snapshot_unreadable, { path: this.path });
  }

  #take(record: Stored<TeamRecord>, bytes: number): void {
    if (this.#isEmpty && this.number > 1) {
      const state = record.type === 'snapshot' ? deserializeTeam(record.state) : undefined;
      if (state === undefined) throw this.#headless();
      this.#fold = new TeamFold(state);
      this.#snapshotBytes = bytes;
      this.#isEmpty = false;
      return;
    }
    this.#isEmpty = false;
    const isBehind = this.state.continuedIn !== null;
    const refused = this.#fold.take(record);
    if (refused !== null) this.#refusals.set(record.id, { refused, isBehind });
    this.#options.onRecord?.(record, refused);
  }

  readOn(): void {
    this.#log.readOn();
    this.#refusals.clear();
  }

  /** Appends one record and folds up to it. */
  append(record: TeamRecord): JudgedRecord {
    const { id, at } = this.#log.append(record);
    const judged = this.#refusals.get(id);
    this.#refusals.clear();
    return { id, at, refused: judged?.refused ?? null, isBehind: judged?.isBehind ?? false };
  }

  /** When it returns, all that was appended is on the disk. */
  flush(): void {
    this.#log.flushNow();
  }

  close(): Promise<void> {
    return this.#log.close();
  }
}
