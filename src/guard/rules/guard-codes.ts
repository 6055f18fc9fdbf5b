// Codes of the write guard.

import { codes } from '../../base/rules/codes.ts';

export const GUARD_CODES = codes({
  write_targets_unknown: {
    kind: 'refused',
    message: 'Which files this call writes is not known before it runs: {why}.',
    help: "Write files with Write or Edit, or by redirection with each path named literally (cat > <path> <<'E').",
    values: { why: 'list' },
  },
  git_call_refused: {
    kind: 'refused',
    message: 'git {call} was refused: {why}.',
    help: '{instead}',
    values: { call: 'text', why: 'text', instead: 'text' },
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
