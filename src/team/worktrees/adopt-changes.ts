// Adoption of a person's changes to a team's branch, made while the team was idle. After a rewrite,
// writers' branches are rebased: otherwise their next merge would bring removed commits back.

import { refusal, textOf } from '../../base/rules/codes.ts';
import { messageOf } from '../../base/rules/errors.ts';
import { identity, isOfTeam, type Repository, type RunGit } from '../../git/worktree-git.ts';
import { commitAt, commitsAt, isAncestor, mergeTrees } from '../../git/worktrees/commits.ts';
import { moveUnlessBlocked } from '../../git/worktrees/move.ts';
import { headRef, keptRef, leftRef, memberBranch, teamBranch } from '../../git/worktrees/names.ts';
import { WORK_CODES } from '../rules/codes/work-codes.ts';
import { LEAD } from '../rules/message.ts';
import { headsOf } from './branch-head.ts';
import { openWriter } from './writer.ts';

/**
 * Adopts the branch as a person left it, also after a rewrite, a reset or a merge. Ignores changes by teammates.
 * @param members the writers; other branches are not theirs, whatever their names
 * @returns messages for people
 */
export async function adoptTeamBranch(
  team: string,
  members: readonly string[],
  repository: Repository,
  runGit: RunGit,
): Promise<readonly string[]> {
  const { head, tip, isNoted } = await headsOf(team, null, repository, runGit);
  if (!isNoted || head === undefined || tip === undefined || head === tip) return [];
  const { top } = repository;
  const by = (await runGit.git(top, ['log', '--first-parent', '--format=%ce', tip, `^${head}`])).trim();
  const movers = by === '' ? await moverTo(tip, team, repository, runGit) : by.split('\n');
  if (movers.length === 0 || movers.some((address) => isOfTeam(address))) return [];
  const told: string[] = [];
  if (!(await isAncestor(head, tip, repository, runGit))) {
    const kept = await keep(team, LEAD, head, repository, runGit);
    told.push(textOf(refusal(WORK_CODES.work_kept, { branch: teamBranch(team), kept })));
    for (const member of members) {
      const words = await putUponNew({ team, member }, head, tip, repository, runGit).catch(messageOf);
      if (words !== null) told.push(`${teamBranch(team)}--${member}: ${words}`);
    }
  }
  await runGit.git(top, ['update-ref', '--no-deref', leftRef(team), tip, head]);
  return told;
}

async function keep(team: string, member: string, sha: string, { top }: Repository, runGit: RunGit): Promise<string> {
  const kept = keptRef('saved', team, member, sha);
  await runGit.git(top, ['update-ref', kept, sha]);
  return kept;
}

/** Address of the person or process that moved the branch last, from its reflog; empty if unknown. */
async function moverTo(tip: string, team: string, { top }: Repository, runGit: RunGit): Promise<readonly string[]> {
  const how = ['reflog', 'show', '-1', '--format=%H %ge', headRef(teamBranch(team)), '--'];
  const [sha, address] = (await runGit.try(top, how)).stdout.trim().split(' ');
  return sha === tip && address !== undefined ? [address] : [];
}

/** Rebases a writer's branch. Returns a message for people; null: nothing to report. */
async function putUponNew(
  { team, member }: { readonly team: string; readonly member: string },
  was: string,
  now: string,
  repository: Repository,
  runGit: RunGit,
): Promise<string | null> {
  const own = headRef(memberBranch(team, member));
  if (!(await commitsAt([own], repository, runGit)).has(own)) return null;
  const other = (await runGit.try(repository.top, ['symbolic-ref', '--quiet', own])).stdout.trim();
  if (other !== '') return `stays as it was: it is another name of ${other}`;
  const { worktree, ref, at } = await openWriter({ team, member }, repository, runGit);
  const shared = (await runGit.try(repository.top, ['merge-base', was, at])).stdout.trim();
  // The branch contains no removed commits.
  if (shared === '' || (await isAncestor(shared, now, repository, runGit))) return null;
  const work = { was, shared, now, at, author: identity(team, member) };
  const to = shared === at ? now : await ownWork(work, repository, runGit);
  if (typeof to !== 'string') return comesBack(to.conflicts);
  const kept = await keep(team, member, at, repository, runGit);
  const inTheWay = await moveUnlessBlocked(worktree, ref, { from: at, to }, repository, runGit);
  return inTheWay.length > 0 ? comesBack(inTheWay) : `put upon it with its own; where it stood is kept as ${kept}`;
}

function comesBack(files: readonly string[]): string {
  return `stays as it was, with what was taken out, which comes back with its next merge: ${files.join(', ')} ${files.length === 1 ? 'does' : 'do'} not go together with the branch as it is now`;
}

/** Commits: `was` and `now` of the team's branch, `at` of the writer's, `shared` the merge base of `was` and `at`. */
type Work = {
  readonly was: string;
  readonly shared: string;
  readonly now: string;
  readonly at: string;
  readonly author: Readonly<Record<string, string>>;
};

type Conflicts = { readonly conflicts: readonly string[] };

/** The writer's own work on the new branch: replayed commit by commit, or as one commit if that gives another tree. */
async function ownWork(work: Work, repository: Repository, runGit: RunGit): Promise<string | Conflicts> {
  const { was, shared, now, at, author } = work;
  const merged = await mergeUpon(shared, now, at, author, repository, runGit);
  if ('conflicts' in merged) return merged;
  const { top } = repository;
  const log = ['log', '-z', '--reverse', '--topo-order', '--no-merges'];
  const told = async (format: string) =>
    (await runGit.git(top, [...log, `--format=${format}`, at, `^${was}`, `^${now}`]))
      .split('\0')
      .map((one) => one.trim());
  const shas = (await told('%H')).filter((sha) => sha !== '');
  const replayed = await replay(shas, now, author, repository, runGit);
  if (replayed?.tree === merged.tree) return replayed.last;
  const trailers = (await told('%(trailers:only,unfold)')).flatMap((rows) => rows.split('\n'));
  const words = [...(await told('%B')), [...new Set(trailers)].filter((row) => row !== '').join('\n')];
  const message = words.filter((one) => one !== '').join('\n\n');
  return commitOf(
    merged.tree,
    [now],
    message === '' ? 'Work that was not merged' : message,
    author,
    repository,
    runGit,
  );
}

/** Replays commits onto another one; null if one conflicts or has no parent. */
async function replay(
  shas: readonly string[],
  onto: string,
  by: Readonly<Record<string, string>>,
  repository: Repository,
  runGit: RunGit,
): Promise<{ readonly last: string; readonly tree: string } | null> {
  const { top } = repository;
  let last = onto;
  let tree = (await runGit.git(top, ['rev-parse', `${onto}^{tree}`])).trim();
  for (const sha of shas) {
    const before = await commitAt(`${sha}^`, top, runGit);
    const merged = before === null ? null : await mergeUpon(before, last, sha, by, repository, runGit);
    if (merged === null || 'conflicts' in merged) return null;
    if (merged.tree === tree) continue;
    ({ tree } = merged);
    const told = await runGit.git(top, ['log', '-1', '--date=raw', '--format=%an%x00%ae%x00%ad%x00%B', sha]);
    const [name = '', email = '', date = '', message = ''] = told.split('\0');
    const author = { ...by, GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: date };
    last = await commitOf(tree, [last], message.trim(), author, repository, runGit);
  }
  return { last, tree };
}

/** Three-way merge with `base` as merge base; by their own history, both sides have another one. */
async function mergeUpon(
  base: string,
  ours: string,
  theirs: string,
  author: Readonly<Record<string, string>>,
  repository: Repository,
  runGit: RunGit,
): Promise<{ readonly tree: string } | Conflicts> {
  const anew = (sha: string, parents: readonly string[]) =>
    commitOf(`${sha}^{tree}`, parents, 'Side', author, repository, runGit);
  const from = await anew(base, []);
  return mergeTrees(await anew(ours, [from]), await anew(theirs, [from]), repository, runGit);
}

async function commitOf(
  tree: string,
  parents: readonly string[],
  message: string,
  author: Readonly<Record<string, string>>,
  { top }: Repository,
  runGit: RunGit,
): Promise<string> {
  const from = parents.flatMap((parent) => ['-p', parent]);
  const input = `${message}\n`;
  return (await runGit.git(top, ['commit-tree', tree, ...from, '-F', '-'], { env: author, input })).trim();
}
