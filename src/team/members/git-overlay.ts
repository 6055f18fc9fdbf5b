// The Git directory as a teammate finds it: one of its own, in which all of the project's shows. Git ends a cherry-pick, a
// revert or a rebase with a lock file beside `packed-refs`, and takes that away again; the project's own directory stays
// read-only as a whole, since of a single file the mount would go as soon as somebody outside puts another in its place.

import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Bind } from '../../agents/isolation.ts';

/** In the directory: the project's own, and what stands between git and `packed-refs`. */
const REAL = 'toolcrew-real';
const STEPS = 'toolcrew-steps';

/** So many links git follows for where to lock; a file behind further ones it only reads. */
const FOLLOWED = 5;

/** They may come later, and what is made of them here nobody else would find. */
const LATER = ['config', 'config.worktree', 'hooks', 'info', 'lfs', 'logs', 'modules', 'rr-cache', 'shallow'];

/** Git reads it as it is there, and locks beside the last link; what it would put in its place it has no room for. */
function linkPackedRefs(place: string): void {
  const last = String(FOLLOWED);
  mkdirSync(join(place, STEPS, `${last}.new`), { recursive: true, mode: 0o700 });
  symlinkSync(`${STEPS}/1`, join(place, 'packed-refs'));
  for (let step = 1; step < FOLLOWED; step++) symlinkSync(String(step + 1), join(place, STEPS, String(step)));
  symlinkSync(`../${REAL}/packed-refs`, join(place, STEPS, last));
}

export type GitOverlay = { readonly place: string; readonly binds: readonly Bind[] };

/**
 * Makes the directory, below `parent`; `binds` have it stand in place of `common`. Each time another one: in an earlier one the
 * project's may still be mounted. Null where git's files are links already.
 */
export function createGitOverlay(common: string, parent: string): GitOverlay | null {
  const isPlain = (name: string) => existsSync(join(common, name)) && !lstatSync(join(common, name)).isSymbolicLink();
  if (!isPlain('HEAD') || !isPlain('refs')) return null;
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  const place = mkdtempSync(join(parent, 'git-'));
  mkdirSync(join(place, REAL));
  const items = readdirSync(common, { withFileTypes: true }).filter(({ name }) => !name.endsWith('.lock'));
  // Bound, a directory has the path that it had; what it names by its own place is found.
  const directories = items.filter((item) => item.isDirectory()).map(({ name }) => name);
  for (const name of directories) mkdirSync(join(place, name));
  const files = new Set([...items.map(({ name }) => name), ...LATER]);
  for (const name of [...directories, 'HEAD', 'packed-refs']) files.delete(name);
  for (const name of files) symlinkSync(`${REAL}/${name}`, join(place, name));
  // Git takes no other link for a HEAD.
  symlinkSync(`refs/../${REAL}/HEAD`, join(place, 'HEAD'));
  linkPackedRefs(place);
  const real = join(place, REAL);
  return {
    place,
    binds: [
      { source: common, target: real },
      ...directories.map((name) => ({ source: join(real, name), target: join(place, name) })),
      { source: place, target: common },
    ],
  };
}
