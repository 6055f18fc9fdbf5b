// Ports of teams: their logs, and a lock that lets one process at a time act for a team (types only).

import type { Refusal } from '../base/rules/codes.ts';
import type { TeamRecord } from './rules/log/record.ts';
import type { TeamState } from './rules/log/state.ts';

/** What became of a record. `refused`: why it does not count where it stands; `refusal`: the same as text. */
export type Appended = {
  readonly id: string;
  readonly at: number;
  readonly refused: Refusal | null;
  readonly refusal: string | null;
};

/** One team's log with the state folded from it. */
export interface TeamLog {
  readonly state: TeamState;
  /** Takes in what others have written since. */
  refresh(): void;
  /** Appends one record and folds up to it; resolves when it is on disk, or with `flush: false` when it is in the file. */
  append(record: TeamRecord, options?: { readonly flush?: boolean }): Promise<Appended>;
  close(): Promise<void>;
}

/** Result of waiting for the lock; `holder`: its owner, in words. */
export type PhaseLockResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly holder: string };

/** One call at a time, over all processes of a team. */
export interface PhaseLock {
  /** Acts while nobody else is at it. Waits for that, but not without end: then nothing is done. */
  take<T>(team: string, act: () => Promise<T>): Promise<PhaseLockResult<T>>;
}

/** The teams of a project. */
export interface Teams {
  /** Names of those that have a log and were not archived. */
  list(): readonly string[];
  /** undefined when there is no log of that name. */
  open(team: string): TeamLog | undefined;
  /** Opens the log, which is begun when it is not there. */
  begin(team: string): TeamLog;
  /** Puts the log away, and gives where. */
  archive(team: string): string;
}
