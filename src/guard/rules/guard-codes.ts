// Codes of the write guard.

import { codes } from '../../base/rules/codes.ts';

export const GUARD_CODES = codes({
  write_targets_unknown: {
    kind: 'refused',
    message: 'Which files this call writes is not known before it runs: {why}.',
    help: "Write files with Write or Edit, or by redirection with each path named literally (cat > <path> <<'E').",
    values: { why: 'list' },
  },
  writes_command_no_text: {
    kind: 'refused',
    message: 'a command that is no text',
  },
  writes_code_not_read: {
    kind: 'refused',
    message: 'what {tool} is given is code that is not read',
    values: { tool: 'text' },
  },
  writes_path_missing: {
    kind: 'refused',
    message: '{tool} without a path',
    values: { tool: 'text' },
  },
  // Reasons for a refused call of git; they stand behind the call.
  git_changes_branch: {
    kind: 'refused',
    message: 'all work on one branch.',
    help: 'Read a file of another: git show main:README.md',
  },
  git_changes_worktrees: {
    kind: 'refused',
    message: 'others work in these.',
    help: 'See them: git worktree list',
  },
  git_changes_files_of_all: {
    kind: 'refused',
    message: "it changes everybody's files.",
    help: 'Commit your own: git commit -m "Save my work" -- {own}',
    values: { own: 'text' },
  },
  git_restores_files_of_all: {
    kind: 'refused',
    message: "it takes back everybody's changes.",
    help: 'Take back your own: git checkout -- {own}',
    values: { own: 'text' },
  },
  git_may_change_branch: {
    kind: 'refused',
    message: 'it may change the branch of all.',
    help: 'For files: git checkout -- {own}',
    values: { own: 'text' },
  },
  git_removes_files_of_all: {
    kind: 'refused',
    message: "it removes everybody's new files.",
    help: 'Remove your own: git clean -fd {own}',
    values: { own: 'text' },
  },
  git_adds_files_of_all: {
    kind: 'refused',
    message: "it adds everybody's files.",
    help: 'Add your own: git add {own}',
    values: { own: 'text' },
  },
  git_commits_files_of_all: {
    kind: 'refused',
    message: "it commits everybody's files.",
    help: 'Commit your own: git commit -m "Save my work" -- {own}',
    values: { own: 'text' },
  },
  git_changes_settings: {
    kind: 'refused',
    message: 'these settings decide what git runs for everybody.',
    help: 'Pass one for a single call: git -c NAME=VALUE',
  },
  git_writes_for_reader: {
    kind: 'refused',
    message: "it writes the work tree or the repository's index, refs or history",
  },
  // The messages below stand in brackets or before an arrow, and what to do stands behind the arrow.
  guard_program_not_executable: {
    kind: 'problem',
    message: 'the program cannot be executed: its directory is probably mounted with noexec',
    help: 'set XDG_STATE_HOME to a directory whose programs can be executed',
  },
  guard_program_timed_out: {
    kind: 'problem',
    message: 'the program did not end within {seconds} seconds',
    help: 'run it again',
    values: { seconds: 'number' },
  },
  guard_program_gone: {
    kind: 'problem',
    message: 'the program is gone',
    help: 'install toolcrew again, then tool init',
  },
  guard_program_broken: {
    kind: 'problem',
    message: '{what}[ ({said})]',
    help: 'install toolcrew again, then tool init',
    values: { what: 'text' },
    may: { said: 'text' },
  },
  guard_program_missing: {
    kind: 'problem',
    message: 'this package of toolcrew has no whole {path}',
    help: 'install toolcrew from a package that has it, then tool init',
    values: { path: 'text' },
  },
  guard_nested: {
    kind: 'problem',
    message: '{what}',
    help: 'run it again in a shell that no agent started',
    values: {
      what: [
        'the program let a forbidden write pass, as it does inside another guard or tracer',
        'another sandbox is around this shell, and Seatbelt does not nest',
      ],
    },
  },
  guard_system_unsupported: {
    kind: 'problem',
    message: 'there is no write guard for {system}',
    help: 'run toolcrew on Linux or macOS',
    values: { system: 'text' },
  },
  guard_kernel_unsupported: {
    kind: 'problem',
    message: '{what}[ ({said})]',
    help: 'use a machine with Linux {required} or later',
    values: { what: 'text', required: 'text' },
    may: { said: 'text' },
  },
  guard_ptrace_restricted: {
    kind: 'problem',
    message: 'kernel.yama.ptrace_scope is {scope}: the guard cannot read the paths of calls',
    help: 'sysctl kernel.yama.ptrace_scope=1',
    values: { scope: 'text' },
  },
  guard_ptrace_locked: {
    kind: 'problem',
    message: 'kernel.yama.ptrace_scope is {scope}: the guard cannot read the paths of calls',
    help: 'set it for the next boot: sysctl kernel.yama.ptrace_scope=1',
    values: { scope: 'text' },
  },
  guard_shell_missing: {
    kind: 'problem',
    message: 'neither bash nor zsh was found',
    help: 'install bash, then tool init',
  },
  guard_home_unfit: {
    kind: 'refused',
    message: 'expected a path of letters, digits, ".", "_", "-" and "/" for the write guard, got {path}',
    help: 'set XDG_STATE_HOME to a directory with such a path, then tool init',
    values: { path: 'text' },
  },
  guard_home_unwritable: {
    kind: 'problem',
    message: '{said}',
    help: 'make {path} a directory that you can write to, then tool init',
    values: { path: 'text', said: 'text' },
  },
});
