// Names of a project's teams, with errors that have codes.

import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { BASE_CODES } from '../../base/rules/base-codes.ts';
import { errorCode, failure, messageOf, type ToolError } from '../../base/rules/errors.ts';
import { LOG_CODES } from '../rules/codes/log-codes.ts';
import { readTeamNames } from './team-names.ts';

/** Error for a file in place of the directory or its parent. */
function inTheWay(directory: string, cause: unknown): ToolError {
  const above = dirname(directory);
  const path = statSync(above, { throwIfNoEntry: false })?.isDirectory() === true ? directory : above;
  return failure(LOG_CODES.directory_expected, { path }, { cause });
}

/** Error of a directory that `readTeamNames` could not read. */
export function teamsUnreadable(directory: string, cause: unknown): ToolError {
  if (errorCode(cause) === 'ENOTDIR') return inTheWay(directory, cause);
  return failure(BASE_CODES.state_unreadable, { path: directory, said: messageOf(cause) }, { cause });
}

/** Sorted names of the teams with a log in that directory. Throws `ToolError` if it cannot be read. */
export function teamNames(directory: string): readonly string[] {
  try {
    return readTeamNames(directory);
  } catch (error) {
    throw teamsUnreadable(directory, error);
  }
}
