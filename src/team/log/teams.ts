// The teams of a project: one directory each, below .tool/teams of the checkout that holds them.

import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { syncDirectory } from '../../base/files/sync-directory.ts';
import { BASE_CODES } from '../../base/rules/base-codes.ts';
import { failure, messageOf, ToolError } from '../../base/rules/errors.ts';
import { ignoreStateDirectories } from '../../git/own-ignored.ts';
import { GIT_CODES } from '../../git/rules/git-codes.ts';
import type { Teams } from '../ports.ts';
import { LOG_CODES } from '../rules/codes/log-codes.ts';
import { phaseOfTeam } from '../rules/team-name.ts';
import { teamNames } from './team-list.ts';
import { FileTeamLog } from './team-log.ts';
import { hasTeamLog, teamsDirectory } from './team-names.ts';

/** Below the teams' directory: where teams are put away. */
export const ARCHIVE = 'archive';
/** So often a log is looked for again that somebody put away while it was opened. */
const TRIES = 20;

export type FileTeamsOptions = {
  /** The project's directory; in a team's worktree, that of the checkout that it was made in. */
  readonly root: string;
  readonly now: () => number;
  readonly maxBytes?: number;
  /** Called as a team that was deleted is put away: what else there is of it goes before its log does. Must not throw. */
  readonly onPutAway?: (team: string) => void;
};

/** The system's name of what went wrong, of an error or of its cause. */
function codeOf(error: unknown): unknown {
  if (!(error instanceof Error)) return undefined;
  return 'code' in error && !(error instanceof ToolError) ? error.code : codeOf(error.cause);
}

function isRefusal(error: unknown): boolean {
  return error instanceof ToolError && error.kind === 'refused';
}

/**
 * Makes a directory and those above it, and has their names on the disk. One by one: made all at once, a read-only disk
 * is reported as a directory that is missing.
 */
function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  syncDirectory(dirname(path));
}

export class FileTeams implements Teams {
  readonly #options: FileTeamsOptions;
  readonly #directory: string;

  constructor(options: FileTeamsOptions) {
    this.#options = options;
    this.#directory = teamsDirectory(options.root);
  }

  list(): readonly string[] {
    return teamNames(this.#directory);
  }

  /** A team's directory; other names could lead anywhere. */
  #place(team: string): string {
    if (phaseOfTeam(team) === undefined)
      throw failure(GIT_CODES.name_invalid, {
        ...{ field: 'team_name', expected: 'the name of a team, like tool-run-spec-auth-001', got: team },
      });
    return join(this.#directory, team);
  }

  /** undefined when somebody put it away meanwhile, or it was never there. */
  #log(directory: string, create: boolean): FileTeamLog | undefined {
    const { now, maxBytes } = this.#options;
    try {
      return new FileTeamLog({ directory, now, create, ...(maxBytes === undefined ? {} : { maxBytes }) });
    } catch (error) {
      if (codeOf(error) === 'ENOENT' || isRefusal(error)) return undefined;
      throw error;
    }
  }

  open(team: string): FileTeamLog | undefined {
    return phaseOfTeam(team) !== undefined && hasTeamLog(this.#directory, team)
      ? this.#log(this.#place(team), false)
      : undefined;
  }

  /** A log whose team was deleted, by somebody who came no further, is put away first. */
  begin(team: string): FileTeamLog {
    const directory = this.#place(team);
    for (let tries = 0; tries < TRIES; tries++) {
      try {
        makeDirectory(directory);
        // As a plugin there is no installation that says it to Git.
        ignoreStateDirectories(this.#options.root);
      } catch (error) {
        throw failure(BASE_CODES.state_unwritable, { path: directory, said: messageOf(error) }, { cause: error });
      }
      const log = this.#log(directory, true);
      if (log !== undefined && log.state.session !== 'deleted') return log;
      if (log === undefined) continue;
      void log.close();
      try {
        this.archive(team);
      } catch (error) {
        if (!isRefusal(error)) throw error;
      }
    }
    throw failure(LOG_CODES.team_log_busy, { directory, tries: TRIES });
  }

  /** Only of a team that was deleted: nothing that anybody appends to its log counts any more. */
  archive(team: string): string {
    const directory = this.#place(team);
    const inode = statSync(directory, { throwIfNoEntry: false })?.ino;
    const log = inode === undefined ? undefined : this.#log(directory, false);
    if (log === undefined) throw failure(LOG_CODES.team_log_missing, { team, directory });
    const { session, createdAt } = log.state;
    void log.close();
    if (session !== 'deleted') throw failure(LOG_CODES.team_not_deleted, { team, state: session });
    this.#options.onPutAway?.(team);
    // The same for everybody who puts this directory away: of two the second finds it taken, and moves no other one there.
    const date = new Date(createdAt).toISOString().replace(/[:.]/g, '-');
    const place = join(this.#directory, ARCHIVE, `${team}-${date}-${inode?.toString(36)}`);
    try {
      makeDirectory(join(this.#directory, ARCHIVE));
      renameSync(directory, place);
    } catch (error) {
      if (!existsSync(place))
        throw failure(BASE_CODES.state_unwritable, { path: place, said: messageOf(error) }, { cause: error });
    }
    return place;
  }
}
