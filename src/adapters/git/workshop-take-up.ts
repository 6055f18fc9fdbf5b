// What a person has made of a team's branch while nobody of the team was at work. Where it was made anew, without what it held,
// its writers still stand on that, and their next merge would bring it back: they are put upon the new one, with their own.

import { isAncestor, mergeTrees } from './workshop-commits.ts';
import { identity, isOfTeam, type Repository, type Run } from './workshop-git.ts';
import { headsOf } from './workshop-head.ts';
import { moveAround } from './workshop-move.ts';
import { headRef, leftRef, teamBranch } from './workshop-names.ts';
import { standIn } from './workshop-writer.ts';

/**
 * It counts, also where the branch was made anew, moved back, or other work was merged into it; what a teammate did does not.
 */
export async function takeUpHead(team: string, repository: Repository, run: Run): Promise<void> {
  const { head, stands, isNoted } = await headsOf(team, null, repository, run);
  if (!isNoted || head === undefined || stands === undefined || head === stands) return;
  const { top } = repository;
  const by = (await run.git(top, ['log', '--first-parent', '--format=%ce', stands, `^${head}`])).trim();
  const movers = by === '' ? await moverTo(stands, team, repository, run) : by.split('\n');
  if (movers.length === 0 || movers.some((address) => isOfTeam(address))) return;
  if (!(await isAncestor(head, stands, repository, run))) await putUponNew(team, head, stands, repository, run);
  await run.git(top, ['update-ref', '--no-deref', leftRef(team), stands, head]);
}

/** Who has moved the branch to where it stands, as far as git has noted it. */
async function moverTo(stands: string, team: string, { top }: Repository, run: Run): Promise<readonly string[]> {
  const how = ['reflog', 'show', '-1', '--format=%H %ge', headRef(teamBranch(team)), '--'];
  const [sha, address] = (await run.try(top, how)).stdout.trim().split(' ');
  return sha === stands && address !== undefined ? [address] : [];
}

async function putUponNew(team: string, was: string, now: string, repository: Repository, run: Run): Promise<void> {
  const prefix = headRef(`${teamBranch(team)}--`);
  const refs = await run.git(repository.root, ['for-each-ref', '--format=%(refname)', `${prefix}*`]);
  for (const own of refs.split('\n').filter((one) => one !== '')) {
    const member = own.slice(prefix.length);
    const { worktree, ref, at } = await standIn({ team, member }, repository, run);
    const shared = (await run.try(repository.top, ['merge-base', was, at])).stdout.trim();
    // Nothing that was taken out is in it, or not any more.
    if (shared === '' || (await isAncestor(shared, now, repository, run))) continue;
    const work = { was, shared, now, at, author: identity(team, member) };
    const to = shared === at ? now : await ownWork(work, repository, run);
    // What does not go together stays as it is: the gate says what comes back with it.
    if (to !== null) await moveAround(worktree, ref, { from: at, to }, repository, run);
  }
}

/** Commits: the team's branch before and now, the writer's, and the last that this shared with the former. */
type Work = {
  readonly was: string;
  readonly shared: string;
  readonly now: string;
  readonly at: string;
  readonly author: Readonly<Record<string, string>>;
};

/** What the writer's branch has that the team's had not, as one commit on the new one; null: in conflict with it. */
async function ownWork(
  { was, shared, now, at, author }: Work,
  repository: Repository,
  run: Run,
): Promise<string | null> {
  const { top } = repository;
  const commit = async (tree: string, parents: readonly string[], input: string) => {
    const from = parents.flatMap((parent) => ['-p', parent]);
    return (await run.git(top, ['commit-tree', tree, ...from, '-F', '-'], { env: author, input })).trim();
  };
  // Both sides anew upon what they shared: by their own history they share less.
  const base = await commit(`${shared}^{tree}`, [], 'Shared\n');
  const ours = await commit(`${now}^{tree}`, [base], 'Ours\n');
  const theirs = await commit(`${at}^{tree}`, [base], 'Theirs\n');
  const merged = await mergeTrees(ours, theirs, repository, run);
  if ('conflicts' in merged) return null;
  const { stdout } = await run.try(top, ['rev-parse', `${now}^{tree}`]);
  if (stdout.trim() === merged.tree) return now;
  const words = await run.git(top, ['log', '-1', '--no-merges', '--format=%B', `${was}..${at}`]);
  return commit(merged.tree, [now], words.trim() === '' ? 'Work that was not merged\n' : words);
}
