// Codes of workspaces and the mirror.

import { codes } from '../../../base/rules/codes.ts';

export const WORKSPACES_CODES = codes({
  history_unrelated: {
    kind: 'hook',
    message: 'The commits on {branch} have none in common with {base}.',
    help: 'Continue from {base}.',
    values: { branch: 'text', base: 'text' },
  },
  nested_repository_linked: {
    kind: 'hook',
    message: 'The commits hold {links} as links to nested repositories, without their files.',
    help: 'To publish the files: git rm --cached {first}, move its .git out of the workspace, git add {first}, and commit.',
    values: { links: 'list', first: 'text' },
  },
  hook_timed_out: {
    kind: 'hook',
    message: '{hook} took longer than hooks.timeout_ms ({ms} ms) and was ended.',
    help: 'Raise hooks.timeout_ms.',
    values: { hook: 'text', ms: 'number' },
  },
  hook_failed: {
    kind: 'hook',
    message: '{hook} failed: {said}',
    help: 'Correct the script in WORKFLOW.md.',
    values: { hook: 'text', how: 'text', said: 'text' },
  },
  default_branch_empty: {
    kind: 'git',
    message: 'The repository {url} has no commit on its default branch {branch}.',
    help: 'Push a first commit.',
    values: { url: 'text', branch: 'text' },
  },
  lfs_host_without_credential: {
    kind: 'refused',
    message: '.lfsconfig has the LFS objects at {host}, for which the daemon has no credential.',
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
    message: '{files}: neither the workspace nor the server has the LFS objects of these pointers.',
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
    message: 'Git LFS files stay pointers: {said}',
    values: { issue: 'number', said: 'text' },
  },
  branch_has_foreign_commits: {
    kind: 'refused',
    message: 'The branch {branch} holds commits of somebody else ({commit}), which are not overwritten.',
    values: { branch: 'text', commit: 'text' },
  },
  push_rejected: {
    kind: 'refused',
    message: 'git push failed: {said}',
    values: { said: 'text', final: 'flag' },
  },
  nested_repository_unreadable: {
    kind: 'git',
    message: 'The nested repositories of {path} cannot be read: {why}.',
    values: { path: 'text', why: 'text' },
    may: { limit: 'number' },
  },
  submodule_not_filled: {
    kind: 'git',
    message: 'The submodule {path} stays empty: {why}.',
    help: 'Use http(s) or relative addresses in .gitmodules, and give the account the right to read them.',
    values: { path: 'text', why: 'text', said: 'text' },
  },
  workspace_unusable: {
    kind: 'workspace_root',
    message: 'The workspace {path} is not a complete directory of its own: {got}',
    values: { path: 'text' },
    may: { got: 'text' },
  },
  workspace_root_unusable: {
    kind: 'workspace_root',
    message: 'workspace.root: {path} cannot be used: {why}.',
    help: 'Name another directory.',
    values: { path: 'text', why: 'text', said: 'text' },
  },
  workspace_root_taken: {
    kind: 'workspace_root',
    message: 'workspace.root: {path} holds the workspaces of {owner}.',
    help: 'Name another directory, one for each repository.',
    values: { path: 'text', owner: 'text' },
    may: { pid: 'number' },
  },
  after_create_no_clone: {
    kind: 'hook',
    message: 'after_create left no git clone in {path}.',
    help: 'Let the script leave a clone with its own .git directory.',
    values: { path: 'text' },
  },
  background_task_failed: {
    kind: 'warning',
    message: '{task} failed: {said}',
    values: { task: 'text', said: 'text' },
    may: { issue: 'number', team: 'text' },
  },
});
