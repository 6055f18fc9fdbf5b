// Branches and finished work: takes the latest default branch in, also where files that are not committed are in the way.

import { failure } from '../../base/rules/errors.ts';
import { type Clone, isAncestor, removeUntracked, startBranch } from '../../git/clone.ts';
import type { TakenBase, Work, WorkspaceTask } from '../ports.ts';
import { WORKSPACES_CODES } from '../rules/codes/workspaces-codes.ts';
import type { Mirror } from './mirror/mirror.ts';
import { saveChanges } from './workspace-saves.ts';

export type BaseTaking = {
  readonly mirror: Mirror;
  /** Brings the workspace up to date, and gives its work. */
  readonly update: () => Promise<Work>;
  /** The clone after that. */
  readonly clone: () => Promise<Clone>;
  /** A script of the file decides what is merged. */
  readonly hasScript: boolean;
};

/** @throws when the commits merge cleanly and the default branch is not in them all the same */
export async function takeBase(
  { mirror, update, clone, hasScript }: BaseTaking,
  task: WorkspaceTask,
  signal: AbortSignal,
): Promise<TakenBase> {
  const base = await mirror.defaultBranch(signal);
  for (let tries = 0; ; tries++) {
    const { head } = await update();
    const conflicts = head === null ? [] : await mirror.comparison.conflictsWithTip(head, signal);
    if (hasScript || head === null || conflicts.length > 0) return { head, conflicts };
    const at = await clone();
    if (await isAncestor(at, `refs/remotes/origin/${base}`, head, signal)) return { head, conflicts };
    signal.throwIfAborted();
    if (tries > 0) throw failure(WORKSPACES_CODES.base_not_merged, { branch: task.branch, base: `origin/${base}` });
    await saveChanges(at, mirror, task, signal);
    await startBranch(at, task.branch, 'HEAD', signal);
    await removeUntracked(at, signal);
  }
}

/** Branches of the remote whose names begin so, with their commits. */
export async function branchesBelow(mirror: Mirror, prefix: string): Promise<ReadonlyMap<string, string>> {
  const names = (await mirror.refsBelow(`refs/heads/${prefix}`)).map((ref) => ref.replace('refs/heads/', ''));
  return new Map(await Promise.all(names.map(async (name) => [name, (await mirror.branchHead(name)) ?? ''] as const)));
}

/** Whether a commit of the remote's branch goes on from another one; null: the remote does not show that commit. */
export async function goesOn(
  mirror: Mirror,
  branch: string,
  from: string,
  commit: string,
  signal: AbortSignal,
): Promise<boolean | null> {
  mirror.outdate();
  await mirror.refresh(signal, branch);
  return (await mirror.branchHead(branch)) === commit ? mirror.comparison.goesOn(from, commit, signal) : null;
}
