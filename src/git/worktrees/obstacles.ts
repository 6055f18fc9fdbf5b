// Uncommitted files of a worktree that block the checkout of another commit.

import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';

export type PathChange = { readonly path: string; readonly isNew: boolean; readonly isGone: boolean };

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

function filesBelow(top: string, directory: string): string[] {
  return readdirSync(join(top, directory), { withFileTypes: true }).flatMap((entry) => {
    const path = `${directory}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(top, path) : [path];
  });
}

/**
 * Sorted paths with uncommitted content that the changes would overwrite or remove.
 * @param dirty paths changed since the last commit
 */
export function obstaclesFor(top: string, changes: readonly PathChange[], dirty: ReadonlySet<string>): string[] {
  const gone = new Set(changes.filter(({ isGone }) => isGone).map(({ path }) => path));
  const found = new Set<string>();
  for (const { path, isNew } of changes) {
    if (dirty.has(path)) found.add(path);
    if (!isNew) continue;
    for (let at = dirname(path); at !== '.'; at = dirname(at)) {
      const stat = statOf(join(top, at));
      if (stat !== undefined && !stat.isDirectory() && !gone.has(at)) found.add(at);
    }
    const stat = statOf(join(top, path));
    if (stat === undefined) continue;
    if (!stat.isDirectory()) found.add(path);
    else for (const file of filesBelow(top, path)) if (!gone.has(file)) found.add(file);
  }
  return [...found].sort();
}
