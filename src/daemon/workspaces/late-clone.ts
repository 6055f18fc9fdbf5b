// A clone that is made once its files are read: until then the mirror holds its commit, and its directory is empty.

import { mkdir } from 'node:fs/promises';
import { removeTree } from '../../base/files/remove-tree.ts';
import { type Clone, restoreTree } from '../../git/clone.ts';
import { readConfig } from '../../git/git-directory.ts';
import type { WorkspaceTask } from '../ports.ts';
import type { LfsFiles } from './lfs-files.ts';
import type { Mirror } from './mirror/mirror.ts';
import type { SpareClones } from './spare-clones.ts';
import type { LateClone, WorkspaceManifests } from './workspace-manifests.ts';
import type { GuardedClone, WorkspacePlaces } from './workspace-places.ts';
import { worksOf } from './workspace-saves.ts';

/** It is to stand on what is published of the branch, or else on the default branch. */
export async function delayClone(
  places: WorkspacePlaces,
  mirror: Mirror,
  { issue, branch }: WorkspaceTask,
  signal: AbortSignal,
): Promise<void> {
  const main = await mirror.branchHead(await mirror.defaultBranch(signal));
  places.delay(issue, { branch, head: (await mirror.branchHead(branch)) ?? main ?? '' });
}

/** Where it stands with all of these branches; null: that takes a merge. */
async function joined(
  head: string,
  branches: readonly string[],
  mirror: Mirror,
  signal: AbortSignal,
): Promise<string | null> {
  let at = head;
  for (const branch of branches) {
    const other = await mirror.branchHead(branch);
    if (other === null || other === at || (await mirror.comparison.goesOn(other, at, signal))) continue;
    if (!(await mirror.comparison.goesOn(at, other, signal))) return null;
    at = other;
  }
  return at;
}

/** Has it take in what is published of its branch, and the default branch. False: the clone is there, maybe since now. */
export async function moveLate(
  places: WorkspacePlaces,
  mirror: Mirror,
  task: WorkspaceTask,
  signal: AbortSignal,
): Promise<boolean> {
  const { issue, branch } = task;
  const late = places.lateOf(issue);
  if (late === undefined) return false;
  const others = [branch, await mirror.defaultBranch(signal)];
  const head = late.branch === branch ? await joined(late.head, others, mirror, signal) : null;
  if (head !== null) {
    if (head !== late.head) places.delay(issue, { branch, head });
    return true;
  }
  await mirror.refresh(signal, branch);
  places.settle(issue, (await places.guarded(task, signal)).settled);
  return false;
}

/**
 * The clone, for those who need its commits alone: one that is late stays so, and the mirror has its commit. No agent may be
 * at work in it.
 */
export async function commitsOf(
  places: WorkspacePlaces,
  mirror: Mirror,
  task: WorkspaceTask,
  signal: AbortSignal,
): Promise<GuardedClone> {
  const late = places.lateOf(task.issue);
  if (late?.branch !== task.branch) return places.guarded(task, signal);
  const { head, branch } = late;
  // The default branch may stand elsewhere by now.
  if (!(await mirror.holds(head))) await mirror.keep(head, `${worksOf(task.issue)}/${head}`);
  return { ...places.cloneOf(task.issue), settled: { oid: head, branch, dirty: false } };
}

/** `files`: a commit with files that are not committed in `head`; null: there are none. */
type Carried = { readonly head: string; readonly files: string | null };

/** Has the workspace hold commits of the mirror, its branch and its files. No agent may be at work in it. */
export async function putWork(
  places: WorkspacePlaces,
  mirror: Mirror,
  task: WorkspaceTask,
  { head, files }: Carried,
  signal: AbortSignal,
): Promise<void> {
  const { issue, branch } = task;
  await mirror.keep(files ?? head, `${worksOf(issue)}/${files ?? head}`);
  if (files === null && places.isLate(issue)) return places.delay(issue, { head, branch });
  // It is about to have files of an agent's commits: git runs in namespaces from here on.
  places.touch(issue);
  const clone = await places.guarded(task, signal);
  await fillFrom(mirror, clone, { issue, branch, head, files }, signal);
  places.settle(issue, clone.settled && { oid: head, branch, dirty: files !== null });
}

async function fillFrom(
  mirror: Mirror,
  clone: Clone,
  { issue, branch, head, files }: LateClone & Carried & { readonly issue: number },
  signal: AbortSignal,
): Promise<void> {
  const [tip, ref] = [files ?? head, `${worksOf(issue)}/${files ?? head}`];
  const how = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--no-recurse-submodules'];
  const fetch = ['fetch', ...how, mirror.path, `+${ref}:refs/toolcrew/carried`];
  await restoreTree(clone, { head, branch, tree: tip }, signal, [fetch]);
}

type Parts = {
  readonly mirror: Mirror;
  readonly spares: SpareClones;
  readonly lfs: LfsFiles;
  readonly manifests: WorkspaceManifests;
};

/** Makes it in its directory. */
export async function makeLate(
  { mirror, spares, lfs, manifests }: Parts,
  clone: Clone,
  task: WorkspaceTask,
  late: LateClone,
  signal: AbortSignal,
): Promise<void> {
  const { path } = clone;
  const { issue } = task;
  // An earlier process may have ended in the middle.
  await removeTree(path);
  await mkdir(path);
  await spares.fill({ ...task, branch: late.branch }, path, signal);
  const config = await lfs.equip(task, path, readConfig(path), signal);
  await mirror.keep(late.head, `${worksOf(issue)}/${late.head}`);
  await fillFrom(mirror, clone, { issue, ...late, files: null }, signal);
  manifests.write({ issue, config });
}
