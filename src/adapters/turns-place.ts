// Where it is said whose turn it is: not in a project, whose test runners look through it and end when a file that they have
// seen is gone.

import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** This user's directory for it, below one that all share. */
export function turnsPlace(parent: string): string {
  return join(parent, `toolcrew-turns-${process.getuid?.() ?? 0}`);
}

/** Makes the directory, for nobody else to look into; false where it cannot be made, or somebody else made it. */
export function isOwnPlace(path: string): boolean {
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
