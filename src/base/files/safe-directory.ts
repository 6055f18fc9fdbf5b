// Creates a real directory, not a link, where programs of others can write.

import { chmodSync, lstatSync, mkdirSync, unlinkSync } from 'node:fs';

const OWNER = 0o700;

/**
 * Makes the directory, or takes it up where it stands. What stands there and is none goes: a link is not followed.
 * @param path beside nothing but directories of that kind, up to one that others cannot replace
 */
export function ensureRealDirectory(path: string): string {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status?.isDirectory() === true) {
    if ((status.mode & OWNER) !== OWNER) chmodSync(path, OWNER);
    return path;
  }
  if (status !== undefined) unlinkSync(path);
  mkdirSync(path, { mode: OWNER });
  return path;
}
