// Which teams a project has: what every hook asks first, before anything else is loaded.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf, ToolError } from '../../domain/errors.ts';
import { phaseOfTeam } from '../../domain/team/team-name.ts';

/** Where a project's teams have their logs. */
export function teamsDirectory(root: string): string {
  return join(root, '.tool', 'teams');
}

export function hasLog(directory: string, team: string): boolean {
  return existsSync(join(directory, team, 'log.jsonl'));
}

/** Something else has the name of the directory, or of one above it. */
function inTheWay(directory: string, cause: unknown): ToolError {
  const above = dirname(directory);
  const path = statSync(above, { throwIfNoEntry: false })?.isDirectory() === true ? directory : above;
  return new ToolError('state_unusable', `${path}: expected a directory, got a file; move it away`, { cause });
}

/** Names of the teams that have a log in that directory. */
export function teamNames(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((item) => item.isDirectory() && phaseOfTeam(item.name) !== undefined && hasLog(directory, item.name))
      .map((item) => item.name)
      .sort();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') return [];
    if (code === 'ENOTDIR') throw inTheWay(directory, error);
    throw new ToolError('state_unusable', `cannot read ${directory}: ${messageOf(error)}`, { cause: error });
  }
}
