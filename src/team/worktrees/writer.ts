// A writer's branch and worktree, brought together again whatever a kill, or the writer itself, did to them.

import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { failure } from '../../base/rules/errors.ts';
import type { Repository, RunGit } from '../../git/worktree-git.ts';
import { commitAt, isAncestor, refAt } from '../../git/worktrees/commits.ts';
import { finishMove, hasUnfinishedMove } from '../../git/worktrees/move.ts';
import { headRef, memberBranch, memberPath, teamBranch } from '../../git/worktrees/names.ts';
import {
  type OffBranch,
  offBranchText,
  stashOf,
  UNFINISHED,
  worktreeOperation,
} from '../../git/worktrees/off-branch.ts';
import { ensureWorktree, type Worktree } from '../../git/worktrees/worktree.ts';
import { WORK_CODES } from '../rules/codes/work-codes.ts';
import { headsOf, noteHead } from './branch-head.ts';

export type Writer = {
  readonly worktree: Worktree;
  readonly branch: string;
  readonly ref: string;
  /** Where its branch stands. */
  readonly at: string;
  /** Where the team's branch stands. */
  readonly head: string;
};

/** `astray`: where its worktree stays that cannot be put upon its branch; null: it stands there. */
export type WriterAnywhere = Writer & { readonly astray: OffBranch | null };

type Who = { readonly team: string; readonly member: string };

/** The branch and its worktree, made where they are missing, with what was begun in them brought to its end. */
export async function openWriter(who: Who, repository: Repository, runGit: RunGit): Promise<Writer> {
  return requireOnBranch(await openWriterAnywhere(who, repository, runGit));
}

/** Throws of a worktree that stands elsewhere. */
export function requireOnBranch(found: WriterAnywhere): Writer {
  if (found.astray === null) return found;
  throw failure(WORK_CODES.worktree_astray, { path: found.worktree.path, where: found.astray.words });
}

export async function openWriterAnywhere(who: Who, repository: Repository, runGit: RunGit): Promise<WriterAnywhere> {
  const { team, member } = who;
  const branch = memberBranch(team, member);
  const ref = headRef(branch);
  const heads = await headsOf(team, member, repository, runGit);
  const head = requireTeam(team, heads.head);
  const found = heads.at;
  await noteHead(team, heads, repository, runGit, found === undefined ? ref : undefined);
  const worktree = await ensureWorktree(memberPath(team, member, repository), [branch], repository, runGit);
  const isInOrder = headOf(worktree) === ref && !hasUnfinishedMove(worktree);
  const astray = isInOrder ? null : await attach(worktree, branch, repository, runGit);
  if (!isInOrder && astray === null) await finishMove(worktree, ref, repository, runGit);
  const at = isInOrder ? found : await refAt(ref, repository, runGit);
  return { worktree, branch, ref, at: at ?? head, head, astray };
}

/** The commit of the team's branch, given that it has one. */
export function requireTeam(team: string, head: string | undefined): string {
  if (head !== undefined) return head;
  throw failure(WORK_CODES.team_branch_missing, { branch: teamBranch(team) });
}

/** The ref that the worktree stands on, as far as a file says so. */
function headOf({ admin }: Worktree): string | null {
  return /^ref: (.+)\n$/.exec(readFileSync(join(admin, 'HEAD'), 'utf8'))?.[1] ?? null;
}

/**
 * Has the worktree stand on its branch again, with what it has. Files of another commit are never taken for changes to the
 * branch: what that has beside them would be undone. Gives where it stays; null: it stands on the branch.
 */
async function attach(
  { path, admin }: Worktree,
  branch: string,
  repository: Repository,
  runGit: RunGit,
): Promise<OffBranch | null> {
  const ref = headRef(branch);
  const other = (await runGit.try(path, ['symbolic-ref', '--quiet', 'HEAD'])).stdout.trim();
  if (other === ref) return null;
  const sha = await commitAt('HEAD', path, runGit);
  const at = await refAt(ref, repository, runGit);
  const step = worktreeOperation(admin);
  const astray = { sha, words: offBranchText(sha, other, branch, step) };
  if (stashOf(admin) !== null || (sha === null && other !== '')) return astray;
  if (sha !== null && at !== null && sha !== at) {
    if (await isAncestor(at, sha, repository, runGit)) await runGit.git(path, ['update-ref', ref, sha, at]);
    else {
      const isBehind = step === null && (await isAncestor(sha, at, repository, runGit));
      const back = ['checkout', '--quiet', '--no-overwrite-ignore', branch];
      return isBehind && (await runGit.try(path, back)).exitCode === 0 ? null : astray;
    }
  }
  for (const name of UNFINISHED) rmSync(join(admin, name), { recursive: true, force: true });
  await runGit.git(path, ['symbolic-ref', 'HEAD', ref]);
  return null;
}
