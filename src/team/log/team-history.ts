// A team's log for those who only look: from its first record on or from its last snapshot on. Nothing is written.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { EventLog } from '../../base/files/event-log.ts';
import { messageIn } from '../../base/rules/codes.ts';
import { failure } from '../../base/rules/errors.ts';
import type { Stored } from '../../base/rules/stored-record.ts';
import { LOG_CODES } from '../rules/codes/log-codes.ts';
import { TeamFold } from '../rules/log/fold.ts';
import type { TeamRecord } from '../rules/log/record.ts';
import { deserializeTeam } from '../rules/log/snapshot.ts';
import type { TeamState } from '../rules/log/state.ts';
import { decodeTeamRecord } from './team-decoder.ts';
import { logFiles, noFirstRecord } from './team-file.ts';

export type TeamHistoryOptions = {
  readonly directory: string;
  /** `beginning`: all that was ever written · `snapshot`: the last file, which holds the whole state. */
  readonly from: 'beginning' | 'snapshot';
  /** Called with each record in the order of the files, why it does not count or null, and the state after it. */
  readonly onRecord?: (record: Stored<TeamRecord>, refusal: string | null, state: TeamState) => void;
};

export class TeamHistory {
  readonly #options: TeamHistoryOptions;
  #fold = new TeamFold();
  #log: EventLog<TeamRecord>;
  #torn = 0;
  #lastAt = 0;

  constructor(options: TeamHistoryOptions) {
    this.#options = options;
    const files = logFiles(options.directory);
    const file = (options.from === 'beginning' ? files[0] : files.at(-1)) ?? 'log.jsonl';
    this.#log = this.#open(file);
    if (!this.#fold.hasBegun) {
      void this.#log.close();
      throw noFirstRecord(join(options.directory, file));
    }
    this.#follow();
  }

  get state(): TeamState {
    return this.#fold.state;
  }

  /** When the last record that counts was written, ms since the epoch; 0: there is none. */
  get lastAt(): number {
    return this.#lastAt;
  }

  /** How many lines are not whole and do not count. */
  get tornLines(): number {
    return this.#torn + this.#log.incomplete;
  }

  #open(file: string): EventLog<TeamRecord> {
    let isFirst = true;
    return new EventLog<TeamRecord>({
      path: join(this.#options.directory, file),
      decode: decodeTeamRecord,
      now: Date.now,
      create: false,
      onRecord: (record) => {
        if (isFirst && record.type === 'snapshot') this.#begin(record, file);
        else this.#take(record);
        isFirst = false;
      },
    });
  }

  /** A snapshot says again what the files before it said. */
  #begin(snapshot: { readonly state: unknown; readonly at: number }, file: string): void {
    const state = deserializeTeam(snapshot.state);
    if (state === undefined)
      throw failure(LOG_CODES.team_snapshot_unreadable, { path: join(this.#options.directory, file) });
    this.#fold = new TeamFold(state);
    this.#lastAt = snapshot.at;
  }

  #take(record: Stored<TeamRecord>): void {
    const refused = this.#fold.take(record);
    if (refused === null) this.#lastAt = record.at;
    this.#options.onRecord?.(
      record,
      refused === null ? null : `${messageIn(refused)} (${refused.of.code})`,
      this.state,
    );
  }

  /** Reads what was written since, in further files too. */
  refresh(): void {
    this.#log.readOn();
    this.#follow();
  }

  #follow(): void {
    for (let next = this.state.continuedIn; next !== null; next = this.state.continuedIn) {
      // Whoever writes that it goes on there makes the file in the same breath: it may not be there yet.
      if (!logFiles(this.#options.directory).includes(next)) return;
      const before = this.#log;
      // Opened first: where it is gone by now, the one before stays.
      this.#log = this.#open(next);
      this.#torn += before.incomplete;
      void before.close();
      // With a snapshot at its beginning it says nothing any more of going on here.
      if (this.state.continuedIn === next)
        throw failure(LOG_CODES.team_log_order_broken, {
          ...{ path: this.#options.directory, next },
          expected: 'a file that goes on where the log ends',
        });
    }
  }

  close(): Promise<void> {
    return this.#log.close();
  }
}

/** Whether there is a team's log in a directory. */
export function hasLog(directory: string): boolean {
  return existsSync(join(directory, 'log.jsonl'));
}
