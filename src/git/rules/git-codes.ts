// Codes of git and work trees.

import { codes } from '../../base/rules/codes.ts';

export const GIT_CODES = codes({
  git_failed: {
    kind: 'git',
    message:
      'git {command} failed[ in {directory}][ for {target}][ for {files}][ (exit {exit})][ (exit by {signal})]: {said}',
    values: { command: 'text', said: 'text' },
    may: { exit: 'number', signal: 'text', directory: 'text', target: 'text', files: 'list' },
  },
  git_timed_out: {
    kind: 'git',
    message: 'git {command} {why} {seconds} s and was ended.',
    values: { command: 'text', why: ['gave no sign of life for', 'took longer than'], seconds: 'number' },
  },
  git_not_launched: {
    kind: 'prerequisite',
    message: 'The namespaces for git {command} could not be made: {said}',
    values: { command: 'text', said: 'text' },
  },
  git_missing: {
    kind: 'prerequisite',
    message: 'git is not on the PATH.',
    help: 'Install git.',
  },
  git_too_old: {
    kind: 'prerequisite',
    message: '{version} is too old: a team merges its work by git {required} or later.',
    help: 'Update git.',
    values: { version: 'text', required: 'text' },
  },
  git_repository_missing: {
    kind: 'prerequisite',
    message:
      '{path}: each writer of a team works in a git worktree, which needs a git repository with a checkout. git says: {said}',
    values: { path: 'text', said: 'text' },
  },
  no_commit_yet: {
    kind: 'prerequisite',
    message: "{path}: a team's branch begins from a commit, but there is none yet.",
    help: 'Make a first commit.',
    values: { path: 'text' },
  },
  team_base_rewritten: {
    kind: 'warning',
    message: 'You rewrote commit {base}, on which the team began. {branch} still begins there.',
    help: 'Put its work on top of the commits you have now: git rebase --onto HEAD {base} {branch}. Or take the old commit back: git branch <name> {base}.',
    values: { base: 'text', branch: 'text' },
  },
  workspace_clone_lost: {
    kind: 'git',
    message: '{path} no longer holds its own readable git clone.',
    values: { path: 'text' },
  },
  git_config_unreadable: {
    kind: 'git',
    message: '{path} is not a readable file.',
    values: { path: 'text' },
  },
  clone_gone: {
    kind: 'hook',
    message: '{path} holds no Git clone of its own any more.',
    values: { path: 'text' },
  },
  git_lock_held: {
    kind: 'git',
    message: '{path} is there, and a git has been at work in its repository for {seconds} s.',
    help: 'End that git, or remove the lock.',
    values: { path: 'text', seconds: 'number' },
  },
  team_branches_locked: {
    kind: 'git',
    message: "{path}: process {pid} has been at work on the team's branches for {minutes} minutes.",
    help: 'End that process.',
    values: { path: 'text', pid: 'text', minutes: 'number' },
  },
  name_invalid: {
    kind: 'usage',
    message: '{field}: expected {expected}, got {got}.',
    values: { field: 'text', expected: 'text', got: 'text' },
  },
  worktree_path_taken: {
    kind: 'git',
    message: '{path}: expected a worktree or nothing there, got a file.',
    help: 'Remove it.',
    values: { path: 'text' },
  },
  worktree_not_made: {
    kind: 'git',
    message: '{path}: git made no worktree there.',
    values: { path: 'text' },
  },
  worktree_off_branch: {
    kind: 'git',
    message: 'Your worktree is {where}, not on your branch {branch}, and it has work that the branch lacks.',
    help: '{next} Then complete again. Nothing was changed in your worktree.',
    values: { where: 'text', branch: 'text', next: 'text' },
    may: { step: 'text', commit: 'text' },
  },
  worktree_mid_rebase: {
    kind: 'git',
    message: 'Your worktree is {where}, not on your branch {branch}, and git {step} is not finished there.',
    help: 'Finish it: git add the files that you resolved, then git {step} --continue. Or drop it: git {step} --abort. If you are elsewhere then, run git checkout {branch}. Then complete again. Nothing was changed in your worktree.',
    values: { where: 'text', branch: 'text', step: ['rebase', 'am'] },
    may: { commit: 'text' },
  },
  worktree_on_unborn_branch: {
    kind: 'git',
    message: 'Your worktree is {where}, not on your branch {branch}, and {other} has no commit.',
    help: 'Put it back with the files as they are: git symbolic-ref HEAD refs/heads/{branch}. Look at git status then. For each file that you did not mean to remove or change, run git checkout HEAD -- <file>. Then complete again. Nothing was changed in your worktree.',
    values: { where: 'text', branch: 'text', other: 'text' },
  },
  workspace_broken_by_agent: {
    kind: 'agent',
    message: 'The agent left the workspace unusable: {said}',
    values: { said: 'text', cause: 'text' },
  },
  conflict_unresolved: {
    kind: 'git',
    message: "[{path}: ][a merge of {member}'s is not finished. ]Conflict markers of git are in {files}.",
    help: 'Keep the right lines, remove the markers, then git add the files and complete again.',
    values: { files: 'list' },
    may: { member: 'text', path: 'text' },
  },
  conflict_undecided: {
    kind: 'git',
    message: "{path}: a merge of {member}'s is not finished. git could not bring both sides of {files} together.",
    help: 'Run git add for each file that stays as it is, and git rm for each file that goes. Then complete again.',
    values: { path: 'text', member: 'text', files: 'list' },
  },
});
