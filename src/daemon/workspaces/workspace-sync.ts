// Bringing a workspace up to date with the default branch, by git or by the file's own script.

import { isFailure, ToolError } from '../../base/rules/errors.ts';
import {
  abortMerge,
  areRelated,
  type Clone,
  type CloneStatus,
  fetchOrigin,
  hasAllBetween,
  isAncestor,
  mergeIfClean,
  moveBranchToHead,
  moveToBranch,
  removeUntracked,
  startBranch,
  statusOf,
  statusWithRefs,
} from '../../git/clone.ts';
import { ALL_PAST } from '../../git/git.ts';
import {
  abandonOperation,
  placeBranch,
  readHead,
  readRef,
  showsAllOf,
  unfinishedOperation,
} from '../../git/git-directory.ts';
import { GIT_CODES } from '../../git/rules/git-codes.ts';
import type { WorkspaceTask } from '../ports.ts';
import type { Mirror } from './mirror/mirror.ts';
import type { GuardedClone } from './workspace-places.ts';
import { saveChanges, saveCommits } from './workspace-saves.ts';

export type SyncOptions = {
  readonly clone: Clone & Partial<GuardedClone>;
  readonly mirror: Mirror;
  readonly task: WorkspaceTask;
  /** The clone was just made: nothing is to be fetched, saved or removed. */
  readonly isNew: boolean;
  /** Its files are those of its HEAD, because no script has been in it either. */
  readonly isPristine: boolean;
};

/**
 * The first attempt starts from the latest default branch; later ones keep their work and take it in where that merges
 * cleanly. Gives how the clone is, where that is known and nothing in it is to be saved.
 */
export async function syncWorkspace(options: SyncOptions, signal: AbortSignal): Promise<CloneStatus | undefined> {
  const { clone, mirror, task, isNew } = options;
  const { settled } = clone;
  const main = `refs/remotes/origin/${await mirror.defaultBranch(signal)}`;
  const local = `refs/heads/${task.branch}`;
  const published = `refs/remotes/origin/${task.branch}`;
  const shown = mirror.shownRefs;
  if (!isNew && (shown === undefined || !(await showsAllOf(clone.path, shown)))) await fetchOrigin(clone, signal);
  const head = options.isPristine ? readHead(clone.path) : null;
  if (head !== null && (await mirror.branchHead(task.branch)) === null && readRef(clone.path, main) === head) {
    await placeBranch(clone.path, task.branch, head);
    return { oid: head, branch: task.branch, dirty: false };
  }
  const names = [local, published];
  const { status, refs } =
    settled === undefined && !isNew
      ? await statusWithRefs(clone, names, signal)
      : { status: settled, refs: new Set(names.filter((ref) => readRef(clone.path, ref) !== null)) };
  const base = refs.has(published) ? published : main;
  if (status === undefined) await startBranch(clone, task.branch, refs.has(local) ? local : base, signal);
  else await switchToIssueBranch(options, status, refs.has(local) ? local : null, base, signal);
  const others = [...(refs.has(local) && refs.has(published) ? [published] : []), ...(refs.size > 0 ? [main] : [])];
  for (const other of others) {
    const at = readHead(clone.path);
    if (at !== null && at === readRef(clone.path, other)) continue;
    await relate(options, other, signal);
    if (await mergeIfClean(clone, other, signal)) continue;
    if (isNew || (await areRelated(clone, 'HEAD', other, signal))) {
      task.output(`${other} does not merge cleanly; it is left out\n`);
      continue;
    }
    const { oid, dirty } = await statusOf(clone, signal);
    if (dirty) await saveChanges(clone, mirror, task, signal);
    await saveCommits(clone, mirror, task, [oid], signal);
    await startBranch(clone, task.branch, base, signal);
    task.output(`the branch had no commit in common with ${other}; it starts anew\n`);
  }
  const isAsItWas = settled?.branch === task.branch && readHead(clone.path) === settled.oid;
  return isAsItWas ? settled : undefined;
}

/** @param run runs the script */
export async function syncByScript(
  { clone, mirror, task, isNew }: Omit<SyncOptions, 'isPristine'>,
  run: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  if (!isNew) {
    const { branch, dirty } = await statusOf(clone, signal);
    // A script that takes the branch up or starts it anew may throw away what lies around.
    const isMoving = branch !== task.branch || (await unfinishedOperation(clone.path)) !== null;
    if (dirty && isMoving) await saveChanges(clone, mirror, task, signal);
  }
  await run();
  const { branch } = await statusOf(clone, signal);
  if (branch !== task.branch) await moveToBranch(clone, task.branch, signal);
}

/** A clone that ends early goes further back until it has all in which its branch and the other differ, or to the beginning. */
async function relate({ clone, mirror }: SyncOptions, other: string, signal: AbortSignal): Promise<void> {
  const isEnough = () => hasAllBetween(clone, 'HEAD', other, signal);
  if (await isEnough()) return;
  const goBack = async () => {
    await fetchOrigin(clone, signal, ALL_PAST);
    return isEnough();
  };
  if (await goBack()) return;
  await mirror.deepen(goBack, signal);
  await fetchOrigin(clone, signal, ALL_PAST);
}

/** Puts a clone where an agent has been on the issue's branch; what it leaves behind by that is saved first. */
async function switchToIssueBranch(
  { clone, mirror, task }: SyncOptions,
  status: CloneStatus,
  local: string | null,
  base: string,
  signal: AbortSignal,
): Promise<void> {
  const begun = await unfinishedOperation(clone.path);
  // A branch of the agent's own that goes on from the issue's is its work; that of an earlier life is not.
  const from = local ?? (task.attempt > 1 ? base : null);
  const isOwn =
    status.branch !== task.branch &&
    status.oid !== null &&
    from !== null &&
    (await isAncestor(clone, from, status.oid, signal));
  if (begun === null && (isOwn || (status.branch === task.branch && local !== null))) {
    if (isOwn) await moveBranchToHead(clone, task.branch, signal);
    return;
  }
  if (status.dirty || begun !== null) await saveChanges(clone, mirror, task, signal);
  if (status.branch === task.branch && local !== null && begun === 'merge' && (await abortMerge(clone))) return;
  if (!isOwn) await saveCommits(clone, mirror, task, [status.oid], signal);
  await abandonOperation(clone.path);
  await startBranch(clone, task.branch, isOwn && status.oid !== null ? status.oid : (local ?? base), signal);
  if (local === null && !isOwn) await removeUntracked(clone, signal);
}

/** Whether a failed synchronization may be the clone's fault: another clone may do. */
export function mayBeClone(error: unknown): boolean {
  if (!(error instanceof ToolError) || error.kind === 'git' || error.kind === 'hook') return true;
  return isFailure(error, GIT_CODES.workspace_broken_by_agent);
}
