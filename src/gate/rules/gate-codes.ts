// Codes of the quality gate.

import { codes } from '../../base/rules/codes.ts';

export const GATE_CODES = codes({
  checks_busy: {
    kind: 'refused',
    message:
      'Not measured: other checks of this repository ran first[ ({holder})][ and were still running after {seconds} s].',
    may: { holder: 'text', seconds: 'number' },
  },
  change_too_large: {
    kind: 'git',
    message: 'The change is larger than 64 MB, so it was not scanned.',
  },
  check_not_configured: {
    kind: 'refused',
    message: 'The gate cannot measure {check}: {why}.',
    help: 'Set quality.commands.{check}, or remove {check} from quality.required in .tool/config/workflow.yaml.',
    values: { check: 'text', why: 'text' },
  },
  gate_rejected: {
    kind: 'refused',
    message: 'The quality gate rejects the work: {checks}.',
    help: '{next}',
    values: { checks: 'problems', dimensions: 'list', tree: 'text', next: 'text' },
  },
  tests_failed: {
    kind: 'problem',
    message: '{count} tests fail; the first is {first}.',
    help: 'Make the tests pass.',
    values: { count: 'number', first: 'text', command: 'text', names: 'list' },
  },
  no_tests_ran: {
    kind: 'problem',
    message: 'No tests ran.',
    help: 'Add tests, or name their command in quality.commands.tests.',
    values: { command: 'text' },
  },
  check_timed_out: {
    kind: 'problem',
    message: '{check} did not end within {seconds} s.',
    values: { check: 'text', seconds: 'number', command: 'text' },
  },
  check_not_runnable: {
    kind: 'problem',
    message: '{command} cannot be run: {said}',
    help: 'Install the program, or correct the command.',
    values: { check: 'text', command: 'text', said: 'text' },
  },
  check_failed: {
    kind: 'problem',
    message: '{command} ended with {exit}: {said}',
    help: 'Remove the findings.',
    values: { check: 'text', command: 'text', said: 'text', findings: 'list' },
    may: { exit: 'number' },
  },
  coverage_below_target: {
    kind: 'problem',
    message: 'The tests reach {percent} % of the lines; {target} % is required.',
    help: 'Add tests for the named files first.',
    values: { percent: 'number', target: 'number', files: 'list' },
  },
  coverage_report_unusable: {
    kind: 'problem',
    message: 'No coverage report of this run can be read at {path}: {why}.',
    help: 'Make the command write a report, or name it in quality.coverage.',
    values: { why: 'text' },
    may: { path: 'text', said: 'text' },
  },
  performance_over_budget: {
    kind: 'problem',
    message: '{name} took {ms} ms; its budget is {budget} ms.',
    help: 'Make the command faster.',
    values: { name: 'text', ms: 'number', budget: 'number' },
  },
  gate_rules_changed: {
    kind: 'warning',
    message: 'This work changed files that set the rules of the gate: {files}.',
    values: { files: 'list' },
  },
  base_failures_ignored: {
    kind: 'warning',
    message: '{count} failures are older than this work and do not count: {failures}.',
    values: { failures: 'list', count: 'number' },
  },
  base_not_measured: {
    kind: 'warning',
    message: 'The state before the team was not measured, so every failure counts: {why}',
    values: { why: 'text' },
  },
  secrets_found: {
    kind: 'refused',
    message: 'The work holds secrets: {places}.',
    help: 'Remove them, and complete again. If it is no secret, tell team-lead.',
    values: { places: 'list', committed: 'flag' },
    may: { kept: 'text' },
  },
  json_unreadable: {
    kind: 'config',
    message: '{file}: expected JSON: {said}',
    values: { file: 'text', said: 'text' },
  },
});
