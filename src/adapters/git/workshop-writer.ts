// A writer's branch and worktree, brought together again whatever a kill, or the writer itself, did to them.

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ToolError } from '../../domain/errors.ts';
import { commitAt, isAncestor, refAt } from './workshop-commits.ts';
import type { Repository, Run } from './workshop-git.ts';
import { headsOf, noteHead } from './workshop-head.ts';
import { finishMove, hasMove } from './workshop-move.ts';
import { headRef, keptRef, memberBranch, memberPath, teamBranch } from './workshop-names.ts';
import { ensureWorktree, type Worktree } from './workshop-place.ts';

export type Writer = {
  readonly worktree: Worktree;
  readonly branch: string;
  readonly ref: string;
  /** Where its branch stands. */
  readonly at: string;
  /** Where the team's branch stands. */
  readonly head: string;
};

type Who = { readonly team: string; readonly member: string };

const UNFINISHED = ['rebase-merge', 'rebase-apply', 'sequencer', 'CHERRY_PICK_HEAD', 'REVERT_HEAD'];

/** The branch and its worktree, made where they are missing, with what was begun in them brought to its end. */
export async function standIn(who: Who, repository: Repository, run: Run): Promise<Writer> {
  const { team, member } = who;
  const branch = memberBranch(team, member);
  const ref = headRef(branch);
  const heads = await headsOf(team, member, repository, run);
  const head = requireTeam(team, heads.head);
  const stood = heads.at;
  await noteHead(team, heads, repository, run, stood === undefined ? ref : undefined);
  const worktree = await ensureWorktree(memberPath(team, member, repository), [branch], repository, run);
  const isInOrder = headOf(worktree) === ref && !hasMove(worktree);
  if (!isInOrder) {
    await attach(worktree, who, ref, repository, run);
    await finishMove(worktree, ref, repository, run);
  }
  const at = isInOrder ? stood : await refAt(ref, repository, run);
  return { worktree, branch, ref, at: at ?? head, head };
}

/** The commit of the team's branch, given that it has one. */
export function requireTeam(team: string, head: string | undefined): string {
  if (head !== undefined) return head;
  throw new ToolError('git', `${teamBranch(team)}: there is no such branch; the team has not begun, or it was deleted`);
}

/** The ref that the worktree stands on, as far as a file says so. */
function headOf({ admin }: Worktree): string | null {
  return /^ref: (.+)\n$/.exec(readFileSync(join(admin, 'HEAD'), 'utf8'))?.[1] ?? null;
}

/** Has the worktree stand on its branch again. What it stood on instead comes along, or is kept under a ref. */
async function attach(
  { path, admin }: Worktree,
  { team, member }: Who,
  ref: string,
  repository: Repository,
  run: Run,
): Promise<void> {
  const { stdout } = await run.try(path, ['symbolic-ref', '--quiet', 'HEAD']);
  if (stdout.trim() === ref) return;
  for (const name of UNFINISHED.filter((one) => existsSync(join(admin, one))))
    rmSync(join(admin, name), { recursive: true, force: true });
  const stands = await commitAt('HEAD', path, run);
  const at = await refAt(ref, repository, run);
  if (stands !== null && at !== null && stands !== at) {
    if (await isAncestor(at, stands, repository, run)) await run.git(path, ['update-ref', ref, stands, at]);
    else {
      if (!(await isAncestor(stands, at, repository, run)))
        await run.git(path, ['update-ref', keptRef('saved', team, member, stands), stands]);
      // Changes that would be in the way stay, as changes to the branch.
      if ((await run.try(path, ['checkout', '--quiet', memberBranch(team, member)])).exitCode === 0) return;
    }
  }
  await run.git(path, ['symbolic-ref', 'HEAD', ref]);
}
