// The commit that a team begins from, as the person keeps it: whether there is one yet, and whether it is still there.

import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { failure, type ToolError } from '../../base/rules/errors.ts';
import { tryGit } from '../git.ts';
import { GIT_CODES } from '../rules/git-codes.ts';
import { BRANCHES, baseRef, headRef, teamBranch } from './names.ts';

const SHOWN = 10;

export function noCommitError(root: string): ToolError {
  return failure(GIT_CODES.no_commit_yet, { path: root });
}

/** Throws in a repository without a commit; where there is no repository, whoever makes worktrees says so. */
export async function requireCommit(root: string): Promise<void> {
  const { exitCode } = await tryGit(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], { cwd: root });
  if (exitCode === 1) throw noCommitError(root);
}

/** A warning where the user has amended or rebased the first commit of a team since; null: the commit is still there. */
export async function rewrittenBase(root: string, team: string): Promise<Refusal | null> {
  const ask = (...args: readonly string[]) => tryGit(args, { cwd: root });
  const base = (await ask('rev-parse', '--verify', '--quiet', baseRef(team))).stdout.trim();
  if (base === '' || (await ask('merge-base', '--is-ancestor', base, 'HEAD')).exitCode === 0) return null;
  const { exitCode, stdout } = await ask('for-each-ref', '--format=%(refname)', `--contains=${base}`);
  const refs = stdout.split('\n').filter((ref) => /^refs\/(?:heads|remotes|tags)\//.test(ref));
  const isKept = refs.some((ref) => !ref.startsWith(`${headRef(BRANCHES)}/`));
  if (exitCode !== 0 || isKept) return null;
  return refusal(GIT_CODES.team_base_rewritten, { base: base.slice(0, SHOWN), branch: teamBranch(team) });
}
