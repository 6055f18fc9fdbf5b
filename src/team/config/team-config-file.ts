// Text of a project's team configuration, .tool/config/workflow.yaml.

import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode, failure, messageOf, ToolError } from '../../base/rules/errors.ts';
import { LOG_CODES } from '../rules/codes/log-codes.ts';

/** Relative to the project's root. */
export const TEAM_FILE = '.tool/config/workflow.yaml';

/** Manifest of the files that `tool init` installed, relative to the project's root. */
export const INSTALLED_FILE = '.tool/installed.json';

const MAX_BYTES = 1024 * 1024;

/** `version`: size, mtime and inode of the file at the time of reading. */
export type TeamFile = { readonly path: string; readonly text: string; readonly version: string };

/** Reads the file; null if it is missing. Throws `ToolError` for anything but a regular file; a FIFO does not block. */
export function readTeamFile(projectRoot: string): TeamFile | null {
  const path = join(projectRoot, TEAM_FILE);
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const status = fstatSync(fd, { bigint: true });
    if (!status.isFile())
      throw failure(LOG_CODES.settings_file_wrong, { path, expected: 'a file', got: 'something else' });
    if (status.size > MAX_BYTES)
      throw failure(LOG_CODES.settings_file_wrong, {
        path,
        expected: `at most ${MAX_BYTES} bytes`,
        got: String(status.size),
      });
    const version = `${status.size}-${status.mtimeNs}-${status.ino}`;
    return { path, text: readFileSync(fd, 'utf8'), version };
  } catch (error) {
    if (error instanceof ToolError) throw error;
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw failure(LOG_CODES.settings_file_unreadable, { path, said: messageOf(error) }, { cause: error });
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
