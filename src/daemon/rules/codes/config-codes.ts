// Codes of WORKFLOW.md and the journal.

import { codes } from '../../../base/rules/codes.ts';

export const CONFIG_CODES = codes({
  state_in_use: {
    kind: 'state_in_use',
    message: '{directory} is in use by another daemon: {holder}, since {since}, for {workflow}.',
    help: 'Stop that daemon, or give this one its own state.dir.',
    values: { directory: 'text', holder: 'text' },
    may: { since: 'text', workflow: 'text', page: 'text' },
  },
  workflow_unreadable: {
    kind: 'config',
    message: '{path} cannot be used: {said}',
    help: 'Correct the file. tool serve init writes a new one.',
    values: { path: 'text', said: 'text' },
    may: { kept: 'flag' },
  },
  template_invalid: {
    kind: 'problem',
    message: 'prompt: line {line}, column {column}: {said}',
    help: 'Correct the template.',
    values: { line: 'number', column: 'number', said: 'text' },
    may: { known: 'list', near: 'text' },
  },
  tracker_repo_other_host: {
    kind: 'problem',
    message: 'tracker.repo: expected a repository of {host}, and the git remote is one of {remote}.',
    help: 'Set tracker.repo, or tracker.api_url.',
    values: { host: 'text', remote: 'text' },
  },
  variable_unset: {
    kind: 'credential',
    message: '{key}: the variable {variable} is not set.',
    help: 'Set {variable}.',
    values: { key: 'text', variable: 'text' },
  },
  home_missing: {
    kind: 'prerequisite',
    message: 'HOME is not set, and user {user} has no entry in /etc/passwd: {said}',
    help: 'Set HOME to a directory that this user can write to.',
    values: { user: 'text', said: 'text' },
  },
  path_with_delimiter: {
    kind: 'prerequisite',
    message: '{name}: expected a path without "{delimiter}", got {path}.',
    help: 'Name another directory.',
    values: { name: 'text', delimiter: 'text', path: 'text' },
  },
});
