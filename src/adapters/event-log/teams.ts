// The teams of a project: one directory each, below .tool/teams of the main checkout.

import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, ToolError } from '../../domain/errors.ts';
import { phaseOfTeam } from '../../domain/team/team-name.ts';
import type { Teams } from '../../engine/ports.ts';
import { FileTeamLog } from './team-log.ts';

const ARCHIVE = 'archive';

export type FileTeamsOptions = {
  /** The project's directory, that of the main checkout in a worktree. */
  readonly root: string;
  readonly now: () => number;
  readonly maxBytes?: number;
};

/** Where a project's teams have their logs. */
export function teamsDirectory(root: string): string {
  return join(root, '.tool', 'teams');
}

export class FileTeams implements Teams {
  readonly #options: FileTeamsOptions;
  readonly #directory: string;

  constructor(options: FileTeamsOptions) {
    this.#options = options;
    this.#directory = teamsDirectory(options.root);
  }

  list(): readonly string[] {
    try {
      return readdirSync(this.#directory, { withFileTypes: true })
        .filter((item) => item.isDirectory() && phaseOfTeam(item.name) !== undefined && this.#has(item.name))
        .map((item) => item.name)
        .sort();
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
      throw new ToolError('state_unusable', `cannot read ${this.#directory}: ${messageOf(error)}`, { cause: error });
    }
  }

  #has(team: string): boolean {
    return existsSync(join(this.#directory, team, 'log.jsonl'));
  }

  #log(team: string): FileTeamLog {
    const { now, maxBytes } = this.#options;
    return new FileTeamLog({
      directory: join(this.#directory, team),
      now,
      ...(maxBytes === undefined ? {} : { maxBytes }),
    });
  }

  open(team: string): FileTeamLog | undefined {
    return phaseOfTeam(team) !== undefined && this.#has(team) ? this.#log(team) : undefined;
  }

  begin(team: string): FileTeamLog {
    const directory = join(this.#directory, team);
    try {
      mkdirSync(directory, { recursive: true });
    } catch (error) {
      throw new ToolError('state_unusable', `cannot make ${directory}: ${messageOf(error)}`, { cause: error });
    }
    return this.#log(team);
  }

  archive(team: string): string {
    const date = new Date(this.#options.now()).toISOString().replace(/[:.]/g, '-');
    const place = join(this.#directory, ARCHIVE, `${team}-${date}`);
    mkdirSync(join(this.#directory, ARCHIVE), { recursive: true });
    renameSync(join(this.#directory, team), place);
    return place;
  }
}
