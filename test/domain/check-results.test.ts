// From what commands did to what a check found.

import assert from 'node:assert/strict';
import test from 'node:test';
import { commandsResult, testsResult } from '../../src/domain/check-results.ts';
import { failsForTests } from '../../src/domain/own-threshold.ts';
import { isForLackOfTests } from '../../src/domain/quality.ts';

function end(exitCode: number, output: string, command = 'npm test', errors = '') {
  return { command, script: command, exitCode, timedOut: false, durationMs: 1, output, errors };
}

function ended(exitCode: number, output: string) {
  return testsResult([end(exitCode, output)], 1000).result;
}

test('a runner that ends with an error since there is no test tells of no failure', () => {
  for (const [exitCode, output] of [
    [1, 'No tests found, exiting with code 1\nRun with `--passWithNoTests` to exit with code 0\n'],
    [1, 'No test files found, exiting with code 1\n'],
    [1, 'Error: No test files found: "tests/**/*.test.js"\n'],
    [1, '\n  ✘ Couldn’t find any files to test\n'],
    [1, "\n> x@1.0.0 test\n> node --test tests/\n\nCould not find 'tests'\n"],
    [
      1,
      '\n  ✘ Based on your configuration, 5 test files were found, but did not match the filters:\n\n  * test/x.js\n',
    ],
    [1, "\n> x@1.0.0 test\n> uvu ./tests/\n\nError: ENOENT: no such file or directory, scandir 'tests'\n"],
    [0, '\n  Total:     0\n  Passed:    0\n  Skipped:   0\n  Duration:  0.54ms\n\n'],
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
    "> x@1.0.0 test\n> node build.js src && uvu tests\n\nError: ENOENT: no such file or directory, scandir 'out'\n",
    "> x@1.0.0 test\n> node build.js src\n\nError: ENOENT: no such file or directory, scandir 'src'\n",
    "> uvu a && uvu b\n  Total:     1\n  Passed:    1\n  Skipped:   0\nError: ENOENT: no such file or directory, scandir 'b'\n",
    'No test files found, exiting with code 0\nsrc/a.ts(1,7): error TS2322: it is wrong\n',
    'No tests found, exiting with code 0\n\n> x@1.0.0 posttest\n> node e2e.js\n\nit broke\n',
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
  const beside = 'No test files found, exiting with code 1\nAssertionError [ERR_ASSERTION]: 1 == 2\n';
  assert.notEqual(testsResult([end(1, beside)], 1000).result.reason, 'no tests ran');
  const broken = 'INTERNALERROR> ValueError: bad plugin\n\n============ no tests ran in 0.01s ============\n';
  for (const ends of [
    [end(3, broken, 'pytest')],
    [end(0, '# tests 2\n# pass 2\n# fail 0\n'), end(3, broken, 'pytest')],
  ]) {
    const { result } = testsResult(ends, 1000);
    assert.deepEqual([result.outcome, result.command], ['failed', 'pytest']);
    assert.match(result.reason, /^pytest ended with 3: /);
    assert.equal(isForLackOfTests(result), false);
  }
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
    assert.ok(!failsForTests(end(0, output)), output);
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

test('an error behind tests that pass is a threshold of the coverage only where the tool says so, in its own line', () => {
  const counts = '# pass 2\n# fail 0\n# cancelled 0\n';
  for (const words of [
    'ERROR: Coverage for lines (50%) does not meet global threshold (90%)',
    'ERROR: Coverage for branches (0%) does not meet threshold (95%) for /project/a.js',
    'ERROR: Uncovered functions (1) exceed global threshold (0.5) for a.js',
    'Jest: "global" coverage threshold for statements (90%) not met: 50%',
    'Jest: Coverage for branches (0%) does not meet "./a.js" threshold (95%)',
    'Jest: Uncovered count for functions (1) exceeds global threshold (0.5)',
    'ℹ Error: 50.00% line coverage does not meet threshold of 90%.',
    'FAIL Required test coverage of 90% not reached. Total coverage: 50.00%',
    'Coverage failure: total of 50 is less than fail-under=90',
  ]) {
    assert.equal(ended(1, `${counts}${words}\n`).outcome, 'passed', words);
    assert.ok(!failsForTests(end(1, `${counts}${words}\n`)), words);
  }
  for (const words of [
    'src/a.ts(1,7): error TS2322',
    'Coverage summary',
    'ELIFECYCLE  Command failed',
    '✔ the coverage threshold of 90 % is not met (1.2ms)\nsrc/a.ts(1,7): error TS2322',
  ]) {
    assert.equal(ended(1, `${counts}${words}\n`).outcome, 'failed', words);
    assert.ok(failsForTests(end(1, `${counts}${words}\n`)), words);
  }
  const unhandled =
    ' Test Files  1 passed (1)\n      Tests  1 passed (1)\n     Errors  1 error\n   Start at  10:00:00\n';
  const both = `${unhandled}ERROR: Coverage for lines (50%) does not meet global threshold (90%)\n`;
  for (const output of [unhandled, both]) assert.equal(ended(1, output).outcome, 'failed', output);
});

test('a linter that ends with 0 passes, whatever errors its output reports', () => {
  const output = '\n/project/a.js\n  1:1  error  x\n\n✖ 3 problems (2 errors, 1 warning)\n';
  const outcome = (exitCode: number) => commandsResult('lint', [end(exitCode, output)], 1_000).result.outcome;
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
    const { result, lasts } = commandsResult('security', [said(output)], 1_000);
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
  assert.equal(commandsResult('security', [said(finding)], 1_000).result.outcome, 'failed');
  const both = [said(`undefined\n${failed}\n`), said('src/a.js:3: eval')];
  assert.equal(commandsResult('security', both, 1_000).result.outcome, 'failed');
  assert.equal(commandsResult('lint', [said(`undefined\n${failed}\n`)], 1_000).result.outcome, 'failed');
});

test('tests that were skipped are told beside those that passed', () => {
  const { reason, figure } = testsResult([end(0, '3 passed, 2 skipped in 0.01s\n')], 1_000).result;
  assert.deepEqual([reason, figure], ['3 tests pass, 2 skipped', '3 tests, 2 skipped']);
});
