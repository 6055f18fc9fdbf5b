// Which teams a project has: what every hook asks first, before anything else is loaded.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, ToolError } from '../../domain/errors.ts';
import { phaseOfTeam } from '../../domain/team/team-name.ts';

/** Where a project's teams have their logs. */
export function teamsDirectory(root: string): string {
  return join(root, '.tool', 'teams');
}

export function hasLog(directory: string, team: string): boolean {
  return existsSync(join(directory, team, 'log.jsonl'));
}

/** Names of the teams that have a log in that directory. */
export function teamNames(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((item) => item.isDirectory() && phaseOfTeam(item.name) !== undefined && hasLog(directory, item.name))
      .map((item) => item.name)
      .sort();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw new ToolError('state_unusable', `cannot read ${directory}: ${messageOf(error)}`, { cause: error });
  }
}
