// A clone that is made once its files are read: until then the mirror holds its commit, and its directory is empty.

import { existsSync } from 'node:fs';
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
import { saveCommits, worksOf } from './workspace-saves.ts';

/** The commit that a new clone begins at: what is published of the branch, or else the default branch. */
async function startOf(mirror: Mirror, branch: string, signal: AbortSignal): Promise<string> {
  const main = await mirror.branchHead(await mirror.defaultBranch(signal));
  return (await mirror.branchHead(branch)) ?? main ?? '';
}

/** Has the clone be made later, unless it is late already. */
export async function delayClone(
  places: WorkspacePlaces,
  mirror: Mirror,
  { issue, branch }: WorkspaceTask,
  signal: AbortSignal,
): Promise<void> {
  if (!places.isLate(issue)) places.delay(issue, { branch, head: await startOf(mirror, branch, signal) });
}

/** Whether it is late, and the mirror has its commit: whatever failed, nothing of it is broken. */
export async function isWaiting(places: WorkspacePlaces, mirror: Mirror, task: WorkspaceTask, signal: AbortSignal) {
  const late = places.lateOf(task.issue);
  return late !== undefined && (await mirror.has(late.head, signal));
}

/**
 * Saves the commit of one that is late, as far as it is here. False: it is not late. Throws when the commit could not be
 * saved; all is there for another try.
 */
export async function saveLate(
  places: WorkspacePlaces,
  mirror: Mirror,
  task: WorkspaceTask,
  signal: AbortSignal,
): Promise<boolean> {
  const late = places.lateOf(task.issue);
  if (late === undefined) return false;
  if (!(await mirror.has(late.head, signal))) return true;
  await mirror.keep(late.head, `${worksOf(task.issue)}/${late.head}`);
  await saveCommits(places.cloneOf(task.issue), mirror, task, [late.head], signal);
  return true;
}

/**
 * Puts a clone, just made, where the late one was to stand that it replaces. False: it stays as it is, since it begins
 * with that commit, or the commit is lost.
 */
export async function bringCommit(
  places: WorkspacePlaces,
  mirror: Mirror,
  task: WorkspaceTask,
  signal: AbortSignal,
): Promise<boolean> {
  const { issue, branch } = task;
  const late = places.lateOf(issue);
  if (late === undefined) return false;
  if (!(await mirror.has(late.head, signal))) {
    task.output(`commit ${late.head} of an earlier attempt is lost; the branch starts anew\n`);
    return false;
  }
  if (await mirror.comparison.goesOn(late.head, await startOf(mirror, branch, signal), signal)) return false;
  await fillLate(mirror, places.cloneOf(issue), issue, late, signal);
  return true;
}

async function fillLate(mirror: Mirror, clone: Clone, issue: number, late: LateClone, signal: AbortSignal) {
  await mirror.keep(late.head, `${worksOf(issue)}/${late.head}`);
  await fillFrom(mirror, clone, { issue, ...late, files: null }, signal);
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
  if (!existsSync(mirror.source)) await mirror.refresh(signal);
  // An earlier process may have ended in the middle.
  await removeTree(path);
  await mkdir(path);
  await spares.fill({ ...task, branch: late.branch }, path, signal);
  const config = await lfs.equip(task, path, readConfig(path), signal);
  await fillLate(mirror, clone, issue, late, signal);
  manifests.write({ issue, config });
}
