// Codes of the lines that the program of the write guard, native/write-guard.c, and the scripts of Seatbelt print.

import { codes } from '../../base/rules/codes.ts';

export const GUARD_LINE_CODES = codes({
  guard_usage: {
    kind: 'usage',
    message: 'expected {usage}',
    values: { usage: 'text' },
  },
  guard_policy_invalid: {
    kind: 'config',
    message: '{where}: expected {expected}',
    values: { where: 'text', expected: 'text' },
  },
  guard_file_unusable: {
    kind: 'state_unusable',
    message: '{path}: {said}',
    values: { path: 'text', said: 'text' },
  },
  guard_call_failed: {
    kind: 'internal',
    message: '{call}: {said}',
    values: { call: 'text', said: 'text' },
  },
  guard_supervisor_ended: {
    kind: 'internal',
    message: 'the supervisor of {command} ended before it',
    values: { command: 'text' },
  },
  guard_command_not_started: {
    kind: 'prerequisite',
    message: '{command}: {said}',
    values: { command: 'text', said: 'text' },
  },
  guard_write_owned: {
    kind: 'refused',
    message: 'not written: {path} belongs to {owner}[ ({pattern})]',
    values: { path: 'text', owner: 'text' },
    may: { pattern: 'text' },
  },
  guard_write_unowned: {
    kind: 'refused',
    message: 'not written: {path}; nobody owns it, so call FileLease for it first',
    values: { path: 'text' },
  },
  guard_write_without_member: {
    kind: 'refused',
    message: 'not written: {path}; no project file is yours',
    values: { path: 'text' },
  },
  guard_git_refused: {
    kind: 'refused',
    message: 'not run: {call}; {advice}',
    values: { call: 'text', advice: 'text' },
  },
  guard_temporary_removed: {
    kind: 'warning',
    message: 'removed: {path}, left among files of others',
    values: { path: 'text' },
  },
});
