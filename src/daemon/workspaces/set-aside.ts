// A place below the root for workspaces that cannot be saved or removed: nothing of the daemon's removes what is there.

import { existsSync, readdirSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ROOT_DATA } from './workspace-root.ts';

function placeIn(root: string): string {
  return join(root, ROOT_DATA, 'aside');
}

/** What was set aside under a name, or under that name with a number behind it. */
export function asideOf(root: string, name: string): readonly string[] {
  const directory = placeIn(root);
  if (!existsSync(directory)) return [];
  const numbered = (entry: string) => entry.startsWith(`${name}-`) && /^\d+$/.test(entry.slice(name.length + 1));
  const entries = readdirSync(directory).filter((entry) => entry === name || numbered(entry));
  return entries.sort().map((entry) => join(directory, entry));
}

/** Moves a directory there, under a name that is free. Gives the new path, relative to the root. */
export async function setAside(root: string, path: string, name: string): Promise<string> {
  const directory = placeIn(root);
  await mkdir(directory, { recursive: true });
  let place = join(directory, name);
  for (let number = 2; existsSync(place); number++) place = join(directory, `${name}-${number}`);
  await rename(path, place);
  return relative(root, place);
}
