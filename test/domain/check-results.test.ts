// From what commands did to what a check found.

import assert from 'node:assert/strict';
import test from 'node:test';
import { testsResult } from '../../src/domain/check-results.ts';
import { isForLackOfTests } from '../../src/domain/quality.ts';

function end(exitCode: number, output: string, command = 'npm test') {
  return { command, script: command, exitCode, timedOut: false, durationMs: 1, output };
}

function ended(exitCode: number, output: string) {
  return testsResult([end(exitCode, output)], 1000, false).result;
}

test('a runner that ends with an error since there is no test tells of no failure', () => {
  for (const [exitCode, output] of [
    [1, 'No tests found, exiting with code 1\nRun with `--passWithNoTests` to exit with code 0\n'],
    [1, 'No test files found, exiting with code 1\n'],
    [1, "\n> x@1.0.0 test\n> node --test tests/\n\nCould not find 'tests'\n"],
    [5, '============ no tests ran in 0.01s ============\n'],
    [5, '\nRan 0 tests in 0.000s\n\nNO TESTS RAN\n'],
    [0, '# tests 0\n# pass 0\n# fail 0\n# cancelled 0\n'],
  ] as const) {
    const result = ended(exitCode, output);
    assert.deepEqual([result.outcome, result.reason], ['failed', 'no tests ran'], output);
    assert.ok(isForLackOfTests(result));
  }
});

test('a test that fails, or a suite that cannot be loaded, is no lack of tests', () => {
  for (const output of [
    'FAIL src/a.test.js\n  ● Test suite failed to run\n\nTest Suites: 1 failed, 1 total\nTests:       0 total\n',
    'Tests:       1 failed, 1 total\n',
    'it broke\n',
    // Node's runner ends so where any directory goes away while it looks around: which tests there are is not known.
    "\n> x@1.0.0 test\n> node --test\n\nCould not find '/project/.tool/teams/x'\n",
    "\n> x@1.0.0 test\n> node --test tests/\n\nCould not find 'tests/fixtures'\n",
    "\n> x@1.0.0 test\n> node --test a; node --test tests\n\n# pass 1\n# fail 0\n# cancelled 0\nCould not find 'tests'\n",
  ]) {
    const result = ended(1, output);
    assert.equal(result.outcome, 'failed');
    assert.notEqual(result.reason, 'no tests ran', output);
    assert.equal(isForLackOfTests(result), false, output);
  }
});

test('a runner that broke down before it ran any test has failed, whatever it says of tests, and whatever another one says', () => {
  const broken = 'INTERNALERROR> ValueError: bad plugin\n\n============ no tests ran in 0.01s ============\n';
  for (const ends of [
    [end(3, broken, 'pytest')],
    [end(0, '# tests 2\n# pass 2\n# fail 0\n'), end(3, broken, 'pytest')],
  ]) {
    const { result } = testsResult(ends, 1000, false);
    assert.deepEqual([result.outcome, result.command], ['failed', 'pytest']);
    assert.match(result.reason, /^pytest ended with 3: /);
    assert.equal(isForLackOfTests(result), false);
  }
});
