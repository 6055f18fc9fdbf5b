// A place below the root for workspaces that cannot be saved or removed: nothing of the daemon's removes what is there.

import { existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ROOT_DATA } from './workspace-root.ts';

/** Moves a directory there, under a name that is free. Gives the new path, relative to the root. */
export async function setAside(root: string, path: string, name: string): Promise<string> {
  const directory = join(root, ROOT_DATA, 'aside');
  await mkdir(directory, { recursive: true });
  let place = join(directory, name);
  for (let number = 2; existsSync(place); number++) place = join(directory, `${name}-${number}`);
  await rename(path, place);
  return relative(root, place);
}
