// A writer's branch and worktree, brought together again whatever a kill, or the writer itself, did to them.

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { commitAt, isAncestor } from './workshop-commits.ts';
import type { Repository, Run } from './workshop-git.ts';
import { finishMove } from './workshop-move.ts';
import { headRef, keptRef, memberPath } from './workshop-names.ts';
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

type Who = { readonly team: string; readonly member: string; readonly branch: string; readonly head: string };

const UNFINISHED = ['rebase-merge', 'rebase-apply', 'sequencer', 'CHERRY_PICK_HEAD', 'REVERT_HEAD'];

/** The branch and its worktree, made where they are missing, with what was begun in them brought to its end. */
export async function standIn(who: Who, repository: Repository, run: Run): Promise<Writer> {
  const { branch, head } = who;
  const ref = headRef(branch);
  const { root } = repository;
  if ((await commitAt(ref, root, run)) === null) await run.git(root, ['update-ref', ref, head, '']);
  const worktree = await ensureWorktree(memberPath(who.team, who.member, repository), [branch], repository, run);
  await attach(worktree, who, repository, run);
  await finishMove(worktree, ref, run);
  const at = (await commitAt(ref, root, run)) ?? head;
  return { worktree, branch, ref, at, head };
}

/** Has the worktree stand on its branch again. What it stood on instead comes along, or is kept under a ref. */
async function attach({ path, admin }: Worktree, who: Who, repository: Repository, run: Run): Promise<void> {
  const ref = headRef(who.branch);
  const { stdout } = await run.try(path, ['symbolic-ref', '--quiet', 'HEAD']);
  if (stdout.trim() === ref) return;
  for (const name of UNFINISHED.filter((one) => existsSync(join(admin, one))))
    rmSync(join(admin, name), { recursive: true, force: true });
  const stands = await commitAt('HEAD', path, run);
  const at = await commitAt(ref, path, run);
  if (stands !== null && at !== null && stands !== at) {
    if (await isAncestor(at, stands, repository, run)) await run.git(path, ['update-ref', ref, stands, at]);
    else {
      if (!(await isAncestor(stands, at, repository, run)))
        await run.git(path, ['update-ref', keptRef('saved', who.team, who.member, stands), stands]);
      // Changes that would be in the way stay, as changes to the branch.
      if ((await run.try(path, ['checkout', '--quiet', who.branch])).exitCode === 0) return;
    }
  }
  await run.git(path, ['symbolic-ref', 'HEAD', ref]);
}
