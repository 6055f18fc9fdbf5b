// Head of a team's branch: its last merge, recorded in a ref. Commits that others put on the branch do not count.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { isOfTeam, type Repository, type RunGit } from '../../git/worktree-git.ts';
import { commitsAt, noteAncestor } from '../../git/worktrees/commits.ts';
import { BRANCHES, headRef, keptRef, leftRef, memberBranch, teamBranch } from '../../git/worktrees/names.ts';
import { checkedOutIn } from '../../git/worktrees/refs.ts';
import { worktreesBelow } from '../../git/worktrees/worktree.ts';
import { WORK_CODES } from '../rules/codes/work-codes.ts';
import { LEAD } from '../rules/message.ts';

export type Heads = {
  /** Commit that counts as the head of the team's branch: the recorded one, else the actual one. */
  readonly head: string | undefined;
  /** Actual commit of the team's branch; undefined: the branch is missing. */
  readonly tip: string | undefined;
  readonly isNoted: boolean;
  /** Commit of the member's branch. */
  readonly at: string | undefined;
};

export async function headsOf(
  team: string,
  member: string | null,
  repository: Repository,
  runGit: RunGit,
): Promise<Heads> {
  const [ref, left] = [headRef(teamBranch(team)), leftRef(team)];
  const own = member === null ? null : headRef(memberBranch(team, member));
  const known = await commitsAt([ref, left, ...(own === null ? [] : [own])], repository, runGit);
  const [tip, noted] = [known.get(ref), known.get(left)];
  return { head: noted ?? tip, tip, isNoted: noted !== undefined, at: own === null ? undefined : known.get(own) };
}

/**
 * Records the head; from then on, only merges move it.
 * @param fresh a branch to create at the same commit
 */
export async function noteHead(
  team: string,
  { isNoted, head }: Heads,
  { root }: Repository,
  runGit: RunGit,
  fresh?: string,
): Promise<void> {
  if (head === undefined) return;
  const rows = [
    ...(isNoted ? [] : ['option no-deref', `update ${leftRef(team)} ${head}`]),
    ...(fresh === undefined ? [] : [`create ${fresh} ${head}`]),
  ];
  if (rows.length > 0) await runGit.git(root, ['update-ref', '--stdin'], { input: `${rows.join('\n')}\n` });
}

/** Deletes refs in one transaction; if git refuses that, one by one. */
export async function deleteRefs(refs: readonly string[], { root }: Repository, runGit: RunGit): Promise<void> {
  const input = refs.map((ref) => `delete ${ref}\n`).join('');
  if ((await runGit.try(root, ['update-ref', '--stdin'], { input })).exitCode === 0) return;
  for (const ref of refs) await runGit.git(root, ['update-ref', '-d', ref]);
}

/** Caches with one query which writers' branches are fully merged into the team's. */
export async function noteMerged(team: string, repository: Repository, runGit: RunGit): Promise<void> {
  const { head } = await headsOf(team, null, repository, runGit);
  if (head === undefined) return;
  const how = ['for-each-ref', '--format=%(objectname)', `--merged=${head}`, `${headRef(teamBranch(team))}--*`];
  const { exitCode, stdout } = await runGit.try(repository.root, how);
  if (exitCode !== 0) return;
  for (const sha of stdout.split('\n')) if (sha !== '') noteAncestor(sha, head, repository);
}

/** Moves the branch to a merge. Null on success, else git's error: the branch moved meanwhile or is locked. */
export async function moveHead(
  team: string,
  { isNoted, head = '' }: Heads,
  merged: string,
  { root }: Repository,
  runGit: RunGit,
): Promise<string | null> {
  const left = leftRef(team);
  const note = isNoted ? `update ${left} ${merged} ${head}` : `create ${left} ${merged}`;
  const input = `update ${headRef(teamBranch(team))} ${merged} ${head}\n${note}\n`;
  const { exitCode, stderr } = await runGit.try(root, ['update-ref', '--no-deref', '--stdin'], { input });
  return exitCode === 0 ? null : stderr.split('\n')[0] || `exit ${exitCode}`;
}

/** Resets the branch to its recorded head. Returns the ref that keeps the replaced commit; null: no reset. */
export async function resetToHead(team: string, repository: Repository, runGit: RunGit): Promise<string | null> {
  const { head, tip } = await headsOf(team, null, repository, runGit);
  const ref = headRef(teamBranch(team));
  // Do not move a checked-out branch: the next merge reports it.
  if (head === undefined || head === tip || checkedOutIn(ref, repository.common) !== undefined) return null;
  const kept = keptRef('refused', team, LEAD, tip ?? head);
  await runGit.git(repository.root, ['update-ref', kept, tip ?? head]);
  await runGit.git(repository.root, ['update-ref', '--no-deref', ref, head]);
  return kept;
}

/** Reflog entries that create a commit. Other entries reuse an existing commit, which may be anybody's. */
const MADE = /\t(?:commit|cherry-pick|rebase|revert|am)(?: \((?!start|finish|abort|reset)[\w-]+\))?: (?!fast-forward$)/;

/** Commits made in worktrees of teams, from their reflogs. */
function madeThere({ common, worktrees }: Repository): ReadonlySet<string> {
  const rows = worktreesBelow(worktrees, common).flatMap((admin) => {
    const log = join(admin, 'logs', 'HEAD');
    return existsSync(log) ? readFileSync(log, 'utf8').split('\n') : [];
  });
  const made = rows.filter((row) => MADE.test(row));
  return new Set(made.map((row) => row.split(' ')[1] ?? ''));
}

/** Branches and tags of the person, with the commit of each, and whether a teammate made it. */
export async function userRefTips(repository: Repository, runGit: RunGit) {
  const format = '--format=%(refname)%00%(objectname)%00%(*objectname)%00%(committeremail)%00%(*committeremail)';
  const rows = (await runGit.git(repository.root, ['for-each-ref', format, 'refs/heads', 'refs/tags'])).split('\n');
  const tips = rows.filter((row) => row !== '' && !row.startsWith(`${headRef(BRANCHES)}/`));
  const made = madeThere(repository);
  return new Map(
    tips.map((row) => {
      const [ref = '', sha = '', peeled = '', ...by] = row.split('\0');
      const isTeams = made.has(peeled || sha) || by.some((one) => isOfTeam(one.replace(/^<|>$/g, '')));
      return [ref, { sha, isTeams }] as const;
    }),
  );
}

/** Names the checkout of a branch; null: none. A checked-out branch cannot move without its files. */
export async function checkedOut(
  branch: string,
  { root, common }: Repository,
  runGit: RunGit,
): Promise<Refusal | null> {
  if (checkedOutIn(headRef(branch), common) === undefined) return null;
  const listed = await runGit.git(root, ['worktree', 'list', '--porcelain', '-z']);
  const rows = listed.split('\0\0').map((row) => row.split('\0'));
  const place = rows.find((row) => row.includes(`branch ${headRef(branch)}`));
  // A worktree without its directory does not block the branch.
  if (place === undefined || place.some((line) => line.startsWith('prunable'))) return null;
  const [path = ''] = place;
  return refusal(WORK_CODES.team_branch_checked_out, { branch, path: path.replace(/^worktree /, '') });
}
