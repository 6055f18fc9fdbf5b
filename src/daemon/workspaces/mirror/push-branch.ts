// The push of one branch over what may stand there meanwhile: our own commits are replaced, those of somebody else never.

import { ToolError } from '../../../base/rules/errors.ts';
import { explain, type GitResult } from '../../../git/git.ts';
import { BranchInTheWayError, branchInTheWay } from '../../rules/branch-prefix.ts';

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

/** False when the commit stood there already. Throws a ToolError `refused` for what another try would not mend. */
export async function pushBranch(
  remote: RemoteBranch,
  wanted: { readonly branch: string; readonly sha: string; readonly ours: readonly string[] },
  signal: AbortSignal,
): Promise<boolean> {
  const { branch, sha, ours } = wanted;
  let expected = ours.at(-1) ?? (await remote.branchHead());
  for (let tries = 0; tries < 2; tries++) {
    if (expected === sha && tries > 0) break;
    if (expected !== null && expected !== sha && !ours.includes(expected) && !(await remote.isAncestor(expected)))
      throw new ToolError(
        'refused',
        `the branch ${branch} holds commits of somebody else (${expected.slice(0, 12)}); they are not overwritten`,
      );
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

function refusalOf(branch: string, { stdout, stderr }: GitResult): ToolError {
  const taken = branchInTheWay(branch, stderr);
  if (taken !== undefined) return new BranchInTheWayError(branch, taken);
  // A line with "!" is a refusal of the branch itself, not of the connection.
  const code = stdout.split('\n').some((line) => line.startsWith('!\t')) ? 'refused' : 'git';
  return new ToolError(code, `git push failed: ${explain(stderr, stdout)}`);
}
