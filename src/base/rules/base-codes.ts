// Codes of files, settings, processes and the network.

import { codes } from './codes.ts';

export const BASE_CODES = codes({
  settings_invalid: {
    kind: 'config',
    message: '{path} has {count} problems:\n{problems}',
    help: 'Correct the keys that the lines name.',
    values: { path: 'text', count: 'number', problems: 'problems' },
  },
  yaml_invalid: {
    kind: 'config',
    message: '{file}: the YAML is not valid at line {line}, column {column}: {said}',
    help: 'Write valid YAML, as front matter between two lines of ---.',
    values: { file: 'text', said: 'text' },
    may: { line: 'number', column: 'number' },
  },
  config_unknown_key: {
    kind: 'problem',
    message: '{key}: unknown key.',
    help: 'Use one of {known}.',
    values: { key: 'text', known: 'list' },
    may: { near: 'text' },
  },
  config_key_replaced: {
    kind: 'problem',
    message: '{key}: this key was replaced.',
    help: '{instead}',
    values: { key: 'text', instead: 'text' },
  },
  config_value: {
    kind: 'config',
    message: '{key}: expected {expected}, got {got}.',
    help: 'Correct the value.',
    values: { key: 'text', expected: 'text', got: 'text' },
    may: { near: 'text' },
  },
  state_unreadable: {
    kind: 'state_unusable',
    message: 'Cannot read {path}: {said}',
    help: 'Make the file readable for this user.',
    values: { path: 'text', said: 'text' },
  },
  state_unwritable: {
    kind: 'state_unusable',
    message: 'Cannot write to {path}: {said}',
    help: 'Make the directory writable for this user, or name another one.',
    values: { path: 'text', said: 'text' },
  },
  state_disk_full: {
    kind: 'state_unusable',
    message: 'Cannot write all of {path}: the disk took {written} of {size} bytes.',
    help: 'Free space on the disk.',
    values: { path: 'text', written: 'number', size: 'number' },
  },
  log_closed: {
    kind: 'state_unusable',
    message: '{path} is closed.',
    values: { path: 'text' },
  },
  log_damaged: {
    kind: 'state_unusable',
    message: '{path} cannot be read from byte {offset} on: {why}.',
    help: 'Put a copy of it back, or move its directory away and start anew.',
    values: { path: 'text', why: 'text' },
    may: { offset: 'number', text: 'text' },
  },
  record_version_newer: {
    kind: 'state_unusable',
    message: '{path} holds a record of version {version}; this program reads version {supported}.',
    help: 'Install the newer toolcrew.',
    values: { path: 'text', version: 'number', supported: 'number' },
  },
  program_not_started: {
    kind: 'prerequisite',
    message: 'Cannot start {program}: {said}',
    help: 'Install the program, or correct its path.',
    values: { program: 'text', said: 'text' },
  },
  runtime_directory_foreign: {
    kind: 'internal',
    message: '{path} belongs to another user.',
    help: 'Remove the directory.',
    values: { path: 'text' },
  },
  proxy_invalid: {
    kind: 'config',
    message: '{variable}: expected a proxy like http://<host>:<port>, got {got}.',
    help: 'Name such a proxy in HTTPS_PROXY, or {host} in NO_PROXY.',
    values: { variable: 'text', got: 'text', host: 'text' },
  },
  unexpected_error: {
    kind: 'internal',
    message: 'Unexpected failure: {said}',
    help: 'Report it with the lines of the log.',
    values: { said: 'text' },
    may: { text: 'text', path: 'text' },
  },
  certificate_untrusted: {
    kind: 'tracker',
    message: 'The certificate of {host} is not trusted: {said}',
    help: 'Name the PEM file of its authority in tracker.ca_file or NODE_EXTRA_CA_CERTS.',
    values: { said: 'text' },
    may: { host: 'text' },
  },
  package_incomplete: {
    kind: 'prerequisite',
    message: 'toolcrew is incomplete: {path} is missing in {directory}.',
    help: 'Install it again.',
    values: { path: 'text', directory: 'text' },
  },
});
