// The push of one branch over what may stand there meanwhile: our own commits are replaced, those of somebody else never.

import { failure, type ToolError } from '../../../base/rules/errors.ts';
import { explain, type GitResult } from '../../../git/git.ts';
import { branchInTheWay } from '../../rules/branch-prefix.ts';
import { WORKSPACES_CODES } from '../../rules/codes/workspaces-codes.ts';
import { gitFailure } from './git-failure.ts';

/** The branch on the remote, and what is known of it here. */
export type RemoteBranch = {
  /** Its commit as last fetched; null when there is none. */
  readonly branchHead: () => Promise<string | null>;
  /** Whether the commit to push goes on from that one. */
  readonly isAncestor: (expected: string) => Promise<boolean>;
  /** Pushes where the remote has the expected commit; null: no such branch. */
  readonly push: (expected: string | null) => Promise<GitResult>;
  /** Asks the remote for what is new. */
  readonly refresh: () => Promise<void>;
};

/** False when the commit stood there already. Throws a refusal for what another try would not change. */
export async function pushBranch(
  remote: RemoteBranch,
  wanted: {
    readonly branch: string;
    readonly sha: string;
    readonly ours: readonly string[];
    readonly kept?: string | undefined;
  },
  signal: AbortSignal,
): Promise<boolean> {
  const { branch, sha, ours, kept } = wanted;
  const refuse = (commit: string) =>
    failure(WORKSPACES_CODES.branch_has_foreign_commits, { branch, commit: commit.slice(0, 12) });
  if (kept !== undefined && kept !== sha && !(await remote.isAncestor(kept))) throw refuse(kept);
  let expected = ours.at(-1) ?? (await remote.branchHead());
  for (let tries = 0; tries < 2; tries++) {
    if (expected === sha && tries > 0) break;
    if (expected !== null && expected !== sha && !ours.includes(expected) && !(await remote.isAncestor(expected)))
      throw refuse(expected);
    const result = await remote.push(expected);
    if (result.exitCode === 0) return true;
    signal.throwIfAborted();
    const isStale = /stale info|fetch first|non-fast-forward/.test(result.stdout + result.stderr);
    if (!isStale || tries > 0) throw refusalOf(branch, result);
    await remote.refresh();
    expected = await remote.branchHead();
  }
  return false;
}

function refusalOf(branch: string, result: GitResult): ToolError {
  const { stdout, stderr } = result;
  const blocking = branchInTheWay(branch, stderr);
  if (blocking !== undefined) return failure(WORKSPACES_CODES.issue_branch_blocked, { blocking, branch });
  const said = explain(stderr, stdout);
  // A line with "!" is a refusal of the branch itself, not of the connection.
  const isFinal = stdout.split('\n').some((line) => line.startsWith('!\t'));
  return isFinal ? failure(WORKSPACES_CODES.push_rejected, { said }) : gitFailure('push', result, said);
}
