// Places of repositories on the disk: also of those that are watched no more.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT_DATA } from '../daemon/workspaces/workspace-root.ts';

/** One of them is in the place of a repository. */
const SIGNS = [ROOT_DATA, 'journal.jsonl'];

function directoriesIn(directory: string): readonly string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(directory, name));
  } catch {
    return [];
  }
}

/** `<base>/<owner>/<repo>` of every repository that has been worked on. */
export function placesBelow(base: string): readonly string[] {
  const places = directoriesIn(base).flatMap(directoriesIn);
  return places.filter((place) => SIGNS.some((sign) => existsSync(join(place, sign))));
}
