// Codes of files, settings, processes and the network.

import { codes } from './codes.ts';

export const BASE_CODES = codes({
  settings_invalid: {
    kind: 'config',
    message: '{path} has {amount}:\n{problems}',
    values: { path: 'text', amount: 'text', problems: 'problems' },
  },
  yaml_invalid: {
    kind: 'config',
    message: '{file}: {said}[ at line {line}, column {column}]',
    values: { file: 'text', said: 'text' },
    may: { line: 'number', column: 'number' },
  },
  front_matter_language: {
    kind: 'config',
    message: '{file}: front matter in {language} is not read.',
    help: 'Write YAML between two lines of ---.',
    values: { file: 'text', language: 'text' },
  },
  front_matter_open: {
    kind: 'config',
    message: '{file}: the front matter is not closed.',
    help: 'Add a second line of ---.',
    values: { file: 'text' },
  },
  yaml_problem: {
    kind: 'problem',
    message: '[line {line}, column {column}: ]{said}',
    values: { said: 'text' },
    may: { line: 'number', column: 'number' },
  },
  config_unknown_key: {
    kind: 'problem',
    message: '[line {line}: ]{key}: unknown key.[ Use one of {known}.]',
    values: { key: 'text' },
    may: { line: 'number', known: 'list', near: 'text' },
  },
  config_key_dotted: {
    kind: 'problem',
    message: '[line {line}: ]{key}: unknown key.',
    help: 'Write each key inside the one above it, not one key with dots.',
    values: { key: 'text' },
    may: { line: 'number' },
  },
  config_key_replaced: {
    kind: 'problem',
    message: '[line {line}: ]{key}: this key was replaced.',
    help: '{instead}',
    values: { key: 'text', instead: 'text' },
    may: { line: 'number' },
  },
  config_value: {
    kind: 'config',
    message: '[line {line}: ]{key}: expected {expected}, got {got}.[ Known are {known}.]',
    values: { key: 'text', expected: 'text', got: 'text' },
    may: { line: 'number', known: 'list', near: 'text' },
  },
  config_problem: {
    kind: 'problem',
    message: '[line {line}: ]{key}: {said}',
    values: { key: 'text', said: 'text' },
    may: { line: 'number' },
  },
  state_unreadable: {
    kind: 'state_unusable',
    message: 'Cannot read {path}: {said}.',
    help: 'Make the file readable for this user.',
    values: { path: 'text', said: 'text' },
  },
  log_not_opened: {
    kind: 'state_unusable',
    message: 'Cannot open {path}: {said}.',
    help: 'Make the file readable and writable for this user.',
    values: { path: 'text', said: 'text' },
  },
  log_not_written: {
    kind: 'state_unusable',
    message: 'Cannot write to {path}: {said}.',
    help: 'Make the file writable for this user, and free space on the disk.',
    values: { path: 'text', said: 'text' },
  },
  state_unwritable: {
    kind: 'state_unusable',
    message: 'Cannot write to {path}: {said}.',
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
    message: '{path} was closed: it is not read or written any more.',
    values: { path: 'text' },
  },
  record_not_written: {
    kind: 'internal',
    message: 'Nothing was written, because the record could not be read back: {text}',
    values: { text: 'text' },
  },
  log_cut: {
    kind: 'state_unusable',
    message: '{path} has become shorter than the {bytes} bytes that were read.',
    help: 'Put a copy of it back, or move its directory away and start anew.',
    values: { path: 'text', bytes: 'number' },
  },
  record_foreign: {
    kind: 'state_unusable',
    message: '{path} holds a record at byte {offset} that this program did not write: {text}',
    values: { path: 'text', offset: 'number', text: 'text' },
  },
  log_damaged: {
    kind: 'state_unusable',
    message: '{path} cannot be read[ from byte {offset} on]: {why}.',
    help: 'Put a copy of it back, or move its directory away and start anew.',
    values: { path: 'text', why: 'text' },
    may: { offset: 'number' },
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
    values: { program: 'text', said: 'text' },
  },
  runtime_directory_foreign: {
    kind: 'internal',
    message: '{path} is not a directory of this user.',
    help: 'Remove it.',
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
  },
  certificate_untrusted: {
    kind: 'tracker',
    message: '[The certificate of {host} is not trusted: ]{said}.',
    help: 'If a company signs it, name the PEM file of its authority in tracker.ca_file or NODE_EXTRA_CA_CERTS.',
    values: { said: 'text' },
    may: { host: 'text' },
  },
  package_incomplete: {
    kind: 'prerequisite',
    message: 'toolcrew is incomplete: {path} is missing in {directory}.',
    help: 'Install it again.',
    values: { path: 'text', directory: 'text' },
  },
  trace_package_missing: {
    kind: 'prerequisite',
    message: 'Traces need packages of OpenTelemetry, which are not installed.',
    help: 'Run: {command}',
    values: { command: 'text' },
  },
  traces_not_taken: {
    kind: 'warning',
    message: 'The collector does not take traces: {said}.',
    help: 'Check OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS. Attempts go on; their spans are lost.',
    values: { said: 'text' },
  },
});
