// Where a team's branch was left by who merges there. What somebody else has put in its place is no part of the work.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LEAD } from '../../domain/team/message.ts';
import { commitsAt, noteAncestor } from './workshop-commits.ts';
import { isOfTeam, type Repository, type Run } from './workshop-git.ts';
import { BRANCHES, headRef, keptRef, leftRef, memberBranch, teamBranch } from './workshop-names.ts';
import { worktreesBelow } from './workshop-place.ts';
import { checkedOutIn } from './workshop-refs.ts';

export type Heads = {
  /** Where the team's branch counts as being. */
  readonly head: string | undefined;
  /** Where it is; undefined: it is gone. */
  readonly stands: string | undefined;
  readonly isNoted: boolean;
  /** Where the member's is. */
  readonly at: string | undefined;
};

export async function headsOf(team: string, member: string | null, repository: Repository, run: Run): Promise<Heads> {
  const [ref, left] = [headRef(teamBranch(team)), leftRef(team)];
  const own = member === null ? null : headRef(memberBranch(team, member));
  const known = await commitsAt([ref, left, ...(own === null ? [] : [own])], repository, run);
  const [stands, noted] = [known.get(ref), known.get(left)];
  return { head: noted ?? stands, stands, isNoted: noted !== undefined, at: own === null ? undefined : known.get(own) };
}

/**
 * From here on the branch is moved by merges alone.
 * @param fresh a branch that is to be made there with it
 */
export async function noteHead(
  team: string,
  { isNoted, head }: Heads,
  { root }: Repository,
  run: Run,
  fresh?: string,
): Promise<void> {
  if (head === undefined) return;
  const rows = [
    ...(isNoted ? [] : ['option no-deref', `update ${leftRef(team)} ${head}`]),
    ...(fresh === undefined ? [] : [`create ${fresh} ${head}`]),
  ];
  if (rows.length > 0) await run.git(root, ['update-ref', '--stdin'], { input: `${rows.join('\n')}\n` });
}

/** Takes them away all at once; where git does not, each by itself. */
export async function deleteRefs(refs: readonly string[], { root }: Repository, run: Run): Promise<void> {
  const input = refs.map((ref) => `delete ${ref}\n`).join('');
  if ((await run.try(root, ['update-ref', '--stdin'], { input })).exitCode === 0) return;
  for (const ref of refs) await run.git(root, ['update-ref', '-d', ref]);
}

/** Which writers' branches the team's has all of is told at once, and not asked again of each. */
export async function noteMerged(team: string, repository: Repository, run: Run): Promise<void> {
  const { head } = await headsOf(team, null, repository, run);
  if (head === undefined) return;
  const how = ['for-each-ref', '--format=%(objectname)', `--merged=${head}`, `${headRef(teamBranch(team))}--*`];
  const { exitCode, stdout } = await run.try(repository.root, how);
  if (exitCode !== 0) return;
  for (const sha of stdout.split('\n')) if (sha !== '') noteAncestor(sha, head, repository);
}

/** Moves the branch to a merge. Gives git's words on why not: somebody moved it meanwhile, or holds its lock; null: it is there. */
export async function moveHead(
  team: string,
  { isNoted, head = '' }: Heads,
  merged: string,
  { root }: Repository,
  run: Run,
): Promise<string | null> {
  const left = leftRef(team);
  const note = isNoted ? `update ${left} ${merged} ${head}` : `create ${left} ${merged}`;
  const input = `update ${headRef(teamBranch(team))} ${merged} ${head}\n${note}\n`;
  const { exitCode, stderr } = await run.try(root, ['update-ref', '--no-deref', '--stdin'], { input });
  return exitCode === 0 ? null : stderr.split('\n')[0] || `exit ${exitCode}`;
}

/** Puts the branch back to where it was left; what was there instead is kept under the ref that it gives. Null: it is there. */
export async function putBack(team: string, repository: Repository, run: Run): Promise<string | null> {
  const { head, stands } = await headsOf(team, null, repository, run);
  const ref = headRef(teamBranch(team));
  // Whoever has it checked out is told when work is to be merged.
  if (head === undefined || head === stands || checkedOutIn(ref, repository.common) !== undefined) return null;
  const kept = keptRef('refused', team, LEAD, stands ?? head);
  await run.git(repository.root, ['update-ref', kept, stands ?? head]);
  await run.git(repository.root, ['update-ref', '--no-deref', ref, head]);
  return kept;
}

/** Git notes a commit that is made; one that was there before, which it goes to or takes as it is, may be anybody's. */
const MADE = /\t(?:commit|cherry-pick|rebase|revert|am)(?: \((?!start|finish|abort|reset)[\w-]+\))?: (?!fast-forward$)/;

/** Commits that were made in worktrees of teams, as these note it. */
function madeThere({ common, worktrees }: Repository): ReadonlySet<string> {
  const rows = worktreesBelow(worktrees, common).flatMap((admin) => {
    const log = join(admin, 'logs', 'HEAD');
    return existsSync(log) ? readFileSync(log, 'utf8').split('\n') : [];
  });
  const made = rows.filter((row) => MADE.test(row));
  return new Set(made.map((row) => row.split(' ')[1] ?? ''));
}

/** Branches and tags of the person, with the commit of each, and whether a teammate made it. */
export async function personsTips(repository: Repository, run: Run) {
  const format = '--format=%(refname)%00%(objectname)%00%(*objectname)%00%(committeremail)%00%(*committeremail)';
  const rows = (await run.git(repository.root, ['for-each-ref', format, 'refs/heads', 'refs/tags'])).split('\n');
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

/** A branch that is checked out moves with its files alone, and those are a person's: says where that is; null: nowhere. */
export async function checkedOutWords(branch: string, { root, common }: Repository, run: Run): Promise<string | null> {
  if (checkedOutIn(headRef(branch), common) === undefined) return null;
  const listed = await run.git(root, ['worktree', 'list', '--porcelain', '-z']);
  const rows = listed.split('\0\0').map((row) => row.split('\0'));
  const place = rows.find((row) => row.includes(`branch ${headRef(branch)}`));
  // One whose directory is gone holds nothing.
  if (place === undefined || place.some((line) => line.startsWith('prunable'))) return null;
  const [path = ''] = place;
  return `${branch} is checked out in ${path.replace(/^worktree /, '')}: a team's work is merged into it; switch to another branch there`;
}
