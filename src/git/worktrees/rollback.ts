// Rollback of refused commits on a writer's branch: target commit and paths to reset.

import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Repository, RunGit } from '../worktree-git.ts';
import { changesBetween, commitAt, isAncestor, mergeTrees } from './commits.ts';

type Refusal = {
  readonly sha: string;
  readonly files: readonly string[];
  /** `at`: head of the writer's branch; `head`: head of the team's. */
  readonly at: string;
  readonly head: string;
};

/** Target commit and paths to reset; null if `sha` is not on the writer's branch or already on the team's. */
export async function rollbackPlan(
  { sha, files, at, head }: Refusal,
  author: Readonly<Record<string, string>>,
  repository: Repository,
  runGit: RunGit,
): Promise<{ readonly to: string; readonly files: readonly string[] } | null> {
  const { top, prefix } = repository;
  if (!(await isAncestor(sha, at, repository, runGit)) || (await isAncestor(sha, head, repository, runGit)))
    return null;
  const paths = files.map((file) => within(`${prefix}${file}`));
  const before = await lastWithout(sha, at, head, repository, runGit);
  const shared = (await runGit.try(top, ['merge-base', at, head])).stdout.trim();
  if (shared === '' || (await isAncestor(shared, before, repository, runGit))) return { to: before, files: paths };
  if (await isAncestor(before, shared, repository, runGit)) return { to: shared, files: paths };
  // Keep the team's work: as changes of the writer it would be refused the next time.
  const merged = await mergeTrees(before, shared, repository, runGit);
  if ('tree' in merged) {
    const args = ['commit-tree', merged.tree, '-p', before, '-p', shared, '-F', '-'];
    const to = (await runGit.git(top, args, { env: author, input: "Merge the team's work\n" })).trim();
    return { to, files: paths };
  }
  // No file is refused: all work stays in the worktree, as uncommitted changes to the team's commit.
  if (files.length === 0) return { to: shared, files: [] };
  const changes = await changesBetween(at, before, repository, runGit);
  return { to: before, files: [...new Set([...paths, ...changes.map(({ path }) => path)])] };
}

/** The last commit of the branch's first-parent line without `sha`. */
async function lastWithout(
  sha: string,
  at: string,
  head: string,
  { top }: Repository,
  runGit: RunGit,
): Promise<string> {
  const line = await runGit.git(top, ['rev-list', '--first-parent', '--ancestry-path', `${sha}..${at}`]);
  const oldest = line.trim().split('\n').at(-1) ?? '';
  const first = oldest === '' || (await commitAt(`${oldest}^1`, top, runGit)) === sha ? sha : oldest;
  return (await commitAt(`${first}^1`, top, runGit)) ?? head;
}

/**
 * Old paths of files that were moved to a refused path, relative to the top. They are reset too, or the file is lost.
 * @param to target commit
 * @param all commit of the whole refused work
 */
export async function renameSources(
  { to, files }: { readonly to: string; readonly files: readonly string[] },
  all: string,
  { top }: Repository,
  runGit: RunGit,
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
  const words = (await runGit.git(top, ['diff-tree', ...how, to, all])).split('\0');
  const isFree = (path: string) => !lstatSync(join(top, path), { throwIfNoEntry: false })?.isDirectory();
  // Each entry: score, old path, new path.
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
