// Work that an agent left unpublished, kept as refs in the daemon's own copy, where it outlives the workspace.

import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../../base/files/remove-tree.ts';
import { messageOf } from '../../base/rules/errors.ts';
import { type Clone, cloneMirror, saveUncommitted, statusWithFiles } from '../../git/clone.ts';
import { isUnstarted } from '../../git/git.ts';
import { isClone, readHead, readHeads, readRef, readStash } from '../../git/git-directory.ts';
import type { WorkspaceTask } from '../ports.ts';
import type { Mirror } from './mirror/mirror.ts';
import { ALL_FILES, type SavedNested, saveNested } from './nested-saves.ts';
import { taggedHeads } from './tag-saves.ts';
import type { GuardedClone } from './workspace-places.ts';
import { looseHeads, saveWorktrees } from './worktree-saves.ts';

/** So many branches of a clone are looked at, those moved last first, and so many entries of its stash. */
const MAX_HEADS = 50;

function nameOf(task: WorkspaceTask): string {
  return `refs/toolcrew/saved/issue-${task.issue}-${task.life}-${task.attempt}`;
}

/** Whether a line of output names work that was kept and is published nowhere. */
export function tellsSaved(line: string): boolean {
  return / saved as refs\/| is set aside as /.test(line);
}

/** What attempts of this life have saved. */
export function savedRefs(mirror: Mirror, { issue, life }: WorkspaceTask): Promise<readonly string[]> {
  return mirror.refsBelow(`refs/toolcrew/saved/issue-${issue}-${life}-`);
}

/** What earlier attempts of this life had saved and nobody was told of, a line each. */
export async function savedEarlier(
  mirror: Mirror,
  task: WorkspaceTask,
  told: readonly string[],
): Promise<readonly string[]> {
  const refs = await savedRefs(mirror, task);
  const lines = refs.map((ref) => `work of an earlier attempt saved as ${ref}`);
  return lines.filter((line) => !told.some((one) => one.endsWith(line.slice(line.lastIndexOf(' ')))));
}

/** All commits of a workspace that the mirror has, each under its own name. */
export function worksOf(issue: number): string {
  return `refs/toolcrew/work/issue-${issue}`;
}

/** Has the mirror hold a commit of the clone. */
export async function takeCommit(
  clone: Clone,
  mirror: Mirror,
  issue: number,
  sha: string,
  signal: AbortSignal,
): Promise<void> {
  if (!(await mirror.holds(sha))) await mirror.take(clone, sha, `${worksOf(issue)}/${sha}`, signal);
}

/** Saves changes that are not committed; null when there is nothing to save. */
export async function saveChanges(
  clone: Clone,
  mirror: Mirror,
  task: WorkspaceTask,
  signal: AbortSignal,
): Promise<string | null> {
  // Without any file there is none to lose: a clone that was never filled.
  if ((await readdir(clone.path)).length <= 1) return null;
  const ref = await mirror.freeRef(nameOf(task));
  if (!(await saveUncommitted(clone, ref, signal))) return null;
  await mirror.take(clone, ref, ref, signal);
  task.output(`uncommitted changes saved as ${ref}\n`);
  return ref;
}

/** Saves what lies in repositories inside the workspace; what could not be saved is said. */
export function saveRepositories(
  clone: Clone,
  mirror: Mirror,
  task: WorkspaceTask,
  signal: AbortSignal,
  files?: string,
): Promise<SavedNested> {
  return saveNested(clone, mirror, task, nameOf(task), signal, files);
}

/** Saves what teammates left uncommitted in worktrees of theirs; false when something could not be saved. */
function saveTeams(clone: Clone, mirror: Mirror, task: WorkspaceTask, signal: AbortSignal): Promise<boolean> {
  return saveWorktrees(clone, mirror, task, nameOf(task), signal);
}

/** Saves those commits that are published nowhere and change something; one that cannot be read keeps no other from it. */
export async function saveCommits(
  clone: Clone,
  mirror: Mirror,
  task: WorkspaceTask,
  shas: readonly (string | null)[],
  signal: AbortSignal,
): Promise<void> {
  const failures: unknown[] = [];
  for (const sha of new Set(shas)) {
    if (sha === null) continue;
    try {
      await takeCommit(clone, mirror, task.issue, sha, signal);
      if ((await mirror.isPublished(sha)) || (await mirror.comparison.relationOf(sha, signal)) === 'nothing') continue;
      const ref = await mirror.freeRef(`${nameOf(task)}-commits`);
      await mirror.keep(sha, ref);
      task.output(`unpublished commits saved as ${ref}\n`);
    } catch (error) {
      signal.throwIfAborted();
      if (isUnstarted(error)) throw error;
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** Saves all work of a workspace that goes. False when some of it could not be saved. Throws when git cannot use the clone. */
export async function saveWork(
  clone: GuardedClone,
  mirror: Mirror,
  task: WorkspaceTask,
  signal: AbortSignal,
): Promise<boolean> {
  const { settled } = clone;
  const { status, files } =
    settled === undefined ? await statusWithFiles(clone, ALL_FILES, signal) : { status: settled, files: '' };
  const { oid, dirty } = status;
  if (dirty) await saveChanges(clone, mirror, task, signal);
  const hasTeams = await saveTeams(clone, mirror, task, signal);
  const branches = await readHeads(clone.path, MAX_HEADS + 1);
  const loose = [
    ...(await looseHeads(clone.path)),
    ...readStash(join(clone.path, '.git'), MAX_HEADS),
    ...(await taggedHeads(clone, mirror, signal)),
  ];
  await saveCommits(clone, mirror, task, [oid, ...branches.slice(0, MAX_HEADS), ...loose], signal);
  const { isWhole } = await saveRepositories(clone, mirror, task, signal, files);
  return isWhole && hasTeams && branches.length <= MAX_HEADS;
}

/**
 * Saves what can be saved of a workspace whose clone git cannot use any more: the commits, where they can be read, and
 * the files as they are, against the default branch. Its Git directory is another one afterwards, with the old one in it.
 * False when something could not be saved. Throws when git could not begin, and all is there for another try.
 * @param scratch a path for a clone, not there yet
 */
export async function salvage(
  clone: Clone,
  mirror: Mirror,
  task: WorkspaceTask,
  scratch: string,
  signal: AbortSignal,
): Promise<boolean> {
  let isWhole = true;
  let isReplaced = false;
  const trying = async (what: string, save: () => Promise<unknown>) => {
    try {
      await save();
    } catch (error) {
      signal.throwIfAborted();
      // Later, as long as nothing is lost to a later try.
      if (isWhole && !isReplaced && isUnstarted(error)) throw error;
      isWhole = false;
      task.output(`${what} could not be saved: ${messageOf(error)}\n`);
    }
  };
  if (isClone(clone.path)) {
    // Git directories of submodules and worktrees, which files of the workspace name: without the clone none can read them.
    isWhole = !['modules', 'worktrees'].some((name) => existsSync(join(clone.path, '.git', name)));
    const heads = await Promise.all([readHeads(clone.path, MAX_HEADS), looseHeads(clone.path)]).catch(() => []);
    const own = [readRef(clone.path, `refs/heads/${task.branch}`), readHead(clone.path)];
    for (const sha of new Set([...own, ...heads.flat(), ...readStash(join(clone.path, '.git'), MAX_HEADS)]))
      await trying('commits', () => saveCommits(clone, mirror, task, [sha], signal));
  }
  await trying('files', async () => {
    await replaceGitDirectory(clone.path, mirror, scratch, signal);
    // A later try would find a sound clone without the work.
    isReplaced = true;
    await saveChanges(clone, mirror, task, signal);
    isWhole = (await saveTeams(clone, mirror, task, signal)) && isWhole;
    isWhole = (await saveRepositories(clone, mirror, task, signal)).isWhole && isWhole;
  });
  return isWhole;
}

async function replaceGitDirectory(path: string, mirror: Mirror, scratch: string, signal: AbortSignal): Promise<void> {
  await mirror.refresh(signal);
  await removeTree(scratch);
  try {
    await mkdir(scratch, { recursive: true });
    await cloneMirror(mirror.source, scratch, signal, 'without files');
    const old = join(scratch, '.git', 'toolcrew-replaced');
    if (existsSync(join(path, '.git'))) await rename(join(path, '.git'), old);
    await rename(join(scratch, '.git'), join(path, '.git'));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
