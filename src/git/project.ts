// The place of a project: the directory that tools work in, and the checkout whose .tool holds its teams.

import { realpathSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export type Project = {
  /** Paths of files are told from here. */
  readonly root: string;
  /** The same but in a worktree of a team's or of a host's agent: there, the checkout that it was made in. */
  readonly main: string;
};

function kindOf(path: string): 'file' | 'directory' | 'none' {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 'none';
  return stat.isDirectory() ? 'directory' : 'file';
}

/** The checkout that a host made a worktree in for one of its agents; any other is a project of its own. */
function mainOf(root: string): string {
  if (!root.includes('/.claude/worktrees/')) return root;
  const [, checkout] = /^(.+?)\/\.claude\/worktrees\/agent-[^/]+$/.exec(root) ?? [];
  return checkout !== undefined && kindOf(join(root, '.git')) === 'file' ? checkout : root;
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
  if (!path.includes('/.tool/worktrees/')) return undefined;
  const [worktree = '', main = ''] = /^(.+?)\/\.tool\/worktrees\/[^/]+\/[^/]+/.exec(path) ?? [];
  if (worktree === '') return undefined;
  let top = main;
  while (kindOf(join(top, '.git')) === 'none' && top !== dirname(top)) top = dirname(top);
  return { worktree, main, top };
}

/**
 * Where a lead has its writers work: the project's part of the worktree, which may be a directory below its top. Nothing in
 * it has a say in that: a teammate that takes its link to the repository away is none the less of its team.
 * Undefined anywhere else.
 */
function leadPlace(start: string): Project | undefined {
  const place = teamWorktree(start);
  if (place === undefined) return undefined;
  return { root: join(place.worktree, relative(place.top, place.main)), main: place.main };
}

/**
 * Finds the project that a directory lies in: the nearest one upwards that is a Git checkout or has a `.tool`, else itself.
 * Of several checkouts of one repository each is a project of its own, with the SPECs, settings and teams that it holds.
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
