// Paths of the Git directory that a teammate in namespaces may write: those that its own commits need.

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { BRANCHES } from '../../git/worktrees/names.ts';
import { findWorktree } from '../../git/worktrees/worktree.ts';

/** Placeholder directory: git removes an empty directory of refs, and a bind mount there would be lost. */
const STAYS = '.stays';

/** Whether access can be limited to single paths: with reftable, all refs share one directory. */
export function hasPlaces(common: string): boolean {
  return !existsSync(join(common, 'reftable'));
}

/**
 * @param common the Git directory
 * @param worktree of the teammate
 */
export function writablePlaces(common: string, worktree: string): readonly string[] {
  if (!hasPlaces(common)) return [common];
  const own = findWorktree(worktree, { common });
  const admin = own === null ? [] : [own.admin];
  const objects = join(common, 'objects');
  // Create the directory: only an existing one can be mounted read-only.
  mkdirSync(join(objects, 'info'), { recursive: true });
  // Read-only roles have no branch and merge nothing.
  if (/\/@[^/]*$/.test(worktree)) return [objects, ...admin];
  const refs = ['', 'logs'].flatMap((top) =>
    [`refs/heads/${BRANCHES}`, 'refs/toolcrew'].map((place) => join(common, top, place)),
  );
  for (const place of refs) mkdirSync(join(place, STAYS), { recursive: true });
  const locks = join(common, 'toolcrew');
  mkdirSync(locks, { recursive: true });
  // Git LFS stores its objects there.
  return [objects, ...admin, ...refs, locks, join(common, 'lfs')];
}
