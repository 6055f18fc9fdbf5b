// The teams of a project for a process that stays: each log is kept open, and only what was appended is read.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { TeamLog, Teams } from '../ports.ts';
import type { FileTeamLog } from './team-log.ts';
import type { FileTeams } from './teams.ts';

/** So many logs stay open that are no longer those of their teams: their borrowers may still read them. */
const DROPPED_MAX = 16;

type OpenTeam = { readonly log: FileTeamLog; readonly inode: number };

/** A log that its borrowers do not close. */
function lent(log: FileTeamLog): TeamLog {
  return {
    get state() {
      return log.state;
    },
    refresh: () => log.refresh(),
    append: (record, options) => log.append(record, options),
    close: () => Promise.resolve(),
  };
}

function inodeOf(directory: string): number {
  return statSync(join(directory, 'log.jsonl'), { throwIfNoEntry: false })?.ino ?? 0;
}

export class OpenTeams implements Teams {
  readonly #teams: FileTeams;
  readonly #kept = new Map<string, OpenTeam>();
  readonly #dropped: FileTeamLog[] = [];

  constructor(teams: FileTeams) {
    this.#teams = teams;
  }

  list(): readonly string[] {
    const names = this.#teams.list();
    for (const name of this.#kept.keys()) if (!names.includes(name)) this.#drop(name);
    return names;
  }

  #drop(name: string): void {
    const kept = this.#kept.get(name);
    this.#kept.delete(name);
    if (kept !== undefined) this.#dropped.push(kept.log);
    if (this.#dropped.length > DROPPED_MAX) void this.#dropped.shift()?.close();
  }

  #keep(log: FileTeamLog, name: string): TeamLog {
    this.#kept.set(name, { log, inode: inodeOf(log.directory) });
    return lent(log);
  }

  open(team: string): TeamLog | undefined {
    const kept = this.#kept.get(team);
    // Another team of that name may have begun since.
    if (kept !== undefined && kept.inode === inodeOf(kept.log.directory)) {
      kept.log.refresh();
      return lent(kept.log);
    }
    this.#drop(team);
    const log = this.#teams.open(team);
    return log === undefined ? undefined : this.#keep(log, team);
  }

  begin(team: string): TeamLog {
    const open = this.open(team);
    if (open !== undefined && open.state.session !== 'deleted') return open;
    this.#drop(team);
    // Nobody finds it before its first record stands: whoever begins it closes it.
    return this.#teams.begin(team);
  }

  archive(team: string): string {
    this.#drop(team);
    return this.#teams.archive(team);
  }

  async close(): Promise<void> {
    const logs = [...this.#dropped, ...[...this.#kept.values()].map(({ log }) => log)];
    this.#dropped.length = 0;
    this.#kept.clear();
    await Promise.all(logs.map((log) => log.close()));
  }
}
