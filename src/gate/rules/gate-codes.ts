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
    message: 'the gate cannot measure {check}: {why}. In the project, {remedy}',
    values: { check: 'text', why: 'text', remedy: 'text' },
  },
  gate_rejected: {
    kind: 'refused',
    message: 'Not accepted: {checks} failed.\n{report}',
    values: { checks: 'list', report: 'text' },
  },
  trust5_not_passed: {
    kind: 'refused',
    message: 'TRUST 5 is not passed: {dimensions}',
    values: { dimensions: 'text' },
  },
  tests_failed: {
    kind: 'problem',
    message: '{amount} {first}',
    values: { amount: 'text', count: 'number', first: 'text' },
  },
  no_tests_ran: {
    kind: 'problem',
    message: 'no tests ran',
  },
  check_timed_out: {
    kind: 'problem',
    message: 'did not end within the {seconds} s that all checks have together',
    values: { seconds: 'number' },
  },
  check_not_runnable: {
    kind: 'problem',
    message: '{command} cannot be run: {said}',
    values: { command: 'text', said: 'text' },
  },
  check_failed: {
    kind: 'problem',
    message: '{command} {how}: {said}',
    values: { command: 'text', how: 'text', said: 'text' },
    may: { exit: 'number' },
  },
  findings_unreadable: {
    kind: 'problem',
    message: '{command} {how} without a finding that can be read',
    values: { command: 'text', how: 'text' },
    may: { exit: 'number' },
  },
  coverage_below_target: {
    kind: 'problem',
    message: 'the tests reach {reached} of the lines, expected {target} %[, counting {unreported}]',
    values: { reached: 'text', target: 'number' },
    may: { unreported: 'text' },
  },
  coverage_command_failed: {
    kind: 'problem',
    message: '{command} ended with {exit} although the tests pass; {judged}',
    values: { command: 'text', exit: 'text', judged: 'text' },
  },
  coverage_not_measured: {
    kind: 'problem',
    message: 'not measured: {why}',
    values: { why: 'text' },
  },
  coverage_report_missing: {
    kind: 'problem',
    message: 'no coverage report was written to {place}',
    values: { place: 'text' },
  },
  coverage_report_old: {
    kind: 'problem',
    message: '{path} is older than this run of the tests and does not count',
    values: { path: 'text' },
  },
  coverage_report_no_file: {
    kind: 'problem',
    message: '{path}: expected a coverage report, got no file that can be read',
    values: { path: 'text' },
  },
  coverage_report_unusable: {
    kind: 'problem',
    message: '{path} cannot be read as a coverage report: {said}',
    values: { path: 'text', said: 'text' },
  },
  coverage_format_wrong: {
    kind: 'problem',
    message: 'expected {expected}[, got {got}]',
    values: { expected: 'text' },
    may: { got: 'text' },
  },
  coverage_report_foreign: {
    kind: 'problem',
    message: '{path} names no line of the project',
    values: { path: 'text' },
  },
  coverage_report_all_tests: {
    kind: 'problem',
    message: 'the coverage report names no line of the project beside tests and generated code',
  },
  part_not_measured: {
    kind: 'warning',
    message: '{part}: not measured: {why}',
    values: { part: 'text', why: 'text' },
  },
  performance_over_budget: {
    kind: 'problem',
    message: '{name}: {ms} ms, budget {budget} ms',
    values: { name: 'text', ms: 'number', budget: 'number' },
  },
  performance_ended: {
    kind: 'problem',
    message: '{name}: ended after {ms} ms, budget {budget} ms',
    values: { name: 'text', ms: 'number', budget: 'number' },
  },
  performance_not_ended: {
    kind: 'problem',
    message: '{name}: did not end before the deadline of all checks',
    values: { name: 'text' },
  },
  performance_failed: {
    kind: 'problem',
    message: '{name}: {failure}',
    values: { name: 'text', failure: 'text' },
  },
  gate_rules_changed: {
    kind: 'warning',
    message: 'changed in this work, and decides what is measured: {files}',
    values: { files: 'list' },
  },
  base_failures_ignored: {
    kind: 'warning',
    message: '{amount} older than the work and not held against it',
    values: { amount: 'text', count: 'number' },
  },
  check_failed_before: {
    kind: 'warning',
    message: 'it failed in the same way before the work began, so the gate ignores it',
  },
  tests_failed_before: {
    kind: 'warning',
    message: 'the output names no tests, and the command failed before the work began, so the gate ignores it',
  },
  base_not_measured: {
    kind: 'warning',
    message: 'The state before the team was not measured, so every failure counts: {why}',
    values: { why: 'text' },
  },
  json_unreadable: {
    kind: 'config',
    message: '{file}: expected JSON: {said}',
    values: { file: 'text', said: 'text' },
  },
});
