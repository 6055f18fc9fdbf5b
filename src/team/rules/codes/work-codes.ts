// Codes of writers' work on its way into the team's branch.

import { codes } from '../../../base/rules/codes.ts';

export const WORK_CODES = codes({
  team_branch_missing: {
    kind: 'git',
    message: 'There is no branch {branch}: the team has not started, or it was deleted.',
    values: { branch: 'text' },
  },
  team_branch_checked_out: {
    kind: 'git',
    message: '{branch} is checked out in {path}, so the work of the team cannot be merged into it.',
    help: 'Switch to another branch there.',
    values: { branch: 'text', path: 'text' },
  },
  commit_not_on_branch: {
    kind: 'git',
    message: '{commit} is not an unmerged commit on the branch of {member}.',
    values: { commit: 'text', member: 'text' },
    may: { head: 'text', got: 'text' },
  },
  team_branch_contended: {
    kind: 'git',
    message: 'git did not move {branch} to the merge in {tries} tries: {said}',
    values: { branch: 'text', tries: 'number' },
    may: { said: 'text' },
  },
  team_in_other_checkout: {
    kind: 'refused',
    message: 'Team {team} is active in another checkout of this repository, {path}.',
    help: 'Finish it there with tool team-restart {team}, or delete it there with tool team delete {team}.',
    values: { team: 'text', path: 'text' },
  },
  issue_branch_not_restored: {
    kind: 'agent',
    message: 'The branch of the issue cannot be set back from {now} to {start}: {said}',
    values: { now: 'text', start: 'text', said: 'text' },
  },
  work_kept: {
    kind: 'warning',
    message: '{branch} was not updated: {why}. What it held is kept as {kept}.',
    values: { branch: 'text', why: 'text', files: 'list' },
    may: { kept: 'text' },
  },
  commit_not_merged: {
    kind: 'refused',
    message: 'Commit {commit} of {member} is not merged: {faults}.',
    help: 'Your commits from there on are kept as {kept}. Correct them, and complete the task again.',
    values: { commit: 'text', subject: 'text', member: 'text', faults: 'problems' },
    may: { kept: 'text' },
  },
  path_outside_project: {
    kind: 'refused',
    message: '{path} is outside the project.',
    help: 'Give a path from the root of the project.',
    values: { path: 'text' },
    may: { field: 'text', leadsTo: 'text' },
  },
  path_not_utf8: {
    kind: 'refused',
    message: 'The name of {path} is not UTF-8.',
    help: 'Give the file another name.',
    values: { path: 'text' },
  },
  result_breaks_spec_format: {
    kind: 'refused',
    message: 'The result of task {task} breaks the format of a SPEC: {problems}.',
    help: 'Call TaskUpdate for task {task} again, with the full corrected text as its result.',
    values: { task: 'text', problems: 'problems' },
  },
  foreign_files_changed: {
    kind: 'refused',
    message: 'Files of other owners changed, and toolcrew saw nobody write them: {files}.',
    help: 'Undo it if you changed them, and complete again. If not, complete again.',
    values: { files: 'list', owners: 'list' },
  },
  work_conflicts: {
    kind: 'agent',
    message: 'The work does not merge with {branch}: {files} changed on both sides.',
    help: 'Run git merge {branch} in your worktree, resolve the conflict, commit, and complete again.',
    values: { branch: 'text', files: 'list' },
    may: { settling: 'text', said: 'text' },
  },
  files_left_out: {
    kind: 'refused',
    message: 'Task {task} is done without {files}.',
    help: 'Move or remove them, or complete again to leave them out.',
    values: { task: 'text', files: 'list', kinds: 'list' },
  },
  accepted_after_rejections: {
    kind: 'warning',
    message: 'Accepted after {count} rejections without change: {reason}',
    values: { count: 'number', reason: 'text', task: 'text', member: 'text' },
  },
});
