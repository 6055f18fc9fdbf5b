// Installed packages in a worktree: links to those of the checkout, and the worktree's own in place of the checkout's own.

import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { Repository, RunGit } from '../worktree-git.ts';

const PACKAGES = 'node_modules';
const VIRTUAL = ['.venv', 'venv'];
/** Beside one of these, and in the project's root, things are installed. */
const MANIFESTS: readonly (readonly [manifest: string, installed: readonly string[]])[] = [
  ['package.json', [PACKAGES]],
  ['pyproject.toml', VIRTUAL],
  ['setup.py', VIRTUAL],
  ['requirements.txt', VIRTUAL],
];
/** Of a package manager's own files, what programs need: the rest would have it write into the checkout's. */
const OWN_FILES = ['.bin', '.prisma'];
/** Parts of an environment of Python that are made anew; in all others nothing is written. */
const ENTERED = /^(?:bin|lib|lib\/python[^/]*|lib\/python[^/]*\/site-packages)$/;
/** They lead to packages that are the project's own. */
const REDIRECTS = /^__editable__.*\.py$|\.(?:pth|egg-link)$/;
/** Scripts of an environment are no larger; a copy is changed by nobody else. */
const SCRIPT_BYTES = 64 * 1024;

/** Has a worktree find what the checkout has installed. What is there stays as it is. */
export async function shareInstalled(worktree: string, repository: Repository, runGit: RunGit): Promise<void> {
  const { top } = repository;
  for (const place of await places(worktree, repository, runGit)) {
    const target = join(worktree, place);
    if (!existsSync(dirname(target)) || !isVacant(worktree, place)) continue;
    mkdirSync(target, { recursive: true });
    try {
      // Git does not see an empty directory.
      if ((await runGit.try(worktree, ['check-ignore', '--quiet', '--', `${place}/`])).exitCode !== 0) continue;
      const half = createStagingDirectory(worktree);
      const source = join(top, place);
      const where = { top, worktree, target };
      if (basename(place) === PACKAGES) sharePackages(source, half, where);
      else shareEnvironment(source, half, where);
      // Whole or not at all: an empty directory is replaced in one step.
      renameSync(half, target);
    } finally {
      // Empty, it would hide what is found above it.
      if (existsSync(target) && isVacant(worktree, place)) rmdirSync(target);
    }
  }
}

/** Creates an empty directory to fill and then rename into place. Replaces one that a killed process left. */
export function createStagingDirectory(worktree: string): string {
  const half = join(dirname(worktree), `.installed-${basename(worktree)}`);
  rmSync(half, { recursive: true, force: true });
  mkdirSync(half);
  return half;
}

/**
 * Whether something may be put there: there is nothing, or, by one that was killed, an empty directory. Writers have been
 * there: no link is a way to it, and what cannot be looked at stays as it is.
 */
export function isVacant(worktree: string, place: string): boolean {
  const parts = place.split('/');
  if (parts.includes('..')) return false;
  try {
    let path = worktree;
    for (const part of parts) {
      path = join(path, part);
      const status = lstatSync(path, { throwIfNoEntry: false });
      if (status === undefined) return true;
      if (!status.isDirectory()) return false;
    }
    return readdirSync(path).length === 0;
  } catch {
    return false;
  }
}

/** Directories of the checkout, from its top, that hold what was installed. */
async function places(worktree: string, { top, prefix }: Repository, runGit: RunGit): Promise<readonly string[]> {
  const globs = MANIFESTS.map(([name]) => `:(top,glob)**/${name}`);
  const listed = (await runGit.git(worktree, ['ls-files', '-z', '--', ...globs])).split('\0');
  const beside = listed.flatMap((path) => {
    const [, names = []] = MANIFESTS.find(([name]) => name === basename(path)) ?? [];
    return names.map((name) => join(dirname(path), name));
  });
  const all = new Set([...[PACKAGES, ...VIRTUAL].map((name) => join(prefix, name)), ...beside]);
  return [...all].filter((place) => existsSync(join(top, place, place.endsWith(PACKAGES) ? '.' : 'pyvenv.cfg')));
}

type Places = { readonly top: string; readonly worktree: string; readonly target: string };

/** A link that leads to a package of the project itself leads to the worktree's own. */
function sharePackages(source: string, into: string, where: Places, below = ''): void {
  const { top, worktree, target } = where;
  for (const name of readdirSync(source)) {
    const from = join(source, name);
    if (below === '' && name.startsWith('.') && !OWN_FILES.includes(name)) continue;
    const own = ownOf(from, top);
    if (own !== null) {
      const there = join(target, below);
      symlinkSync(relative(there, join(worktree, own)), join(into, name));
    } else if (below === '' && (name === '.bin' || name.startsWith('@')) && lstatSync(from).isDirectory()) {
      mkdirSync(join(into, name));
      sharePackages(from, join(into, name), where, name);
    } else symlinkSync(from, join(into, name));
  }
}

/** Where in the project a link leads to; null: it is none, or it leads to what was installed. */
function ownOf(path: string, top: string): string | null {
  if (!lstatSync(path).isSymbolicLink()) return null;
  try {
    const place = relative(realpathSync(top), realpathSync(path));
    return place === '' || place.startsWith('..') || `/${place}/`.includes(`/${PACKAGES}/`) ? null : place;
  } catch {
    return null;
  }
}

/**
 * Python tells an environment by where its program was started from. What a new environment in its place, or a package
 * manager, would write over is copied; what says where the project's own packages are says it of the worktree.
 */
function shareEnvironment(source: string, into: string, where: Places, below = ''): void {
  for (const name of readdirSync(source)) {
    const [from, to, place] = [join(source, name), join(into, name), join(below, name)];
    const stat = lstatSync(from);
    const isOwn = name.endsWith('.dist-info') && existsSync(join(from, 'direct_url.json'));
    if (stat.isDirectory() && (ENTERED.test(place) || isOwn)) {
      mkdirSync(to);
      shareEnvironment(from, to, where, place);
    } else if (stat.isSymbolicLink() && !readlinkSync(from).includes('/')) symlinkSync(readlinkSync(from), to);
    else if (stat.isFile() && REDIRECTS.test(name)) writeFileSync(to, redirected(readFileSync(from, 'utf8'), where));
    else if (stat.isFile() && stat.size <= SCRIPT_BYTES) copyFileSync(from, to);
    else symlinkSync(from, to);
  }
}

/** A text that names places of the checkout, with those of the worktree. */
function redirected(text: string, { top, worktree }: Places): string {
  return text
    .split(top)
    .map((part, index) => (index === 0 ? part : `${/^(?:[/'"\s]|$)/.test(part) ? worktree : top}${part}`))
    .join('');
}
