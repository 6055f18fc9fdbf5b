// Directories of the program's own in a project, which Git leaves out: nobody commits them, and no `git stash` takes them away.

import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a team writes while it works, below the project's `.tool`. */
const OWN = ['teams', 'cache', 'state'];

/** Makes a directory, and has Git leave out all of it, the word for that too. */
export function createIgnoredDirectory(directory: string): void {
  const path = join(directory, '.gitignore');
  if (existsSync(path)) return;
  mkdirSync(directory, { recursive: true });
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, '*\n');
  renameSync(fresh, path);
}

/** For a project in which nothing was installed that says so. */
export function ignoreStateDirectories(root: string): void {
  if (existsSync(join(root, '.tool', '.gitignore'))) return;
  for (const name of OWN)
    try {
      createIgnoredDirectory(join(root, '.tool', name));
    } catch {
      // Whoever writes there says what is in the way.
    }
}
