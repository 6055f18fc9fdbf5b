// Own directories of toolcrew in a project, ignored by Git: no commit and no `git stash` includes them.

import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a team writes while it works, below the project's `.tool`. */
const OWN = ['teams', 'cache', 'state'];

/** Creates a directory that Git ignores, with the `.gitignore` in it. */
export function createIgnoredDirectory(directory: string): void {
  const path = join(directory, '.gitignore');
  if (existsSync(path)) return;
  mkdirSync(directory, { recursive: true });
  // The same for all: one that was left by a kill is the next one's.
  const fresh = `${path}.new`;
  try {
    // Anybody may have put a link there.
    rmSync(fresh, { force: true });
    writeFileSync(fresh, '*\n', { flag: 'wx' });
    renameSync(fresh, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  }
}

/** Creates the ignored directories of a project without an installation. */
export function ignoreStateDirectories(root: string): void {
  if (existsSync(join(root, '.tool', '.gitignore'))) return;
  for (const name of OWN)
    try {
      createIgnoredDirectory(join(root, '.tool', name));
    } catch {
      // Whoever writes there says what is in the way.
    }
}
