// Codes of installing into a project.

import { codes } from '../../base/rules/codes.ts';

export const INSTALL_CODES = codes({
  install_blocked: {
    kind: 'usage',
    message: 'Nothing was installed: {problems}',
    help: 'Change the named files, or use --force.',
    values: { problems: 'problems' },
  },
  installation_missing: {
    kind: 'usage',
    message: '{path} has no installation of toolcrew.',
    help: 'Run tool init.',
    values: { path: 'text' },
  },
  host_too_old: {
    kind: 'prerequisite',
    message: 'Claude Code {version} is too old; {required} or later is needed.',
    help: 'Run claude update.',
    values: { version: 'text', required: 'text' },
  },
  host_limited: {
    kind: 'warning',
    message: 'Claude Code {version}: {limit}',
    help: 'Run claude update, or leave it so.',
    values: { version: 'text', limit: 'text' },
  },
  settings_file_left_out: {
    kind: 'warning',
    message:
      '{file} has hooks on {events}, which Claude Code {version} does not know, so it leaves out the whole file.',
    help: 'Run claude update, or remove the hook.',
    values: { file: 'text', events: 'text', version: 'text' },
  },
  manifest_invalid: {
    kind: 'config',
    message: '{file}: {key}: expected {expected}, got {got}.',
    help: '{fix}',
    values: { file: 'text', key: 'text', expected: 'text', got: 'text', fix: 'text' },
  },
  manifest_other_version: {
    kind: 'config',
    message: '{file}: format: expected {expected}, got {got}.',
    help: 'Use the toolcrew version that wrote it.',
    values: { file: 'text', expected: 'number', got: 'text' },
  },
  place_unusable: {
    kind: 'usage',
    message: '{path}: expected {expected}, got {got}. Nothing was changed.',
    values: { path: 'text', expected: 'text', got: 'text' },
  },
  project_unsuitable: {
    kind: 'usage',
    message: '{path} cannot be the project: {why}.',
    help: 'Name a project: tool init <dir>.',
    values: { path: 'text', why: 'text' },
  },
});
