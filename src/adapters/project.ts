// Where a project is: the directory that tools work in, and the main checkout whose .tool holds its teams.

import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export type Project = {
  /** Paths of files are told from here. */
  readonly root: string;
  /** The same but in a worktree: there, the checkout that it belongs to. */
  readonly main: string;
};

function kindOf(path: string): 'file' | 'directory' | 'none' {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 'none';
  return stat.isDirectory() ? 'directory' : 'file';
}

/** The checkout that a worktree belongs to, by what its `.git` file points to. */
function mainOf(root: string): string {
  const git = join(root, '.git');
  if (kindOf(git) !== 'file') return root;
  try {
    const [, gitDir = ''] = /^gitdir: (.+)$/m.exec(readFileSync(git, 'utf8')) ?? [];
    const place = resolve(root, gitDir.trim());
    const common = resolve(place, readFileSync(join(place, 'commondir'), 'utf8').trim());
    return common.endsWith('/.git') ? dirname(common) : root;
  } catch {
    return root;
  }
}

/** A worktree of a team's, by where it is: what it holds is its writer's. */
type TeamWorktree = {
  readonly worktree: string;
  readonly main: string;
  /** The top of the checkout that `main` is in. */
  readonly top: string;
};

/** The team's worktree that a real path lies in; undefined anywhere else. */
export function teamWorktree(path: string): TeamWorktree | undefined {
  const [worktree = '', main = ''] = /^(.+?)\/\.tool\/worktrees\/[^/]+\/[^/]+/.exec(path) ?? [];
  if (worktree === '') return undefined;
  let top = main;
  while (kindOf(join(top, '.git')) === 'none' && top !== dirname(top)) top = dirname(top);
  return { worktree, main, top };
}

/**
 * Where a lead has its writers work: the project's part of the worktree, which may be a directory below its top.
 * Undefined anywhere else.
 */
function leadPlace(start: string): Project | undefined {
  const place = teamWorktree(start);
  if (place === undefined || kindOf(join(place.worktree, '.git')) !== 'file') return undefined;
  return { root: join(place.worktree, relative(place.top, place.main)), main: place.main };
}

/**
 * Finds the project that a directory lies in: the nearest one upwards that is a Git checkout or has a `.tool`, else itself.
 * @param stated where the host says that it is, which counts more
 */
export function findProject(cwd: string, stated?: string): Project {
  const start = stated !== undefined && kindOf(stated) === 'directory' ? stated : cwd;
  const place = leadPlace(realpathSync(start));
  if (place !== undefined) return place;
  for (let directory = resolve(start); ; directory = dirname(directory)) {
    if (kindOf(join(directory, '.git')) !== 'none' || kindOf(join(directory, '.tool')) === 'directory') {
      const root = realpathSync(directory);
      return { root, main: mainOf(root) };
    }
    if (directory === dirname(directory)) break;
  }
  const root = realpathSync(start);
  return { root, main: root };
}
