// The unfinished work of an issue: in directories, on heads of the workspace's clone, in refs of the daemon's own copy.

import { join } from 'node:path';
import type { Clone } from '../../git/clone.ts';
import { isClone, readBranches, readHead, readStash } from '../../git/git-directory.ts';
import type { KeptWork, WorkspaceTask } from '../ports.ts';
import type { Mirror } from './mirror/mirror.ts';
import { asideOf } from './set-aside.ts';
import { taggedHeads } from './tag-saves.ts';
import { savedRefs, takeCommit } from './workspace-saves.ts';
import { looseHeads } from './worktree-saves.ts';

/** So many branches are looked at, those moved last first, and so many entries of the stash. */
const MAX_HEADS = 50;

type Head = { readonly name: string; readonly sha: string };

/** Branches by their names; commits that no branch stands on by their hashes. */
async function headsOf(clone: Clone, mirror: Mirror, signal: AbortSignal): Promise<readonly Head[]> {
  const { path } = clone;
  const branches = await readBranches(path, MAX_HEADS);
  const named = new Set(branches.map(({ sha }) => sha));
  const stash = readStash(join(path, '.git'), MAX_HEADS);
  const tagged = await taggedHeads(clone, mirror, signal);
  const loose = new Set([readHead(path), ...(await looseHeads(path)), ...stash, ...tagged]);
  return [
    ...branches.map(({ ref, sha }) => ({ name: `branch ${ref.slice('refs/heads/'.length)}`, sha })),
    ...[...loose].flatMap((sha) => (sha === null || named.has(sha) ? [] : [{ name: `commit ${sha}`, sha }])),
  ];
}

/** Whether the commit changes something and is on no branch of the remote. One that cannot be judged counts as such. */
async function isUnpublished(clone: Clone, mirror: Mirror, issue: number, sha: string, signal: AbortSignal) {
  try {
    await takeCommit(clone, mirror, issue, sha, signal);
    return !(await mirror.isPublished(sha)) && (await mirror.comparison.relationOf(sha, signal)) !== 'nothing';
  } catch {
    signal.throwIfAborted();
    return true;
  }
}

/**
 * Names the work of an issue's life that is published nowhere. No agent may be at work in the clone.
 * @param root of the workspaces
 * @param clone null: the workspace is not there, or was never complete
 */
export async function keptWork(
  root: string,
  clone: Clone | null,
  mirror: Mirror,
  task: WorkspaceTask,
  signal: AbortSignal,
): Promise<KeptWork> {
  const aside = asideOf(root, `issue-${task.issue}-${task.life}`);
  const heads: string[] = [];
  if (clone !== null && isClone(clone.path))
    for (const { name, sha } of await headsOf(clone, mirror, signal))
      if (await isUnpublished(clone, mirror, task.issue, sha, signal)) heads.push(name);
  const refs = await savedRefs(mirror, task);
  return { directories: [...(clone === null ? [] : [clone.path]), ...aside], heads, refs };
}
