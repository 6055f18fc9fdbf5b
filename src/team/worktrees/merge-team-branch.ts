// The branch of an issue and the work of its team: where it stood before, and how what the team built comes into it.

import { failure } from '../../base/rules/errors.ts';
import { lastLines } from '../../base/rules/text.ts';
import { cloneEnvironment, tryGit } from '../../git/git.ts';
import { identity } from '../../git/worktree-git.ts';
import { headRef, keptRef, teamBranch } from '../../git/worktrees/names.ts';
import { WORK_CODES } from '../rules/codes/work-codes.ts';
import { LEAD } from '../rules/message.ts';

/** Where a checkout stands: teammates have no business there. `branch`: empty on none. */
export type BranchPosition = { readonly branch: string; readonly head: string };

export async function branchPositionOf(root: string): Promise<BranchPosition> {
  const git = async (...args: readonly string[]) => (await tryGit(args, { cwd: root })).stdout.trim();
  return { branch: await git('symbolic-ref', '--quiet', 'HEAD'), head: await git('rev-parse', '--verify', 'HEAD') };
}

/**
 * Has the checkout stand where it stood before its team began. What was committed there meanwhile went by nobody's rules:
 * it is kept under refs and is no part of the work.
 * @returns what is to be said of it; null: it stood there
 */
async function putBack(root: string, team: string, start: BranchPosition): Promise<string | null> {
  const now = await branchPositionOf(root);
  const git = async (...args: readonly string[]) => {
    const { exitCode, stdout, stderr } = await tryGit(args, { cwd: root });
    if (exitCode === 0) return stdout.trim();
    throw failure(WORK_CODES.issue_branch_not_restored, {
      ...{ start: start.head, branch: start.branch, now: now.head, now_branch: now.branch },
      said: lastLines(stderr || stdout),
    });
  };
  const at =
    start.branch === ''
      ? start.head
      : (await tryGit(['rev-parse', '--verify', start.branch], { cwd: root })).stdout.trim();
  if (now.branch === start.branch && now.head === start.head && at === start.head) return null;
  const foreign = [...new Set([now.head, at])].filter((sha) => sha !== '' && sha !== start.head);
  const kept = foreign.map((sha) => keptRef('saved', team, LEAD, sha));
  for (const [index, ref] of kept.entries()) await git('update-ref', ref, foreign[index] ?? '');
  const short = start.branch.replace(/^refs\/heads\//, '');
  await git(
    'checkout',
    '--quiet',
    '--force',
    ...(short === '' ? ['--detach'] : ['--no-track', '-B', short]),
    start.head,
  );
  const what = kept.length === 0 ? '' : `; what was committed there is kept as ${kept.join(', ')}`;
  return `the issue's branch was to stand at ${start.head} (${start.branch}) until the team's work comes in, and stood at ${now.head} (${now.branch}): it is back${what}`;
}

/**
 * The team's branch comes into the one that is checked out, which is the issue's.
 * @param say takes a line that people are told
 */
export async function mergeTeamBranch(
  root: string,
  team: string,
  start: BranchPosition,
  say: (words: string) => void,
): Promise<void> {
  const moved = await putBack(root, team, start);
  if (moved !== null) say(moved);
  const env = { ...cloneEnvironment(process.env), ...identity(team, LEAD) };
  const merge = await tryGit(['merge', '--quiet', '-m', `Merge ${teamBranch(team)}`, headRef(teamBranch(team))], {
    cwd: root,
    env,
  });
  if (merge.exitCode === 0) return;
  await tryGit(['merge', '--abort'], { cwd: root });
  throw failure(WORK_CODES.team_work_not_merged, {
    ...{ branch: teamBranch(team), said: lastLines(merge.stderr || merge.stdout) },
  });
}
