// Codes of git and work trees.

import { codes } from '../../base/rules/codes.ts';

export const GIT_CODES = codes({
  git_failed: {
    kind: 'git',
    message: 'git {command} failed (exit {exit}): {said}',
    values: { command: 'text', said: 'text' },
    may: { exit: 'number', directory: 'text' },
  },
  git_timed_out: {
    kind: 'git',
    message: 'git {command} {why} {seconds} s and was ended.',
    help: 'Check the connection. For a slow server raise workspace.clone_timeout_ms.',
    values: { command: 'text', why: 'text', seconds: 'number' },
  },
  git_missing: {
    kind: 'prerequisite',
    message: 'git is not on the PATH.',
    help: 'Install git.',
  },
  git_too_old: {
    kind: 'prerequisite',
    message: 'git {version} is too old; {required} or later is needed.',
    help: 'Update git.',
    values: { version: 'text', required: 'text' },
  },
  git_repository_missing: {
    kind: 'prerequisite',
    message: '{path} is not a git repository with a checkout: {said}',
    help: 'Run git init in the project, and commit.',
    values: { path: 'text', said: 'text' },
  },
  no_commit_yet: {
    kind: 'prerequisite',
    message: '{path} has no commit, and a team needs one to start from.',
    help: 'Make a first commit.',
    values: { path: 'text' },
  },
  team_base_rewritten: {
    kind: 'warning',
    message: 'You rewrote commit {base}, on which {branch} begins.',
    help: 'Run git rebase --onto HEAD {base} {branch}, or take the old commit back: git branch <name> {base}.',
    values: { base: 'text', branch: 'text' },
  },
  workspace_clone_lost: {
    kind: 'git',
    message: '{path} no longer holds its own readable git clone.',
    values: { path: 'text' },
  },
  git_lock_held: {
    kind: 'git',
    message: '{path} is locked by process {pid} for {seconds} s.',
    help: 'End that process, or remove the lock.',
    values: { path: 'text', seconds: 'number' },
    may: { pid: 'number' },
  },
  name_invalid: {
    kind: 'usage',
    message: '{field}: expected {expected}, got {got}.',
    values: { field: 'text', expected: 'text', got: 'text' },
  },
  worktree_path_taken: {
    kind: 'git',
    message: '{path}: git made no worktree there, because something else is there.',
    help: 'Remove it.',
    values: { path: 'text' },
  },
  worktree_off_branch: {
    kind: 'git',
    message: 'Your worktree is {where}, not on your branch {branch}.',
    help: 'Finish or abort git {step}, run git checkout {branch}, then git merge -, then complete the task again.',
    values: { where: 'text', branch: 'text' },
    may: { step: 'text', commit: 'text' },
  },
  workspace_broken_by_agent: {
    kind: 'agent',
    message: 'The agent left the workspace unusable: {said}',
    values: { said: 'text', cause: 'text' },
  },
  conflict_unresolved: {
    kind: 'git',
    message: 'Git conflicts are not resolved in {files}.',
    help: 'Keep the right lines, remove the markers, then git add the files and complete again.',
    values: { files: 'list' },
    may: { member: 'text', path: 'text' },
  },
});
