// The beginning of a team's branch: made, taken up where it is, or brought along with the project.

import { failure } from '../../base/rules/errors.ts';
import type { Repository, RunGit } from '../../git/worktree-git.ts';
import { commitAt, commitsAt, isAncestor } from '../../git/worktrees/commits.ts';
import { BRANCHES, baseRef, headRef, leftRef, teamBranch } from '../../git/worktrees/names.ts';
import { noCommitError } from '../../git/worktrees/team-base.ts';
import { otherCheckoutOf } from '../../git/worktrees/worktree.ts';
import { WORK_CODES } from '../rules/codes/work-codes.ts';

export type TeamBranch = { readonly branch: string; readonly base: string; readonly head: string };

/** A team's branches are the repository's: in one checkout at a time a team of a name works on them. */
function refuseElsewhere(team: string, repository: Repository): void {
  const other = otherCheckoutOf(team, repository);
  if (other === undefined) return;
  throw failure(WORK_CODES.team_in_other_checkout, { team, path: other });
}

/** @param isNew the team is founded now: what the branch holds is an earlier one's of the same name */
export async function beginBranch(
  team: string,
  isNew: boolean,
  repository: Repository,
  runGit: RunGit,
): Promise<TeamBranch> {
  refuseElsewhere(team, repository);
  const { root } = repository;
  const branch = teamBranch(team);
  const here = await commitAt('HEAD', root, runGit);
  if (here === null) throw noCommitError(root);
  const inTheWay = headRef(BRANCHES);
  const refs = await commitsAt([headRef(branch), baseRef(team), leftRef(team), inTheWay], repository, runGit);
  if (refs.has(inTheWay)) throw failure(WORK_CODES.team_branches_blocked, { branch, blocking: BRANCHES });
  const tip = refs.get(headRef(branch)) ?? null;
  const noted = refs.get(leftRef(team));
  // Of a branch that is gone, or of a team that is.
  const isStale = noted !== undefined && (isNew || tip === null);
  if (isStale) await runGit.git(root, ['update-ref', '-d', leftRef(team)]);
  const left = isStale ? undefined : noted;
  const head = left ?? tip;
  const known = refs.get(baseRef(team)) ?? null;
  // Of a branch that is gone, or of one that never came to be.
  const isKnown = known !== null && head !== null && (await isAncestor(known, head, repository, runGit));
  const common = isKnown || head === null ? '' : (await runGit.try(root, ['merge-base', head, here])).stdout.trim();
  // All of an earlier team's work is what the project stands at.
  const base = isNew && head === here ? here : isKnown ? known : common || head || here;
  const isOver = isNew || (isKnown && head === known);
  if (head !== null && head !== here && isOver && (await isAncestor(head, here, repository, runGit))) {
    // Nobody has begun there, or all of it is in the project by now: the work is built on what is there.
    const writers = await runGit.git(root, ['for-each-ref', '--count=1', `${headRef(branch)}--*`]);
    if (writers === '') {
      await runGit.git(root, ['update-ref', baseRef(team), here]);
      for (const ref of [...(left === undefined ? [] : [leftRef(team)]), headRef(branch)])
        await runGit.git(root, ['update-ref', ref, here, head]);
      return { branch, base: here, head: here };
    }
  }
  const rows = [
    ...(!isKnown || base !== known ? [`update ${baseRef(team)} ${base}\n`] : []),
    ...(head === null ? [`create ${headRef(branch)} ${here}\n`] : []),
  ];
  if (rows.length > 0) await runGit.git(root, ['update-ref', '--stdin'], { input: rows.join('') });
  return { branch, base, head: head ?? here };
}
