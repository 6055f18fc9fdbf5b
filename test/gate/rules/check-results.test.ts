// From what commands did to what a check found.

import assert from 'node:assert/strict';
import test from 'node:test';
import { commandsResult, testsResult } from '../../../src/gate/rules/check-results.ts';
import { GATE_CODES } from '../../../src/gate/rules/gate-codes.ts';
import { isForLackOfTests } from '../../../src/gate/rules/quality.ts';
import { fixtureText } from '../../support/checks.ts';
import { wordsOf } from '../../support/codes.ts';

function end(exitCode: number, output: string, command = 'npm test') {
  return { command, exitCode, timedOut: false, durationMs: 1, output };
}

function ended(exitCode: number, output: string) {
  return testsResult(end(exitCode, output), 1000).result;
}

test('a runner that ends with an error since there is no test tells of no failure', () => {
  for (const [exitCode, output] of [
    [1, 'No tests found, exiting with code 1\nRun with `--passWithNoTests` to exit with code 0\n'],
    [1, 'No test files found, exiting with code 1\n'],
    [1, "\n> x@1.0.0 test\n> node --test tests/\n\nCould not find 'tests'\n"],
    [5, fixtureText('outputs/pytest-none.txt')],
    [5, '\nRan 0 tests in 0.000s\n\nNO TESTS RAN\n'],
    [0, '# tests 0\n# pass 0\n# fail 0\n# cancelled 0\n'],
  ] as const) {
    const result = ended(exitCode, output);
    assert.deepEqual([result.outcome, result.reason], ['failed', wordsOf(GATE_CODES.no_tests_ran, {})], output);
    assert.ok(isForLackOfTests(result));
  }
});

test('a test that fails, or a suite that cannot be loaded, is no lack of tests', () => {
  for (const output of [
    'FAIL src/a.test.js\n  ● Test suite failed to run\n\nTest Suites: 1 failed, 1 total\nTests:       0 total\n',
    'Tests:       1 failed, 1 total\n',
    'it broke\n',
    "\n> x@1.0.0 test\n> node --test a; node --test tests\n\nℹ pass 1\nℹ fail 0\nℹ cancelled 0\nCould not find 'tests'\n",
  ]) {
    const result = ended(1, output);
    assert.equal(result.outcome, 'failed');
    assert.notEqual(result.reason, wordsOf(GATE_CODES.no_tests_ran, {}), output);
    assert.equal(isForLackOfTests(result), false, output);
  }
});

test('a runner that broke down before it ran any test has failed, whatever it says of tests', () => {
  const broken = `INTERNALERROR> ValueError: bad plugin\n\n${fixtureText('outputs/pytest-none.txt')}`;
  const { result } = testsResult(end(3, broken, 'pytest'), 1000);
  assert.match(result.reason, /^pytest ended with 3: /);
  assert.deepEqual([result.outcome, isForLackOfTests(result)], ['failed', false]);
});

test('a command that ends with 0 passes, whatever failures its output reports; the failures are not counted as passes', () => {
  const counts = (fail: number) => `# pass 2\n# fail ${fail}\n# cancelled 0\n`;
  for (const [output, reason] of [
    [`not ok 1 - sums\n${counts(1)}`, '2 tests pass'],
    ['--- FAIL: TestSum (0.00s)\n    sum_test.go:7: 3\nFAIL\nFAIL\texample.com/a\t0.003s\nFAIL\n', 'the tests pass'],
    ['Test Suites: 1 failed, 1 total\nTests:       1 failed, 2 passed, 3 total\n', '2 tests pass'],
    ['=== 1 failed, 2 passed in 0.03s ===\n', '2 tests pass'],
    [' 2 pass\n 1 fail\n 3 expect() calls\nRan 3 tests across 1 file.\n', 'the tests pass'],
    [`  ● Deprecation Warning:\n\n${counts(0)}`, '2 tests pass'],
  ] as const) {
    const result = ended(0, output);
    assert.deepEqual([result.outcome, result.reason], ['passed', reason], output);
    assert.equal(ended(1, output).outcome, 'failed', output);
  }
});

test('of what breaks before any test the message is told, and where in the project, and no stack of Node or of a package', () => {
  const outside = Array.from({ length: 20 }, (_, line) => [
    `    at Module._load (node:internal/modules/cjs/loader:${line}:1)`,
    `    at async exports.run (node_modules/mocha/lib/cli/run.cjs:${line}:1) {`,
  ]).flat();
  const stack = ['Require stack:', '- src/a.js', ...outside, '    at Object.<anonymous> (src/a.js:1:11)', ...outside];
  for (const start of ['Error: ', ' Exception during run: Error: ']) {
    const broken = ended(1, [`${start}Cannot find module './nowhere'`, ...stack, "  code: 'X'", '}'].join('\n'));
    assert.equal(broken.reason, `npm test ended with 1: ${start.trim()} Cannot find module './nowhere'`);
    assert.deepEqual(broken.details, [
      `${start}Cannot find module './nowhere'`,
      'Require stack:',
      '- src/a.js',
      '    at Object.<anonymous> (src/a.js:1:11)',
      "  code: 'X'",
      '}',
    ]);
  }
  const behind = Array.from({ length: 20 }, (_, line) => `line ${line}`);
  assert.deepEqual(
    ended(1, ['TypeError: no', ...outside, '    at sum (src/a.js:1:11)', '    at x.js:2:1', ...behind].join('\n'))
      .details,
    ['TypeError: no', '    at sum (src/a.js:1:11)', ...behind.slice(-13)],
  );
  assert.deepEqual(ended(1, behind.join('\n')).details, behind.slice(-15));
});

test('a command that ends with an error behind tests that pass fails, and says why', () => {
  const counts = '# pass 2\n# fail 0\n# cancelled 0\n';
  const words = 'ERROR: Coverage for lines (50%) does not meet global threshold (90%)';
  const { outcome, reason } = ended(1, `${counts}${words}\n`);
  assert.deepEqual([outcome, reason], ['failed', `npm test ended with 1: ${words}`]);
});

test('a linter that ends with 0 passes, whatever errors its output reports', () => {
  const output = '\n/project/a.js\n  1:1  error  x\n\n✖ 3 problems (2 errors, 1 warning)\n';
  const outcome = (exitCode: number) => commandsResult('lint', end(exitCode, output), 1_000).result.outcome;
  assert.deepEqual([outcome(0), outcome(1)], ['passed', 'failed']);
});

test('an audit that has not reached its registry has found nothing, and has not passed', () => {
  const said = (output: string) => end(1, output, 'npm run audit');
  const failed = [
    'npm warn audit request to http://127.0.0.1:9/-/npm/v1/security/advisories/bulk failed, reason: connect ECONNREFUSED 127.0.0.1:9',
    'npm error audit endpoint returned an error',
    'npm error A complete log of this run can be found in: /home/x/.npm/_logs/1-debug-0.log',
  ].join('\n');
  const json = JSON.stringify({ message: 'request to … failed', error: { summary: '', detail: '' } }, null, 2);
  const header = '\n> a@1.0.0 audit\n> npm audit\n\n';
  for (const output of [`${header}undefined\n${failed}\n`, `${header}${failed}\n${json}\n`]) {
    const { result, lasts } = commandsResult('security', said(output), 1_000);
    assert.deepEqual(
      [result.outcome, result.reason, result.details, lasts],
      [
        'not_measured',
        'npm run audit: request to http://127.0.0.1:9/-/npm/v1/security/advisories/bulk failed, reason: connect ECONNREFUSED 127.0.0.1:9',
        [],
        false,
      ],
    );
  }
  const finding = `src/a.js:3: eval\n${failed}\n`;
  assert.equal(commandsResult('security', said(finding), 1_000).result.outcome, 'failed');
  assert.equal(commandsResult('lint', said(`undefined\n${failed}\n`), 1_000).result.outcome, 'failed');
});

test('tests that were skipped are told beside those that passed', () => {
  const { reason, figure } = testsResult(end(0, '3 passed, 2 skipped in 0.01s\n'), 1_000).result;
  assert.deepEqual([reason, figure], ['3 tests pass, 2 skipped', '3 tests, 2 skipped']);
});
