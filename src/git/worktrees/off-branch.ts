// Worktrees that are not on their writer's branch: the git operation in progress, and the way back for the writer.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { refusal, textOf } from '../../base/rules/codes.ts';
import { GIT_CODES } from '../rules/git-codes.ts';

/** Where a worktree stands that is not on its branch, and would lose something on the way there. */
export type OffBranch = {
  /** Null: on a branch without a commit. */
  readonly sha: string | null;
  /** For its writer. */
  readonly words: string;
};

/** What git keeps in a worktree's part of its directory while something is not finished there. */
export const UNFINISHED = ['rebase-merge', 'rebase-apply', 'sequencer', 'CHERRY_PICK_HEAD', 'REVERT_HEAD'];

export type GitOperation = 'rebase' | 'am' | 'cherry-pick' | 'revert' | 'merge';

/** What is to be continued or aborted there; null: nothing. */
export function worktreeOperation(admin: string): GitOperation | null {
  const has = (...name: readonly string[]) => existsSync(join(admin, ...name));
  if (has('rebase-apply', 'applying')) return 'am';
  if (has('rebase-merge') || has('rebase-apply')) return 'rebase';
  if (has('REVERT_HEAD')) return 'revert';
  if (has('CHERRY_PICK_HEAD')) return 'cherry-pick';
  if (has('MERGE_HEAD')) return 'merge';
  if (!has('sequencer', 'todo')) return null;
  return readFileSync(join(admin, 'sequencer', 'todo'), 'utf8').startsWith('revert') ? 'revert' : 'cherry-pick';
}

/** The commit of what a rebase has put aside, and brings back at its end alone; null: nothing. */
export function stashOf(admin: string): string | null {
  const files = ['rebase-merge', 'rebase-apply'].map((name) => join(admin, name, 'autostash'));
  const file = files.find((path) => existsSync(path));
  return file === undefined ? null : readFileSync(file, 'utf8').trim();
}

/** @param other the ref that it stands on; empty: none */
export function offBranchText(sha: string | null, other: string, branch: string, step: GitOperation | null): string {
  const name = other.replace(/^refs\/heads\//, '');
  const where = [sha && `at ${sha.slice(0, 12)}`, name && `on ${name}`].filter(Boolean).join(' ');
  if (sha === null) return textOf(refusal(GIT_CODES.worktree_on_unborn_branch, { where, branch, other: name }));
  if (step === 'rebase' || step === 'am')
    return textOf(refusal(GIT_CODES.worktree_mid_rebase, { where, branch, step, commit: sha }));
  const finish = step === null ? '' : `Finish it: git ${step} --continue. Or drop it: git ${step} --abort. `;
  const next = `${finish}Commit there all that is not committed. Run git checkout ${branch}, then git merge -, which takes over these commits.`;
  const values = { where, branch, next, commit: sha, ...(step === null ? {} : { step }) };
  return textOf(refusal(GIT_CODES.worktree_off_branch, values));
}
