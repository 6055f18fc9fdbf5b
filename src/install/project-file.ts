// Checked access to files of the project: in the project itself, through no symbolic link, and of the expected kind.

import { accessSync, constants, lstatSync, readFileSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { failure, messageOf, type ToolError } from '../base/rules/errors.ts';
import { INSTALL_CODES } from './rules/install-codes.ts';

function statusOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function refuse(path: string, expected: string, came: string): ToolError {
  return failure(INSTALL_CODES.place_unusable, { path, expected, got: came });
}

function kindOf(status: Stats): string {
  if (status.isSymbolicLink()) return 'a link';
  return status.isDirectory() ? 'a directory' : status.isFile() ? 'a file' : 'something that is no file';
}

function checkAccess(root: string, path: string, mode: number, word: string): void {
  try {
    accessSync(join(root, path), mode);
  } catch (error) {
    throw refuse(path || root, `to be able to ${word} it`, messageOf(error));
  }
}

/**
 * Bytes of a file of the project; null when there is none.
 * Throws unless the file could be written: each directory in its path must be a real one, inside the project.
 */
export function readProjectFile(root: string, path: string): Buffer | null {
  let directory = '';
  for (const part of path.split('/').slice(0, -1)) {
    const next = directory === '' ? part : `${directory}/${part}`;
    const status = statusOf(join(root, next));
    if (status === undefined) {
      checkAccess(root, directory, constants.W_OK | constants.X_OK, 'write into');
      return null;
    }
    if (!status.isDirectory()) throw refuse(next, 'a directory of the project itself', kindOf(status));
    directory = next;
  }
  checkAccess(root, directory, constants.W_OK | constants.X_OK, 'write into');
  const status = statusOf(join(root, path));
  if (status === undefined) return null;
  if (!status.isFile()) throw refuse(path, 'a file', kindOf(status));
  checkAccess(root, path, constants.R_OK | constants.W_OK, 'read and write');
  return readFileSync(join(root, path));
}

/** Text of such a file. It must be UTF-8, so that it can be written back exactly. */
export function readProjectText(root: string, path: string): string | null {
  const bytes = readProjectFile(root, path);
  if (bytes === null) return null;
  const text = bytes.toString('utf8');
  if (!Buffer.from(text, 'utf8').equals(bytes)) throw refuse(path, 'UTF-8', 'bytes that are none');
  return text;
}

/** Missing directories of these files, outer ones first. */
export function missingDirectories(root: string, paths: readonly string[]): string[] {
  const missing = new Set<string>();
  for (const path of paths)
    for (let at = dirname(path); at !== '.' && statusOf(join(root, at)) === undefined; at = dirname(at))
      missing.add(at);
  return [...missing].sort();
}
