import assert from 'node:assert/strict';
import test from 'node:test';
import { GATE_CODES } from '../../../src/gate/rules/gate-codes.ts';
import { missingParts, missingRefusal, type PlannedPart } from '../../../src/gate/rules/plan-preview.ts';
import { type Commanded, DEFAULT_QUALITY } from '../../../src/gate/rules/quality.ts';
import { isRefusal } from '../../support/codes.ts';

function prospect(name: Commanded, more: Partial<PlannedPart> = {}): PlannedPart {
  const gap = more.command === undefined ? `no ${name}` : '';
  return { name, command: null, gap, install: null, ...more };
}

const names = (prospects: readonly PlannedPart[], more: Partial<typeof DEFAULT_QUALITY> = {}) =>
  missingParts(prospects, { ...DEFAULT_QUALITY, ...more }).map(({ name }) => name);

test('a project without tests may start: its tests, and their coverage, come first', () => {
  assert.deepEqual(names([prospect('tests'), prospect('coverage')]), []);
  const required = ['tests', 'coverage', 'lint'] as const;
  assert.deepEqual(names([prospect('tests'), prospect('coverage'), prospect('lint')], { required }), ['lint']);
});

test('tests that may leave a report may start; a part that was asked for may not', () => {
  const tests = prospect('tests', { command: 'npm test' });
  const coverage = prospect('coverage', { gap: 'names no known test runner' });
  assert.deepEqual(names([tests, coverage, prospect('security')]), []);
  assert.deepEqual(names([tests, coverage, prospect('security')], { required: ['security'] }), ['security']);
});

test('a tool that is not installed is missing, with the command that installs it and the key that does without', () => {
  const tests = prospect('tests', { command: 'python3 -m pytest' });
  const coverage = prospect('coverage', { gap: 'no pytest-cov', install: 'pip install pytest-cov' });
  assert.deepEqual(names([tests, coverage]), ['coverage']);
  assert.deepEqual(names([tests, coverage], { coverageTarget: 0 }), []);
  assert.deepEqual(names([tests, coverage], { required: ['tests'] }), []);
  const missing = missingRefusal(coverage);
  isRefusal(missing, GATE_CODES.check_not_configured, { check: 'coverage', why: 'no pytest-cov' });
  assert.match(String(missing.values.remedy), /`pip install pytest-cov`.*quality\.required/);
  const runner = prospect('tests', {
    command: 'python3 -m pytest',
    gap: 'no pytest',
    install: 'pip install pytest',
  });
  assert.deepEqual(names([runner, coverage]), ['tests', 'coverage']);
});
