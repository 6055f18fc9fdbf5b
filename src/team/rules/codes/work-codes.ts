// Codes of writers' work on its way into the team's branch.

import { codes } from '../../../base/rules/codes.ts';

export const WORK_CODES = codes({
  team_branch_missing: {
    kind: 'git',
    message: '{branch}: there is no such branch; the team has not begun, or it was deleted.',
    values: { branch: 'text' },
  },
  team_branch_checked_out: {
    kind: 'git',
    message: "{branch} is checked out in {path}, and a team's work is merged into it.",
    help: 'Switch to another branch there.',
    values: { branch: 'text', path: 'text' },
  },
  team_branches_blocked: {
    kind: 'git',
    message: '{branch}: git makes no such branch beside one that is called {blocking}.',
    help: 'Rename that: git branch -m {blocking} <name>',
    values: { branch: 'text', blocking: 'text' },
  },
  commit_not_on_branch: {
    kind: 'git',
    message: '{commit} is not an unmerged commit on the branch of {member}[, which stands at {head}].',
    values: { commit: 'text', member: 'text' },
    may: { head: 'text', got: 'text' },
  },
  team_branch_contended: {
    kind: 'git',
    message: 'git did not move {branch} to the merge in {tries} tries[: {said}].',
    values: { branch: 'text', tries: 'number' },
    may: { said: 'text' },
  },
  team_in_other_checkout: {
    kind: 'refused',
    message: 'Team {team} is active in another checkout of this repository, {path}.',
    help: 'Finish it there (tool team-restart {team}), or delete it there (tool team delete {team}).',
    values: { team: 'text', path: 'text' },
  },
  worktree_astray: {
    kind: 'git',
    message: '{path}: {where}',
    values: { path: 'text', where: 'text' },
  },
  issue_branch_not_restored: {
    kind: 'agent',
    message:
      "The issue's branch was to stand at {start} ({branch}), and cannot be set back from {now} ({now_branch}): {said}",
    values: { start: 'text', branch: 'text', now: 'text', now_branch: 'text', said: 'text' },
  },
  team_work_not_merged: {
    kind: 'agent',
    message: "The team's branch {branch} does not merge into the issue's: {said}",
    values: { branch: 'text', said: 'text' },
  },
  work_kept: {
    kind: 'warning',
    message: '{branch}: what it held before is kept as {kept}',
    values: { branch: 'text', kept: 'text' },
  },
  commit_not_merged: {
    kind: 'refused',
    message:
      'Commit {commit} "{subject}" of {member} is not merged.[ Your commits from there on were taken back and are kept as {kept}.]\n{faults}[\n  and {more} more of its files]',
    values: { commit: 'text', subject: 'text', member: 'text', faults: 'problems' },
    may: { kept: 'text', more: 'number' },
  },
  path_outside_project: {
    kind: 'refused',
    message: '[{field}: ]{path} is outside the project.',
    help: 'Give a path inside the project, from its root.',
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
    message:
      'These lines of the result of task {task} break the format of a SPEC:\n{lines}\nCall TaskUpdate again for task {task}, with the full corrected text as its result.\n{form}',
    values: { task: 'text', lines: 'text', form: 'text' },
  },
  foreign_files_changed: {
    kind: 'refused',
    message: 'Files of other owners changed, and toolcrew saw nobody write them: {owners}.',
    help: 'If you changed them, undo it (git checkout), send the owner a change_request, then complete again. If not, complete again; toolcrew tells the lead.',
    values: { files: 'list', owners: 'list' },
  },
  work_conflicts: {
    kind: 'refused',
    message: "Your work does not merge with the team's branch: {files} changed on both sides.",
    help: '{how}. Then complete it again.',
    values: { files: 'text', how: 'text' },
  },
  work_conflicts_with_task: {
    kind: 'refused',
    message: "Your work does not merge with the team's branch: {files} changed on both sides, by you and by {others}.",
    help: 'Task {settling} is to settle that, and is yours: call TaskUpdate {"taskId":"{settling}","status":"in_progress"}. {how}. Complete task {settling}, then this one.',
    values: { files: 'text', others: 'text', settling: 'text', how: 'text' },
  },
  conflict_markers_left: {
    kind: 'refused',
    message: '{files} holds conflict markers of git (<<<<<<<, =======, >>>>>>>) at the beginning of lines.',
    help: 'Keep the right lines and remove the markers (indent them in an example), then complete again.',
    values: { files: 'list' },
  },
  worktree_not_on_branch: {
    kind: 'refused',
    message: '{where}',
    values: { where: 'text' },
  },
  team_branch_moving: {
    kind: 'refused',
    message: "Somebody moved the team's branch {tries} times while your work was being merged.",
    help: 'Complete again.',
    values: { tries: 'number' },
  },
  team_branch_taken: {
    kind: 'refused',
    message: '{said} (A person did this; nothing is wrong with your work.)',
    help: 'Wait a minute, then complete again.',
    values: { said: 'text' },
  },
  commits_hold_secrets: {
    kind: 'refused',
    message: 'Your commits hold secrets: {places}[ and {more} more].',
    help: 'These commits and all later ones were taken back and are kept as {kept}; the files are unchanged and uncommitted. Remove the secrets (read them from the environment), then complete again. If it is no secret, tell team-lead: only a person can allow it in quality.secrets of .tool/config/workflow.yaml (allowed_paths, allowed_values).',
    values: { places: 'list', kept: 'text' },
    may: { more: 'number' },
  },
  files_hold_secrets: {
    kind: 'refused',
    message: 'Your files hold secrets: {places}[ and {more} more].',
    help: 'Remove them (read them from the environment), then complete again. If it is no secret, tell team-lead: only a person can allow it in quality.secrets of .tool/config/workflow.yaml (allowed_paths, allowed_values).',
    values: { places: 'list' },
    may: { more: 'number' },
  },
  nested_repository: {
    kind: 'refused',
    message: '{path} is a separate Git repository, so its content is no part of your work.',
    help: 'If it belongs to your work, make it plain files: git rm --cached -q --ignore-unmatch {path}; rm -rf {path}/.git. If not, remove it, or move it out of the worktree. Then complete again.',
    values: { path: 'text' },
  },
  files_left_out: {
    kind: 'refused',
    message: '{reasons}',
    help: 'Complete again to leave these files out; toolcrew tells the lead.',
    values: { task: 'text', files: 'list', reasons: 'text' },
  },
  work_not_accepted: {
    kind: 'refused',
    message: '{said}',
    help: 'Fix this, then complete the task again. The checks run each time.',
    values: { task: 'text', checks: 'list', said: 'text' },
  },
  checks_not_run: {
    kind: 'refused',
    message: '{said}. Nothing is wrong with your work: complete again.',
    values: { said: 'text' },
  },
  stop_escalated: {
    kind: 'warning',
    message: 'escalated by {hook}: {member} stopped after {count} rejections without change: {reason}',
    values: { hook: 'text', member: 'text', count: 'number', reason: 'text' },
  },
  completion_escalated: {
    kind: 'warning',
    message:
      'escalated by {hook}: task {task} was completed by {member} after {count} rejections without change: {reason}',
    values: { hook: 'text', task: 'text', member: 'text', count: 'number', reason: 'text' },
  },
  foreign_files_escalated: {
    kind: 'warning',
    message: 'escalated by {hook}: changed by somebody, with no recorded decision: {files}',
    values: { hook: 'text', files: 'list' },
  },
  task_failed: {
    kind: 'warning',
    message: 'task {task} "{subject}" has failed: {why}. Nobody is started for it again.',
    help: 'Ask the user how to continue. To try it again, call TaskUpdate {"taskId":"{task}","status":"pending"}.',
    values: { task: 'text', subject: 'text', why: 'text' },
  },
  task_without_files: {
    kind: 'warning',
    message: 'task {task} is done without {files}; kept as {kept}',
    values: { task: 'text', files: 'text', kept: 'text' },
  },
  checks_failed_before: {
    kind: 'warning',
    message: 'failed before the team began, and ignored by the gate: {checks}',
    values: { checks: 'text' },
  },
  accepted_after_rejections: {
    kind: 'warning',
    message: 'Accepted after {count} rejections without change[; the {told} was told]: {reason}',
    values: { count: 'number', reason: 'text', task: 'text', member: 'text' },
    may: { told: ['lead'] },
  },
});
