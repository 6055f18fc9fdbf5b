// The directory of a teammate's worktree: made, taken up, put in order after a kill, removed.

import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { tryReadText } from '../../base/files/read-text.ts';
import { removeLargeTree } from '../../base/files/remove-tree.ts';
import { failure } from '../../base/rules/errors.ts';
import { createIgnoredDirectory } from '../own-ignored.ts';
import { GIT_CODES } from '../rules/git-codes.ts';
import type { Repository, RunGit } from '../worktree-git.ts';

export type Worktree = {
  readonly path: string;
  /** Its part of the Git directory. */
  readonly admin: string;
};

function kindOf(path: string): 'directory' | 'other' | 'none' {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 'none';
  return stat.isDirectory() ? 'directory' : 'other';
}

/** Git marks a worktree so while it makes it. */
function isHalfMade(admin: string): boolean {
  return tryReadText(join(admin, 'locked'))?.startsWith('initializing') === true;
}

function pathOfAdmin(admin: string): string | null {
  const text = tryReadText(join(admin, 'gitdir'))?.trim();
  return text === undefined || text === '' ? null : dirname(resolve(admin, text));
}

/** What git knows of worktrees at that path, broken ones too. */
function adminsOf(path: string, { common }: Repository): string[] {
  const directory = join(common, 'worktrees');
  const isOfPath = (name: string) => {
    const admin = join(directory, name);
    const place = pathOfAdmin(admin);
    if (place !== null) return place === path;
    // Killed before it wrote down for which path it is.
    const isNamedSo = name.replace(/\d+$/, '') === basename(path).replace(/\d+$/, '');
    return isNamedSo && (isHalfMade(admin) || readdirSync(admin).length === 0);
  };
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => kindOf(join(directory, name)) === 'directory' && isOfPath(name))
    .map((name) => join(directory, name));
}

/** The worktree at that path, when git and the path agree on it. */
export function findWorktree(path: string, repository: Pick<Repository, 'common'>): Worktree | null {
  const [, gitDir] = /^gitdir: (.+)$/m.exec(tryReadText(join(path, '.git')) ?? '') ?? [];
  if (gitDir === undefined) return null;
  const admin = resolve(path, gitDir.trim());
  const isWhole =
    dirname(admin) === join(repository.common, 'worktrees') &&
    pathOfAdmin(admin) === path &&
    // Elsewhere there may be settings that have programs started.
    resolve(admin, tryReadText(join(admin, 'commondir'))?.trim() ?? '') === repository.common &&
    !isHalfMade(admin) &&
    existsSync(join(admin, 'HEAD'));
  return isWhole ? { path, admin } : null;
}

/** What git has of worktrees below a directory. */
export function worktreesBelow(directory: string, common: string): readonly string[] {
  const linked = join(common, 'worktrees');
  const admins = existsSync(linked) ? readdirSync(linked).map((name) => join(linked, name)) : [];
  return admins.filter((admin) => pathOfAdmin(admin)?.startsWith(`${directory}/`));
}

/** Another checkout of the repository, in which a team of that name has worktrees; undefined: none has any. */
export function otherCheckoutOf(team: string, { common, worktrees }: Repository): string | undefined {
  const place = join('/', '.tool', 'worktrees', team);
  return worktreesBelow('', common)
    .flatMap((admin) => pathOfAdmin(admin) ?? [])
    .filter((path) => dirname(path).endsWith(place) && dirname(dirname(path)) !== worktrees && existsSync(path))
    .map((path) => dirname(path).slice(0, -place.length))[0];
}

/** Beside a worktree, for what is on its way out or in. */
function beside(path: string, word: string): string {
  return join(dirname(path), `.${word}-${basename(path)}`);
}

/** Removes a worktree, whole or not. At no point does a part of it look like the whole. */
export async function removeWorktree(path: string, repository: Repository): Promise<void> {
  const gone = beside(path, 'gone');
  await removeLargeTree(gone);
  if (kindOf(path) !== 'none') renameSync(path, gone);
  for (const admin of adminsOf(path, repository)) rmSync(admin, { recursive: true, force: true });
  await removeLargeTree(gone);
}

/** Makes the worktree, or takes it up where it stands; `checkout` says on what it is made. */
export async function ensureWorktree(
  path: string,
  checkout: readonly string[],
  repository: Repository,
  runGit: RunGit,
): Promise<Worktree> {
  createIgnoredDirectory(repository.worktrees);
  mkdirSync(dirname(path), { recursive: true });
  if (kindOf(path) === 'other') throw failure(GIT_CODES.worktree_path_taken, { path });
  await removeLargeTree(beside(path, 'gone'));
  const aside = beside(path, 'aside');
  if (existsSync(aside)) {
    await removeWorktree(path, repository);
    renameSync(aside, path);
  }
  const found = findWorktree(path, repository);
  if (found === null)
    try {
      if (holdsWork(path, repository)) await takeBack(path, aside, checkout, repository, runGit);
      else {
        await removeWorktree(path, repository);
        await runGit.git(repository.root, ['worktree', 'add', '--quiet', ...options(checkout, path)]);
      }
    } catch (error) {
      if (!isMounted(error) || !(await mendInPlace(path, checkout, repository, runGit))) throw error;
    }
  const made = found ?? findWorktree(path, repository);
  if (made === null) throw failure(GIT_CODES.worktree_not_made, { path });
  if (!existsSync(join(made.admin, 'index'))) await runGit.git(path, ['read-tree', 'HEAD']);
  return made;
}

/** Whether the kernel keeps a place where it is, as in its teammate's namespaces. */
function isMounted(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['EBUSY', 'EROFS', 'EXDEV'].includes(String(error.code));
}

/** Makes a writer's worktree whole where it is, around the files that are left; false where that cannot be. */
async function mendInPlace(
  path: string,
  checkout: readonly string[],
  repository: Repository,
  runGit: RunGit,
): Promise<boolean> {
  const [admin] = adminsOf(path, repository);
  const [branch, ...options] = checkout;
  if (admin === undefined || branch === undefined || options.length > 0 || isHalfMade(admin)) return false;
  if (kindOf(join(path, '.git')) === 'directory') return false;
  // `git worktree remove` takes the files and all that git knows of the worktree; a commit would remove the rest of the files.
  const isRemoved = !existsSync(join(admin, 'HEAD'));
  const isEmpty = readdirSync(path).every((name) => name === '.git');
  if (isRemoved) writeFileSync(join(admin, 'HEAD'), `ref: refs/heads/${branch}\n`);
  writeFileSync(join(admin, 'commondir'), '../..\n');
  writeFileSync(join(admin, 'gitdir'), `${join(path, '.git')}\n`);
  rmSync(join(path, '.git'), { force: true });
  writeFileSync(join(path, '.git'), `gitdir: ${admin}\n`);
  if (!isRemoved && !isEmpty) return true;
  await runGit.git(path, ['read-tree', 'HEAD']);
  // It fails for files that were written since: they stay as they are.
  await runGit.try(path, ['checkout-index', '--all', '--quiet', '--index']);
  return true;
}

/** The last word says on what; the others go before the path. */
function options(checkout: readonly string[], path: string): string[] {
  return [...checkout.slice(0, -1), path, ...checkout.slice(-1)];
}

/** Whether there are files that a writer may have left: not where nobody was let in before it was whole. */
function holdsWork(path: string, repository: Repository): boolean {
  if (kindOf(path) === 'none' || adminsOf(path, repository).some(isHalfMade)) return false;
  return readdirSync(path).some((name) => name !== '.git');
}

/** Makes the worktree anew around the files that are there, git having lost sight of them. */
async function takeBack(
  path: string,
  aside: string,
  checkout: readonly string[],
  repository: Repository,
  runGit: RunGit,
): Promise<void> {
  // A repository that was made there in its place is none of the work.
  if (kindOf(join(path, '.git')) === 'directory') renameSync(join(path, '.git'), freePath(beside(path, 'git')));
  renameSync(path, aside);
  for (const admin of adminsOf(path, repository)) rmSync(admin, { recursive: true, force: true });
  await runGit.git(repository.root, ['worktree', 'add', '--quiet', '--no-checkout', ...options(checkout, path)]);
  renameSync(join(path, '.git'), join(aside, '.git'));
  rmdirSync(path);
  renameSync(aside, path);
}

function freePath(path: string): string {
  let free = path;
  for (let count = 2; existsSync(free); count++) free = `${path}-${count}`;
  return free;
}
