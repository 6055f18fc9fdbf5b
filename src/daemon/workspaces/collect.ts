// Work that an agent left in a workspace: the commit to publish, or else the refs under which it was saved.

import { failure } from '../../base/rules/errors.ts';
import { oneLine } from '../../base/rules/text.ts';
import { type Clone, type CloneStatus, refOf, statusWithFiles } from '../../git/clone.ts';
import { readHead, readRef } from '../../git/git-directory.ts';
import type { Work, WorkspaceTask } from '../ports.ts';
import { WORKSPACES_CODES } from '../rules/codes/workspaces-codes.ts';
import type { Mirror } from './mirror/mirror.ts';
import { ALL_FILES } from './nested-saves.ts';
import type { GuardedClone } from './workspace-places.ts';
import { saveChanges, saveRepositories, takeCommit } from './workspace-saves.ts';

/** Where the work would be: on the issue's branch, or wherever the agent left off. */
function headsOf({ path, settled }: Clone & Partial<GuardedClone>, branch: string): (string | null)[] {
  if (settled?.branch === branch) return [settled.oid];
  return [readRef(path, `refs/heads/${branch}`), readHead(path)];
}

/** The first commit that changes anything: an agent that committed on a branch of its own is taken at its work, not at the branch's name. */
async function publishable(
  clone: Clone,
  mirror: Mirror,
  { issue }: WorkspaceTask,
  candidates: readonly (string | null)[],
  signal: AbortSignal,
): Promise<{ readonly head: string | null; readonly isUnrelated: boolean }> {
  let isUnrelated = false;
  for (const sha of new Set(candidates)) {
    if (sha === null) continue;
    await takeCommit(clone, mirror, issue, sha, signal);
    const standing = await mirror.comparison.relationOf(sha, signal);
    if (standing === 'changes') return { head: sha, isUnrelated: false };
    isUnrelated ||= standing === 'unrelated';
  }
  return { head: null, isUnrelated };
}

/** The commit that would be published now, as the files of the Git directory tell it. */
export async function headNow(
  clone: Clone & Partial<GuardedClone>,
  mirror: Mirror,
  task: WorkspaceTask,
  signal: AbortSignal,
): Promise<string | null> {
  return (await publishable(clone, mirror, task, headsOf(clone, task.branch), signal)).head;
}

/**
 * No agent may be at work in the clone, and its Git directory is in order.
 * @param settle called with how it is, where nothing in it is to be saved
 */
export async function collectFrom(
  clone: GuardedClone,
  mirror: Mirror,
  task: WorkspaceTask,
  settle: (status: CloneStatus | undefined) => void,
  signal: AbortSignal,
): Promise<Work> {
  const { settled } = clone;
  const committed = await headNow(clone, mirror, task, signal);
  if (committed !== null) {
    settle(settled);
    return { head: await whole(mirror, committed, signal), savedAs: null };
  }
  // Git itself may see what its files do not show at once.
  const { status, files } =
    settled === undefined ? await statusWithFiles(clone, ALL_FILES, signal) : { status: settled, files: '' };
  const own = status.branch === task.branch ? status.oid : await refOf(clone, `refs/heads/${task.branch}`, signal);
  const { head, isUnrelated } = await publishable(clone, mirror, task, [own, status.oid], signal);
  const { saved, isWhole } =
    head === null ? await save(clone, mirror, task, status.dirty, files, signal) : { saved: [], isWhole: false };
  if (isWhole && saved.length === 0) settle(status);
  const savedAs = saved.length === 0 ? null : saved.join(', ');
  if (head === null && isUnrelated)
    throw failure(WORKSPACES_CODES.history_unrelated, {
      branch: task.branch,
      base: await mirror.defaultBranch(signal),
    });
  return { head: head === null ? null : await whole(mirror, head, signal), savedAs };
}

async function save(
  clone: Clone,
  mirror: Mirror,
  task: WorkspaceTask,
  dirty: boolean,
  files: string,
  signal: AbortSignal,
): Promise<{ readonly saved: readonly string[]; readonly isWhole: boolean }> {
  const own = dirty ? await saveChanges(clone, mirror, task, signal) : null;
  // What could not be saved stays: the workspace goes later, or is set aside then.
  const { refs, isWhole } = await saveRepositories(clone, mirror, task, signal, files);
  return { saved: own === null ? refs : [own, ...refs], isWhole };
}

/** The commit, with all its files in it: a nested repository would leave with the workspace. */
async function whole(mirror: Mirror, sha: string, signal: AbortSignal): Promise<string> {
  const links = await mirror.comparison.newLinks(sha, signal);
  if (links.length === 0) return sha;
  const named = links.map((link) => oneLine(link, 200));
  throw failure(WORKSPACES_CODES.nested_repository_linked, { links: named, first: named[0] ?? '' });
}
