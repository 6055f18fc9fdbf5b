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
  guard_program_broken: {
    kind: 'problem',
    message: 'The guard program does not start: {said}',
    help: 'Install toolcrew again, then run tool init.',
    may: { said: 'text', exit: 'text' },
  },
  guard_nested: {
    kind: 'problem',
    message: 'Another sandbox or tracer is around this shell, and the guard does not nest.',
    help: 'Run it again in a shell that no agent started.',
  },
  guard_system_unsupported: {
    kind: 'problem',
    message: 'There is no write guard for this system: {system}.',
    help: 'Use Linux 5.19 or later without gVisor, or macOS.',
    values: { system: 'text', why: 'text' },
  },
  guard_ptrace_restricted: {
    kind: 'problem',
    message: 'kernel.yama.ptrace_scope is {scope}, so the guard cannot read the paths of calls.',
    help: 'Run sysctl kernel.yama.ptrace_scope=1.',
    values: { scope: 'text' },
  },
  guard_shell_missing: {
    kind: 'problem',
    message: 'Neither bash nor zsh was found.',
    help: 'Install bash, then run tool init.',
  },
  guard_home_unusable: {
    kind: 'problem',
    message: '{path} cannot hold the write guard: {why}.',
    help: 'Set XDG_STATE_HOME to a writable directory without noexec, with a path of letters, digits, ".", "_", "-" and "/".',
    values: { path: 'text', why: 'text' },
  },
});
