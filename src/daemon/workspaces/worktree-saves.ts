// Work that teammates left in the worktrees inside a workspace, saved before the workspace goes. Of a worktree only its files
// and the commit it stands on are taken: agents may have changed what else git would read there.

import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readRegular } from '../../base/files/safe-read.ts';
import { messageOf } from '../../base/rules/errors.ts';
import { type Clone, hasCommit, saveUncommitted } from '../../git/clone.ts';
import { isUnstarted } from '../../git/git.ts';
import { readHeads, readRef } from '../../git/git-directory.ts';
import type { WorkspaceTask } from '../ports.ts';
import type { Mirror } from './mirror/mirror.ts';

/** So many worktrees are looked at, and so many commits that teams have kept aside. */
const MAX_WORKTREES = 50;
const MAX_KEPT = 50;
const MAX_LINE_BYTES = 4096;
/** What the daemon itself has saved before, and where teams began. */
const OWN = /^refs\/toolcrew\/(saved\/issue-[^/]+$|base\/)/;

/** Beside worktrees: one that is on its way out, whose work was kept, and what is being put into one. What is set aside is work. */
const PASSING = /^\.(?:gone|installed)-/;

type TeamWorktree = { readonly team: string; readonly name: string; readonly path: string };

function directoriesIn(path: string): readonly string[] {
  try {
    if (realpathSync.native(path) !== path || !lstatSync(path).isDirectory()) return [];
    const items = readdirSync(path, { withFileTypes: true });
    return items.filter((item) => item.isDirectory()).map(({ name }) => name);
  } catch {
    return [];
  }
}

/** Worktrees of writers; what was changed in the view of somebody who reads is none of the work. */
function worktreesOf(path: string): readonly TeamWorktree[] {
  const root = join(path, '.tool', 'worktrees');
  return directoriesIn(root).flatMap((team) =>
    directoriesIn(join(root, team)).flatMap((name) =>
      name.startsWith('@') || PASSING.test(name) ? [] : [{ team, name, path: join(root, team, name) }],
    ),
  );
}

/** The commit that a worktree stands on, as its files say; null: they do not. */
function headOf(clone: string, worktree: string): string | null {
  const place = /^gitdir: (.+)$/m.exec(readRegular(join(worktree, '.git'), MAX_LINE_BYTES) ?? '')?.[1];
  const name = place === undefined ? '' : basename(place.trim());
  if (!/^[\w@-][\w.@-]*$/.test(name)) return null;
  const text = readRegular(join(clone, '.git', 'worktrees', name, 'HEAD'), MAX_LINE_BYTES)?.trim() ?? '';
  const ref = /^ref: (refs\/heads\/[\w./@-]+)$/.exec(text)?.[1];
  if (ref === undefined) return /^[0-9a-f]{40,64}$/.test(text) ? text : null;
  return ref.split('/').includes('..') ? null : readRef(clone, ref);
}

/** Commits that stand under no branch: what worktrees stand on, and what teams have kept aside. */
export async function looseHeads(path: string): Promise<readonly string[]> {
  const heads = worktreesOf(path)
    .slice(0, MAX_WORKTREES)
    .flatMap((one) => headOf(path, one.path) ?? []);
  return [...new Set([...heads, ...(await readHeads(path, MAX_KEPT, 'refs/toolcrew', OWN))])];
}

/**
 * Saves what is not committed in the worktrees, each under a ref of its own, and says so. What cannot be saved of one keeps
 * no other from it; false then.
 * @param prefix of the refs
 */
export async function saveWorktrees(
  clone: Clone,
  mirror: Mirror,
  task: WorkspaceTask,
  prefix: string,
  signal: AbortSignal,
): Promise<boolean> {
  const all = worktreesOf(clone.path);
  let isWhole = all.length <= MAX_WORKTREES;
  for (const { team, name, path } of all.slice(0, MAX_WORKTREES)) {
    const what = `${team}/${name}`;
    try {
      const ref = await mirror.freeRef(`${prefix}-${what.replaceAll(/[^A-Za-z0-9_-]+/g, '-')}`);
      const stood = headOf(clone.path, path);
      const head = stood !== null && (await hasCommit(clone, stood, signal)) ? stood : null;
      if (!(await saveUncommitted(clone, ref, signal, { path, head }))) continue;
      await mirror.take(clone, ref, ref, signal);
      task.output(`uncommitted changes of ${what} saved as ${ref}\n`);
    } catch (error) {
      signal.throwIfAborted();
      if (isUnstarted(error)) throw error;
      isWhole = false;
      task.output(`uncommitted changes of ${what} could not be saved: ${messageOf(error)}\n`);
    }
  }
  const left = all.length - MAX_WORKTREES;
  if (left > 0) task.output(`${left} more worktrees are not looked at: there are more than ${MAX_WORKTREES}\n`);
  return isWhole;
}
