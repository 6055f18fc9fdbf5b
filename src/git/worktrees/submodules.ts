// The files of submodules in a teammate's worktree: put there as plain files, and compared with what was put there.

import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { asBytes, asText, pathBytes } from '../byte-names.ts';
import { SUBMODULE } from '../tracked-files.ts';
import type { Repository, RunGit } from '../worktree-git.ts';
import { createStagingDirectory, isVacant, shareInstalled } from './installed.ts';
import { findWorktree, type Worktree } from './worktree.ts';

/** The index of what was put there, kept beside the worktree's own. @param name the submodule's, in bytes from the top */
function filledIndex(admin: string, name: string): string {
  return join(admin, `toolcrew-submodule-${createHash('sha256').update(name, 'latin1').digest('hex').slice(0, 32)}`);
}

/** Copies the checkout's submodules into a worktree, and links its installed packages. Existing files stay. */
export async function shareDependencies(path: string, repository: Repository, runGit: RunGit): Promise<void> {
  await fillSubmodules(path, repository, runGit);
  await shareInstalled(path, repository, runGit);
}

/** The files of submodules, as the worktree's commit has them, without their repository: no commit takes in what is changed there. */
async function fillSubmodules(path: string, repository: Repository, runGit: RunGit): Promise<void> {
  const { top } = repository;
  const worktree = findWorktree(path, repository);
  if (worktree === null || !existsSync(join(path, '.gitmodules'))) return;
  for (const row of (await runGit.git(path, ['ls-files', '-z', '--stage'])).split('\0')) {
    const [facts = '', name = ''] = row.split('\t');
    const [mode, sha = ''] = facts.split(' ');
    const [from, to] = [join(top, name), join(path, name)];
    if (mode !== SUBMODULE || !isVacant(path, name) || !existsSync(join(from, '.git'))) continue;
    const half = createStagingDirectory(path);
    if (!(await exportCommit(sha, objectsOf(from), { worktree, name, into: half }, runGit))) continue;
    mkdirSync(to, { recursive: true });
    renameSync(half, to);
  }
}

/** Where the repository of a submodule keeps its objects. */
function objectsOf(submodule: string): string {
  const git = join(submodule, '.git');
  if (lstatSync(git).isDirectory()) return join(git, 'objects');
  const [, place = ''] = /^gitdir: (.+)$/m.exec(readFileSync(git, 'utf8')) ?? [];
  return join(resolve(submodule, place.trim()), 'objects');
}

/**
 * Git runs where the worktree is: what a submodule's own settings name is not started.
 * @returns false: the checkout of the submodule does not have that commit
 */
async function exportCommit(
  sha: string,
  objects: string,
  { worktree, name, into }: { readonly worktree: Worktree; readonly name: string; readonly into: string },
  runGit: RunGit,
): Promise<boolean> {
  const { path, admin } = worktree;
  const env = { GIT_INDEX_FILE: filledIndex(admin, asBytes(name)), GIT_ALTERNATE_OBJECT_DIRECTORIES: objects };
  rmSync(env.GIT_INDEX_FILE, { force: true });
  if ((await runGit.try(path, ['read-tree', sha], { env })).exitCode !== 0) return false;
  await runGit.git(path, ['checkout-index', '--all', `--prefix=${into}/`], { env });
  return true;
}

/**
 * The environment in which git compares the files of a submodule with those that were put there; null where none were, or
 * where the directory is another one by now.
 */
export async function compareEnvironment(
  { path, admin }: Worktree,
  name: string,
  runGit: RunGit,
): Promise<Readonly<Record<string, string>> | null> {
  const index = filledIndex(admin, name);
  const place = pathBytes(path, name).toString();
  try {
    if (!existsSync(index) || realpathSync(place) !== join(realpathSync(path), asText(name))) return null;
    if (existsSync(join(place, '.git'))) return null;
  } catch {
    return null;
  }
  const env = { GIT_DIR: admin, GIT_WORK_TREE: place, GIT_INDEX_FILE: index };
  // The files of the next time are told by their dates.
  await runGit.try(place, ['update-index', '-q', '--refresh'], { env });
  return env;
}
