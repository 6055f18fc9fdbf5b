// State of a workspace around an agent that only reads: compared afterwards, and put back where it differs.

import { type Clone, restoreTree, statusOf, writeTree } from '../../git/clone.ts';
import type { WorkspaceState } from '../ports.ts';

/** No agent may be at work in the clone, and its Git directory is in order. */
export async function stateOf(clone: Clone, signal: AbortSignal): Promise<WorkspaceState> {
  const { oid, branch } = await statusOf(clone, signal);
  return { head: oid ?? '', branch, tree: await writeTree(clone, signal) };
}

/** False: nothing differed. */
export async function putBack(clone: Clone, state: WorkspaceState, signal: AbortSignal): Promise<boolean> {
  const now = await stateOf(clone, signal);
  if (now.head === state.head && now.branch === state.branch && now.tree === state.tree) return false;
  await restoreTree(clone, state, signal);
  return true;
}
