// Codes of workspaces and the mirror.

import { codes } from '../../../base/rules/codes.ts';

export const WORKSPACES_CODES = codes({
  history_unrelated: {
    kind: 'hook',
    message: 'The commits on {branch} have none in common with {base}.',
    help: 'Commit the work on a branch that begins at {base}.',
    values: { branch: 'text', base: 'text' },
  },
  base_not_merged: {
    kind: 'hook',
    message: '{branch} does not merge {base}, although no commits conflict: files of the workspace are in the way.',
    help: 'Merge {base} in the workspace, and commit.',
    values: { branch: 'text', base: 'text' },
  },
  nested_repository_linked: {
    kind: 'hook',
    message: 'The commits hold {links} as links to nested repositories, without their files.',
    help: 'To publish the files: git rm --cached {first}, move its .git out of the workspace, git add {first}, and commit. If it is no part of the work: git rm --cached {first}, and commit.',
    values: { links: 'list', first: 'text' },
  },
  hook_timed_out: {
    kind: 'hook',
    message: '{hook} took longer than hooks.timeout_ms ({ms} ms) and was ended.',
    help: 'Raise hooks.timeout_ms.',
    values: { hook: 'text', ms: 'number' },
  },
  workflow_hook_failed: {
    kind: 'hook',
    message: '{hook} {how}[ ({hint})]: {said}',
    values: { hook: 'text', how: 'text', said: 'text' },
    may: { hint: 'text' },
  },
  default_branch_empty: {
    kind: 'git',
    message: 'The repository {url} has no commit on its default branch {branch}.',
    help: 'Push a first commit.',
    values: { url: 'text', branch: 'text' },
  },
  lfs_host_without_credential: {
    kind: 'refused',
    message:
      '{files}: .lfsconfig of the default branch has LFS objects at {host}, and the daemon has no credential for it.',
    help: 'Commit the files without LFS, or take lfs.url out of .lfsconfig.',
    values: { host: 'text', files: 'list' },
  },
  lfs_push_refused: {
    kind: 'refused',
    message: 'git lfs push failed for {files}: {said}',
    values: { files: 'list', said: 'text' },
  },
  lfs_objects_missing: {
    kind: 'refused',
    message: '{files}: the commits hold LFS pointers, and neither the workspace nor the server has the objects.',
    help: 'Add the files themselves, and commit.',
    values: { files: 'list' },
  },
  lfs_missing: {
    kind: 'warning',
    message: 'The repository uses Git LFS, and git-lfs is not on the PATH. Agents see pointers instead of files.',
    help: 'Install git-lfs, then start the daemon again.',
  },
  lfs_pointers_left: {
    kind: 'warning',
    message: 'Files of Git LFS stay pointers: {said}',
    values: { said: 'text' },
  },
  branch_has_foreign_commits: {
    kind: 'refused',
    message: 'The branch {branch} holds commits of somebody else ({commit}); they are not overwritten.',
    help: 'Merge origin/{branch} into the branch, and do not rewrite it.',
    values: { branch: 'text', commit: 'text' },
  },
  issue_branch_blocked: {
    kind: 'refused',
    message: 'The branch {blocking} on the remote makes {branch} impossible.',
    help: 'Rename {blocking}. For issues that are taken on later, set workspace.branch_prefix.',
    values: { blocking: 'text', branch: 'text' },
  },
  branch_not_of_issue: {
    kind: 'refused',
    message: 'Expected a branch {prefix}issue-<number> to push, got {branch}. Nothing is pushed.',
    help: 'With a queue, workspace.branch_prefix holds for open issues too: set it back, or cancel the issue. If it never was another one, somebody wrote to the store of the queue.',
    values: { branch: 'text', prefix: 'text' },
  },
  push_rejected: {
    kind: 'refused',
    message: 'git push failed: {said}',
    values: { said: 'text' },
  },
  nested_repository_unreadable: {
    kind: 'git',
    message: '{path} cannot be saved: {why}.',
    values: { path: 'text', why: 'text' },
    may: { limit: 'number' },
  },
  submodule_not_filled: {
    kind: 'warning',
    message: 'The submodule {path} is left {state}: {said}',
    values: { path: 'text', state: ['empty', 'as it is'], said: 'text' },
  },
  submodules_unreadable: {
    kind: 'warning',
    message: '{path} cannot be read: {said}',
    values: { path: 'text', said: 'text' },
  },
  commits_missing: {
    kind: 'git',
    message:
      '{place} ends early, at commits that are not here[: git fetch --deepen={step} brought nothing before them].',
    values: { place: 'text' },
    may: { step: 'number' },
  },
  workspace_unusable: {
    kind: 'workspace_root',
    message: 'Expected the workspace {path} to be a directory of its own, got {got}.',
    values: { path: 'text', got: 'text' },
  },
  workspace_incomplete: {
    kind: 'workspace_root',
    message: 'The workspace {path} is not complete.',
    values: { path: 'text' },
  },
  workspace_root_unusable: {
    kind: 'workspace_root',
    message: 'workspace.root: cannot make or write to {path} ({said}).',
    help: 'Name another directory.',
    values: { path: 'text', said: 'text' },
  },
  workspace_root_taken: {
    kind: 'workspace_root',
    message: 'Expected an empty directory for workspaces or one of its own, got {path}: it {why}.',
    help: 'Name another directory in workspace.root, one for each repository; of a worker, in --root. Two workers on one machine have different --name, --state-dir and --root.',
    values: { path: 'text', why: 'text' },
  },
  after_create_no_clone: {
    kind: 'hook',
    message: 'after_create left no Git clone in {path}.',
    help: 'Let the script leave one with its own .git directory.',
    values: { path: 'text' },
  },
  workspace_set_aside: {
    kind: 'warning',
    message: 'The workspace {why}, and is set aside as {place} in workspace.root.',
    values: { why: 'text', place: 'text' },
  },
});
