// Directory for lock files of checks, outside the project: test runners scan the project and fail if a file disappears.

import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** This user's directory, below a shared one such as /tmp. */
export function lockDirectory(parent: string): string {
  return join(parent, `toolcrew-locks-${process.getuid?.() ?? 0}`);
}

/** Creates the directory with access for this user only; false if that fails or another user owns it. */
export function ensurePrivateDirectory(path: string): boolean {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const status = lstatSync(path);
    if (!status.isDirectory() || status.uid !== (process.getuid?.() ?? status.uid)) return false;
    if ((status.mode & 0o077) !== 0) chmodSync(path, 0o700);
    return true;
  } catch {
    return false;
  }
}
