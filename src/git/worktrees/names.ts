// Names of the branches, refs and directories of a team's writers.

import { join } from 'node:path';
import { failure } from '../../base/rules/errors.ts';
import { got } from '../../base/rules/text.ts';
import { GIT_CODES } from '../rules/git-codes.ts';
import type { Repository } from '../worktree-git.ts';

const NAME = /^[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*$/;

/** Checks that a name can be a directory and a part of a branch. Two hyphens separate a team from its member. */
function checkName(kind: 'team' | 'teammate', name: string): string {
  if (NAME.test(name) && name.length <= 120 && !name.endsWith('.lock')) return name;
  const expected = 'letters and digits, single hyphens, dots or underscores between them';
  throw failure(GIT_CODES.name_invalid, { field: kind, expected, got: got(name) });
}

/** Parent of all team branches. */
export const BRANCHES = 'tool';

export function teamBranch(team: string): string {
  return `${BRANCHES}/${checkName('team', team)}`;
}

export function memberBranch(team: string, member: string): string {
  return `${teamBranch(team)}--${checkName('teammate', member)}`;
}

export function headRef(branch: string): string {
  return `refs/heads/${branch}`;
}

/** Ref of the commit from which a team began. */
export function baseRef(team: string): string {
  return `refs/toolcrew/base/${checkName('team', team)}`;
}

/** Ref of the head of the team's branch after the last merge. */
export function leftRef(team: string): string {
  return `refs/toolcrew/left/${checkName('team', team)}`;
}

/** Ref for work that is on no branch. */
export function keptRef(why: 'refused' | 'saved', team: string, member: string, sha: string): string {
  return `refs/toolcrew/${why}/${team}/${member}/${sha}`;
}

export function memberPath(team: string, member: string, { worktrees }: Repository): string {
  return join(worktrees, checkName('team', team), checkName('teammate', member));
}

/** Worktree of a read-only member. The `@` cannot begin a teammate's name. */
export function readOnlyPath(team: string, name: string, { worktrees }: Repository): string {
  return join(worktrees, checkName('team', team), `@${checkName('teammate', name)}`);
}
