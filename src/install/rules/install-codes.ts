// Codes of installing into a project.

import { codes } from '../../base/rules/codes.ts';

export const INSTALL_CODES = codes({
  install_blocked: {
    kind: 'usage',
    message: 'Nothing was installed:\n{problems}',
    values: { problems: 'problems' },
  },
  file_in_the_way: {
    kind: 'problem',
    message: '{path}: expected no file of that name, got one that is not ours.',
    help: 'Rename it, or give --force to replace it and keep it as {kept}.',
    values: { path: 'text', kept: 'text' },
  },
  newer_file_in_the_way: {
    kind: 'problem',
    message: '{path}: expected nothing or an earlier copy of ours, got something else.',
    help: 'Move it away.',
    values: { path: 'text' },
  },
  kept_copy_in_the_way: {
    kind: 'problem',
    message: '{path}: the file there would be kept as {kept}, which is there already.',
    help: 'Move {kept} away.',
    values: { path: 'text', kept: 'text' },
  },
  entry_in_the_way: {
    kind: 'problem',
    message: '{path}: {key}: {got} is there, {expected} is wanted.',
    help: 'Change it, or give --force to replace it.',
    values: { path: 'text', key: 'text', got: 'text', expected: 'text' },
  },
  installation_missing: {
    kind: 'usage',
    message: '{path}: expected an installation, got no {manifest}.[ {next}]',
    values: { path: 'text', manifest: 'text' },
    may: { next: 'text' },
  },
  host_missing: {
    kind: 'warning',
    message:
      'No Claude Code was found on the PATH: the hooks are written so that every version from {oldest} on reads them.',
    help: 'Run `tool init` again when it is installed: from {faster} on they are faster.',
    values: { oldest: 'text', faster: 'text' },
  },
  host_names_no_callers: {
    kind: 'warning',
    message:
      "Claude Code {version} tells hooks no caller (from {from} on it does). The hooks read the caller from the session's transcript, which takes up to 0.1 s a call. Where the transcript does not say it, the lead's own writes cannot be told from a teammate's.",
    values: { version: 'text', from: 'text' },
  },
  host_does_not_wait: {
    kind: 'warning',
    message: 'Claude Code {version} does not wait for agents in the background when it runs with -p.',
    values: { version: 'text' },
  },
  host_starts_programs: {
    kind: 'warning',
    message:
      "Below {from} a program is started before each write, before each call of the team's tools and after each tool call. Each start takes some 30 ms.",
    values: { from: 'text' },
  },
  host_too_old: {
    kind: 'prerequisite',
    message: 'Claude Code: expected {required} or later, got {version}.',
    help: 'Install it: {fix}',
    values: { version: 'text', required: 'text', fix: 'text' },
  },
  formatter_reads_install: {
    kind: 'warning',
    message: '{name} looks at what is installed as well ({config}).',
    help: 'To mend it: {mend}.',
    values: { name: 'text', config: 'text', mend: 'text' },
  },
  guard_off_here: {
    kind: 'warning',
    message: 'the write guard is off: {why}. Only obvious writes of shell commands are refused.',
    help: 'To mend it: {mend}.',
    values: { why: 'text', mend: 'text' },
  },
  personal_settings_not_ignored: {
    kind: 'warning',
    message: 'git does not ignore {path}, which holds a path of this machine: add it to .gitignore.',
    values: { path: 'text' },
  },
  settings_file_left_out: {
    kind: 'warning',
    message:
      '{file} has hooks on {events}, which Claude Code {version} does not know: it silently leaves out the whole file, with every hook and variable in it',
    values: { file: 'text', events: 'list', version: 'text' },
  },
  manifest_invalid: {
    kind: 'config',
    message: '{file}: {key}: expected {expected}, got {got}.',
    help: '{fix}',
    values: { file: 'text', key: 'text', expected: 'text', got: 'text', fix: 'text' },
  },
  manifest_other_version: {
    kind: 'config',
    message: '{file}: format: expected {expected}, got {got}. Another version of toolcrew wrote it.',
    help: 'Use that version.',
    values: { file: 'text', expected: 'number', got: 'text' },
  },
  place_unusable: {
    kind: 'usage',
    message: '{path}: expected {expected}, got {got}. Nothing was changed.',
    values: { path: 'text', expected: 'text', got: 'text' },
  },
  change_undone: {
    kind: 'usage',
    message: '{path}: cannot be changed: {said}. {state}.',
    values: { path: 'text', said: 'text', state: 'text' },
  },
  directory_missing: {
    kind: 'usage',
    message: '{path}: expected a directory, got {got}',
    values: { path: 'text', got: 'text' },
  },
  project_unsuitable: {
    kind: 'usage',
    message: '{path} is {what}.',
    help: 'Name a project: tool init <dir>.',
    values: { path: 'text', what: ['the root of the file system', 'your home directory', 'toolcrew itself'] },
  },
  json_not_valid: {
    kind: 'config',
    message: '{file}: expected valid JSON, got a mistake: {said}',
    values: { file: 'text', said: 'text' },
  },
  entries_not_removable: {
    kind: 'config',
    message: '{file}: toolcrew could not remove its entries again exactly, so it changed nothing.',
    help: 'Report it with that file.',
    values: { file: 'text' },
  },
  json_wrong_kind: {
    kind: 'config',
    message: '{file}: [{key}: ]expected {expected}, got {got}.',
    values: { file: 'text', expected: 'text', got: 'text' },
    may: { key: 'text' },
  },
  json_key_repeated: {
    kind: 'config',
    message: '{file}: {key} is given {count} times, expected once.',
    help: 'Remove all but one.',
    values: { file: 'text', key: 'text', count: 'number' },
  },
});
