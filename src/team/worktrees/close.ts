// The end of a writer's worktree: first what the team's branch lacks of its work is kept, then it goes.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Repository, RunGit } from '../../git/worktree-git.ts';
import { commitsBetween } from '../../git/worktrees/commits.ts';
import { keptRef, memberPath } from '../../git/worktrees/names.ts';
import { stashOf } from '../../git/worktrees/off-branch.ts';
import { snapshot } from '../../git/worktrees/uncommitted.ts';
import { removeWorktree } from '../../git/worktrees/worktree.ts';
import { headsOf } from './branch-head.ts';
import { openWriterAnywhere, requireTeam } from './writer.ts';

/** Gives the ref that keeps it; null when the team's branch has it all. The writer's branch, from now on of no use, stays. */
export async function closeWriter(
  team: string,
  member: string,
  repository: Repository,
  runGit: RunGit,
): Promise<string | null> {
  const path = memberPath(team, member, repository);
  const { at, ...heads } = await headsOf(team, member, repository, runGit);
  const head = requireTeam(team, heads.head);
  let kept: string | null = null;
  if (existsSync(path) || existsSync(join(path, '..', `.aside-${member}`))) {
    const { worktree, ref, at: last, astray } = await openWriterAnywhere({ team, member }, repository, runGit);
    // Its branch may have what is not where it stands.
    if (astray !== null) kept = await keep(last, head, team, member, repository, runGit);
    const aside = astray === null ? null : stashOf(worktree.admin);
    if (aside !== null) await keep(aside, head, team, member, repository, runGit);
    if (astray?.sha === null) await runGit.git(worktree.path, ['symbolic-ref', 'HEAD', ref]);
    const all = (await snapshot(worktree, team, member, repository, runGit)) ?? astray?.sha ?? last;
    kept = (await keep(all, head, team, member, repository, runGit)) ?? kept;
  } else if (at !== undefined) {
    // Killed after the worktree was removed: what it held was kept.
    const held = ['for-each-ref', '--format=%(refname)', `--contains=${at}`, keptRef('saved', team, member, '')];
    const [first = ''] = (await runGit.git(repository.root, held)).split('\n');
    kept = first !== '' ? first : await keep(at, head, team, member, repository, runGit);
  }
  await removeWorktree(path, repository);
  return kept;
}

async function keep(
  sha: string,
  head: string,
  team: string,
  member: string,
  repository: Repository,
  runGit: RunGit,
): Promise<string | null> {
  if ((await commitsBetween(head, sha, repository, runGit)).length === 0) return null;
  const ref = keptRef('saved', team, member, sha);
  await runGit.git(repository.root, ['update-ref', ref, sha]);
  return ref;
}
