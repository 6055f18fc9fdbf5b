// What of a repository's Git directory a teammate may write, where namespaces hold it to that: what its own commits need.

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { BRANCHES } from '../git/workshop-names.ts';
import { findWorktree } from '../git/workshop-place.ts';

/** Git removes a directory of refs that it empties, and with it what is opened there. */
const STAYS = '.stays';

/** Whether nothing but such places need be open: refs that are no files lie all in one. */
export function hasPlaces(common: string): boolean {
  return !existsSync(join(common, 'reftable'));
}

/**
 * @param common the Git directory
 * @param worktree where the teammate works
 */
export function writablePlaces(common: string, worktree: string): readonly string[] {
  if (!hasPlaces(common)) return [common];
  const own = findWorktree(worktree, { common });
  const admin = own === null ? [] : [own.admin];
  const objects = join(common, 'objects');
  // What is there can be held read-only.
  mkdirSync(join(objects, 'info'), { recursive: true });
  // Who only reads has no branch, and merges nothing.
  if (/\/@[^/]*$/.test(worktree)) return [objects, ...admin];
  const refs = ['', 'logs'].flatMap((top) =>
    [`refs/heads/${BRANCHES}`, 'refs/toolcrew'].map((place) => join(common, top, place)),
  );
  for (const place of refs) mkdirSync(join(place, STAYS), { recursive: true });
  const turns = join(common, 'toolcrew');
  mkdirSync(turns, { recursive: true });
  // Files that git keeps elsewhere come by it.
  return [objects, ...admin, ...refs, turns, join(common, 'lfs')];
}
