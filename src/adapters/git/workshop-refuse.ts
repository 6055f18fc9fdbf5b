// Where a writer's branch goes back to when commits are taken out of it.

import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { changesBetween, commitAt, isAncestor, mergeTrees } from './workshop-commits.ts';
import type { Repository, Run } from './workshop-git.ts';

type Refusal = {
  readonly sha: string;
  readonly files: readonly string[];
  /** Where the writer's branch stands, and the team's. */
  readonly at: string;
  readonly head: string;
};

/** The commit to go back to and the paths that go with it; null when the branch has no such commit, or the team's has it. */
export async function refusePlan(
  { sha, files, at, head }: Refusal,
  author: Readonly<Record<string, string>>,
  repository: Repository,
  run: Run,
): Promise<{ readonly to: string; readonly files: readonly string[] } | null> {
  const { top, prefix } = repository;
  if (!(await isAncestor(sha, at, repository, run)) || (await isAncestor(sha, head, repository, run))) return null;
  const paths = files.map((file) => within(`${prefix}${file}`));
  const before = await lastWithout(sha, at, head, repository, run);
  const shared = (await run.try(top, ['merge-base', at, head])).stdout.trim();
  if (shared === '' || (await isAncestor(shared, before, repository, run))) return { to: before, files: paths };
  if (await isAncestor(before, shared, repository, run)) return { to: shared, files: paths };
  // What it had of the team's work stays: as changes of the writer's own it would be refused the next time.
  const merged = await mergeTrees(before, shared, repository, run);
  if ('tree' in merged) {
    const args = ['commit-tree', merged.tree, '-p', before, '-p', shared, '-F', '-'];
    const to = (await run.git(top, args, { env: author, input: "Merge the team's work\n" })).trim();
    return { to, files: paths };
  }
  // No file is refused: all of the work stays in the worktree, as changes to what it had of the team's.
  if (files.length === 0) return { to: shared, files: [] };
  const changes = await changesBetween(at, before, repository, run);
  return { to: before, files: [...new Set([...paths, ...changes.map(({ path }) => path)])] };
}

/** The last commit of the branch's own line before it had `sha`. */
async function lastWithout(sha: string, at: string, head: string, { top }: Repository, run: Run): Promise<string> {
  const line = await run.git(top, ['rev-list', '--first-parent', '--ancestry-path', `${sha}..${at}`]);
  const oldest = line.trim().split('\n').at(-1) ?? '';
  const first = oldest === '' || (await commitAt(`${oldest}^1`, top, run)) === sha ? sha : oldest;
  return (await commitAt(`${first}^1`, top, run)) ?? head;
}

/**
 * Files that were moved to where they may not be, from the top: where only the new place goes back, they are nowhere.
 * @param to where the branch goes back to
 * @param all the work that is refused
 */
export async function movedFrom(
  { to, files }: { readonly to: string; readonly files: readonly string[] },
  all: string,
  { top }: Repository,
  run: Run,
): Promise<readonly string[]> {
  const how = [
    '-r',
    '-z',
    '--find-renames',
    '--no-rename-empty',
    '--diff-filter=R',
    '--name-status',
    '--no-ext-diff',
    '--no-textconv',
  ];
  const words = (await run.git(top, ['diff-tree', ...how, to, all])).split('\0');
  const isFree = (path: string) => !lstatSync(join(top, path), { throwIfNoEntry: false })?.isDirectory();
  // Each is its score, the old path and the new one.
  return words.filter((path, index) => index % 3 === 1 && files.includes(words[index + 1] ?? '') && isFree(path));
}

/** `a/../b` is `b`. */
function within(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else parts.push(part);
  }
  return parts.join('/');
}
