// Names of a project's teams. Every hook reads them first, so this module imports little.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BASE_CODES } from '../../base/rules/base-codes.ts';
import { failure, messageOf, type ToolError } from '../../base/rules/errors.ts';
import { LOG_CODES } from '../rules/codes/log-codes.ts';
import { phaseOfTeam } from '../rules/team-name.ts';

/** Parent directory of a project's team logs. */
export function teamsDirectory(root: string): string {
  return join(root, '.tool', 'teams');
}

export function hasTeamLog(directory: string, team: string): boolean {
  return existsSync(join(directory, team, 'log.jsonl'));
}

/** Error for a file in place of the directory or its parent. */
function inTheWay(directory: string, cause: unknown): ToolError {
  const above = dirname(directory);
  const path = statSync(above, { throwIfNoEntry: false })?.isDirectory() === true ? directory : above;
  return failure(LOG_CODES.directory_expected, { path }, { cause });
}

/** Sorted names of the teams with a log in that directory. Throws `ToolError` if it cannot be read. */
export function teamNames(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((item) => item.isDirectory() && phaseOfTeam(item.name) !== undefined && hasTeamLog(directory, item.name))
      .map((item) => item.name)
      .sort();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') return [];
    if (code === 'ENOTDIR') throw inTheWay(directory, error);
    throw failure(BASE_CODES.state_unreadable, { path: directory, said: messageOf(error) }, { cause: error });
  }
}
