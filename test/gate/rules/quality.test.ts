import assert from 'node:assert/strict';
import test from 'node:test';
import { GATE_CODES } from '../../../src/gate/rules/gate-codes.ts';
import { type CheckResult, DEFAULT_QUALITY, gateResult, rejection } from '../../../src/gate/rules/quality.ts';
import { wordsOf } from '../../support/codes.ts';

const CHECK: CheckResult = { check: 'tests', outcome: 'passed', reason: '', details: [], command: null, figure: null };

function resultOf(...checks: readonly Partial<CheckResult>[]) {
  const all = checks.map((check) => ({ ...CHECK, ...check }));
  return gateResult({ tree: 'a', checks: all, coverage: null, uncoveredFiles: [] });
}

test('what is not measured fails nothing, what failed fails all', () => {
  assert.equal(resultOf({}, { check: 'lint', outcome: 'not_measured' }).ok, true);
  assert.equal(resultOf({}, { check: 'lint', outcome: 'failed' }).ok, false);
  assert.equal(rejection(resultOf({}, { check: 'lint', outcome: 'not_measured' }), DEFAULT_QUALITY), '');
});

test('a rejection names what failed, with tests and files, and what to run', () => {
  const result = resultOf(
    { outcome: 'failed', reason: '1 test fails: adds', details: ['adds (test/a.test.js:5:1)'], command: 'npm test' },
    {
      check: 'coverage',
      outcome: 'failed',
      reason: 'it reaches half',
      details: ['src/a.js: 50 % (5 of 10 lines)'],
      command: 'npm run coverage',
      figure: '50 %',
    },
    { check: 'lint', reason: 'no lint errors' },
  );
  assert.equal(
    rejection(result, DEFAULT_QUALITY),
    wordsOf(GATE_CODES.gate_rejected, {
      checks: ['tests', 'coverage'],
      report: [
        'tests: 1 test fails: adds',
        '  - adds (test/a.test.js:5:1)',
        '  Make the tests pass.',
        '  run again: npm test',
        'coverage: it reaches half',
        '  - src/a.js: 50 % (5 of 10 lines)',
        '  Add tests until they reach at least 80 % of the lines, beginning with the files named.',
        '  run again: npm run coverage',
      ].join('\n'),
    }),
  );
});

test('where no tests ran a rejection asks for some, not for any to pass', () => {
  const step = (reason: string) => {
    const result = resultOf({ check: 'tests', outcome: 'failed', reason, command: 'npm test' });
    return rejection(result, DEFAULT_QUALITY).split('\n')[2];
  };
  assert.equal(
    step(wordsOf(GATE_CODES.no_tests_ran, {})),
    '  Write tests, or correct the setting that says where the command finds them.',
  );
  assert.equal(step('1 test fails: adds'), '  Make the tests pass.');
});

test('where enough is reached and the command fails all the same, a rejection does not ask for the target', () => {
  const step = (reason: string) => {
    const result = resultOf({ check: 'coverage', outcome: 'failed', reason, figure: '85 %', command: 'npm test' });
    return rejection({ ...result, coverage: 85 }, DEFAULT_QUALITY).split('\n')[2];
  };
  assert.equal(step('npm test ended with 1'), '  Find out why the command fails, and fix it.');
});

test('where nothing could be measured, a rejection says how it can be', () => {
  const nothing = { outcome: 'failed', reason: 'why' } as const;
  const text = rejection(resultOf(nothing, { ...nothing, check: 'coverage' }), DEFAULT_QUALITY);
  assert.match(text, /Add tests, or name their command: quality in \.tool\/config\/workflow\.yaml\./);
  assert.match(
    text,
    /Make the command write a report, or name the command or its report: quality in \.tool\/config\/workflow\.yaml\./,
  );
});

test('a command that did not end is to be mended, and stands whole behind what is said of it', () => {
  const command = `run ${'--flag '.repeat(40)}--last`;
  const failures = [{ command, how: 'timed_out' as const, names: null, count: null, reason: '', details: [] }];
  const checks = (['tests', 'coverage', 'lint'] as const).map((check) => ({
    ...{ check, outcome: 'failed' as const, reason: 'late', command, failures },
  }));
  const steps = rejection(resultOf(...checks), DEFAULT_QUALITY)
    .split('\n')
    .slice(1);
  for (const [index, { check }] of checks.entries())
    assert.deepEqual(steps.slice(3 * index, 3 * index + 3), [
      `${check}: late`,
      '  Find out why the command does not end, and fix it.',
      `  run again: ${command}`,
    ]);
});

test('a long rejection keeps the reason and the command of every check', () => {
  const details = Array.from({ length: 20 }, (_, index) => `${index} ${'x'.repeat(500)}`);
  const checks = (['tests', 'coverage', 'lint', 'security', 'performance'] as const).map((check) => ({
    check,
    outcome: 'failed' as const,
    reason: `${check} ${'because '.repeat(100)}`,
    details,
    command: `run-${check} ${'--flag '.repeat(100)}`,
  }));
  const text = rejection(resultOf(...checks), DEFAULT_QUALITY);
  assert.ok(text.length <= 2_000, String(text.length));
  for (const { check } of checks) {
    assert.ok(text.includes(`\n${check}: ${check} because`), check);
    assert.ok(text.includes(`run again: run-${check}`), check);
  }
  assert.match(text, /… and 19 more/);
});
