// Files that Git ignores and that tests need, such as .env: each worktree has a copy of those that the settings name.

import { constants, copyFileSync, lstatSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Repository, RunGit } from '../worktree-git.ts';
import { isVacant } from './installed.ts';

/** Files below a directory of a repository that Git ignores and that a glob names, as paths from there. */
export async function ignoredFiles(root: string, pattern: string, runGit: RunGit): Promise<readonly string[]> {
  const ignored = ['ls-files', '--others', '--ignored', '--exclude-standard', '-z'];
  // Worktrees of teams are ignored too, and hold copies themselves.
  const listed = await runGit.git(root, [...ignored, '--', `:(glob)${pattern}`, ':(exclude,glob).tool/**']);
  return listed.split('\0').filter((path) => path !== '' && lstatSync(join(root, path)).isFile());
}

/** Copies what the globs name into a worktree. What is there stays as it is. */
export async function copyIgnored(
  worktree: string,
  { root, prefix }: Repository,
  patterns: readonly string[],
  runGit: RunGit,
): Promise<void> {
  for (const pattern of patterns)
    for (const path of await ignoredFiles(root, pattern, runGit)) {
      const place = join(prefix, path);
      if (!isVacant(worktree, place)) continue;
      const target = join(worktree, place);
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(join(root, path), target, constants.COPYFILE_EXCL);
    }
}
