// Codes of WORKFLOW.md and the journal.

import { codes } from '../../../base/rules/codes.ts';

export const CONFIG_CODES = codes({
  state_in_use: {
    kind: 'state_in_use',
    message: '{directory} is in use by another daemon: {holder}, since {since}, for {workflow}[, {page}].',
    help: 'Stop that daemon, or give this one its own state.dir.',
    values: { directory: 'text', holder: 'text', since: 'text', workflow: 'text' },
    may: { page: 'text' },
  },
  state_contended: {
    kind: 'state_in_use',
    message: '{directory}: other daemons take its lock again and again.',
    help: 'Start one daemon at a time.',
    values: { directory: 'text' },
  },
  state_dir_unwritable: {
    kind: 'state_unusable',
    message: 'state.dir: cannot make or write to {directory} ({said}).',
    help: 'Make it writable for this user, or name another directory.',
    values: { directory: 'text', said: 'text' },
  },
  workflow_missing: {
    kind: 'config',
    message: '{path}: there is no such file.',
    help: '`tool serve init` writes one.',
    values: { path: 'text' },
  },
  workflow_unreadable: {
    kind: 'config',
    message: '{path} cannot be read: {said}',
    values: { path: 'text', said: 'text' },
  },
  workflow_gone: {
    kind: 'warning',
    message: '{said}. The last good one stays in use.',
    values: { said: 'text' },
  },
  workflow_invalid: {
    kind: 'warning',
    message: 'The workflow file is not valid. The last good one stays in use: {said}',
    values: { said: 'text' },
  },
  repository_keys_refused: {
    kind: 'warning',
    message: '{file} at {commit} sets what the file of the operator does not allow: {keys}. These values are ignored.',
    help: 'Allow settings in tracker.repository_workflow and hooks in hooks.from_repository, or remove the keys.',
    values: { file: 'text', commit: 'text', keys: 'list' },
  },
  repository_file_invalid: {
    kind: 'warning',
    message: '{file} at {commit} cannot be used: {said}. In use instead: {instead}.',
    help: 'Correct the file on the default branch.',
    values: { file: 'text', commit: 'text', said: 'text', instead: 'text' },
  },
  repository_file_unread: {
    kind: 'warning',
    message: '{file} of the default branch could not be read: {said}. In use instead: {instead}.',
    values: { file: 'text', said: 'text', instead: 'text' },
  },
  repository_file_unkept: {
    kind: 'warning',
    message: '{file} at {commit} is in use, but the next start may not find it again: {said}.',
    values: { file: 'text', commit: 'text', said: 'text' },
  },
  repository_file_unusable: {
    kind: 'problem',
    message: 'expected {expected}, got {got}.',
    values: { expected: 'text', got: 'text' },
  },
  template_invalid: {
    kind: 'problem',
    message: '{key}: line {line}, column {column}: {said}[; expected one of {known}].',
    values: { key: 'text', line: 'number', column: 'number', said: 'text' },
    may: { known: 'list', near: 'text' },
  },
  tracker_repo_other_host: {
    kind: 'problem',
    message:
      '{key}: expected a repository of {host} (tracker.api_url), and the Git remote of {directory} is one of {remote}.',
    help: 'Set tracker.repo to the one on {host}. If {remote} is a GitHub Enterprise server, set tracker.api_url to {api_url}.',
    values: { key: 'text', host: 'text', directory: 'text', remote: 'text', api_url: 'text' },
  },
  variable_unset: {
    kind: 'credential',
    message: '{key}: {variable}[ in {path}] is not set.',
    help: 'Set it in the environment of the daemon.',
    values: { key: 'text', variable: 'text' },
    may: { path: 'text' },
  },
  home_missing: {
    kind: 'prerequisite',
    message: 'HOME is not set, and user {user} has no entry in /etc/passwd ({said}).',
    help: 'Set HOME to a directory that this user can write to.',
    values: { user: 'text', said: 'text' },
  },
  path_with_delimiter: {
    kind: 'prerequisite',
    message: '{key}: expected a path without "{delimiter}", got {path}.',
    help: 'Name another directory.',
    values: { key: 'text', delimiter: 'text', path: 'text' },
  },
  paths_with_delimiter: {
    kind: 'prerequisite',
    message: 'Some paths cannot be used:\n{problems}',
    values: { problems: 'problems' },
  },
});
