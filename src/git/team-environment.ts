// Environment for git in a team's worktree: git uses the repository of the checkout, even if a teammate changed the link to it.

import { realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { tryReadText } from '../base/files/read-text.ts';
import { cloneEnvironment } from './git.ts';
import { teamWorktree } from './project.ts';

/** The Git directory that a checkout's worktrees share; undefined where there is none. */
function commonOf(top: string): string | undefined {
  const git = join(top, '.git');
  const stat = statSync(git, { throwIfNoEntry: false });
  if (stat?.isDirectory() === true) return git;
  const [, place] = /^gitdir: (.+)$/m.exec(tryReadText(git) ?? '') ?? [];
  if (place === undefined) return undefined;
  const directory = resolve(top, place.trim());
  return resolve(directory, (tryReadText(join(directory, 'commondir')) ?? '').trim());
}

/** The environment for git in a directory, which may be a place in a team's worktree. */
export function environmentAt(directory: string): Record<string, string> {
  const env = cloneEnvironment(process.env);
  const place = teamWorktree(realpathSync(directory));
  const common = place === undefined ? undefined : commonOf(place.top);
  return common === undefined ? env : { ...env, GIT_COMMON_DIR: common };
}
