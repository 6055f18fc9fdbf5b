// Names of a project's teams. Every hook reads them first, so this module imports little.

import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../base/rules/errors.ts';
import { phaseOfTeam } from '../rules/team-name.ts';

/** Parent directory of a project's team logs. */
export function teamsDirectory(root: string): string {
  return join(root, '.tool', 'teams');
}

export function hasTeamLog(directory: string, team: string): boolean {
  return existsSync(join(directory, team, 'log.jsonl'));
}

/** Not through a link. */
function isDirectory(directory: string, name: string): boolean {
  return lstatSync(join(directory, name), { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Sorted names of the teams with a log in that directory; none if it is not there. Throws the system's other errors. */
export function readTeamNames(directory: string): readonly string[] {
  try {
    // Without the types of its entries, which node loads more code for.
    return readdirSync(directory)
      .filter((name) => phaseOfTeam(name) !== undefined && hasTeamLog(directory, name) && isDirectory(directory, name))
      .sort();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
