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

test('what its runner tells of as failing has failed, whatever the command ends with; what it only mentions has not', () => {
  const counts = (fail: number) => `# pass 2\n# fail ${fail}\n# cancelled 0\n`;
  for (const [output, reason] of [
    [`not ok 1 - sums\n${counts(1)}`, '1 test fails: sums'],
    [counts(2), 'npm test ended with 0: its runner tells of 2 that fail'],
    ['not ok 1 - sums\n1..3\n# tests 3\n# pass  2\n# fail  1\n', '1 test fails: sums'],
    [
      '--- FAIL: TestSum (0.00s)\n    sum_test.go:7: 3\nFAIL\nFAIL\texample.com/a\t0.003s\nFAIL\n',
      /^1 test fails: TestSum/,
    ],
    ['Test Suites: 1 failed, 1 total\nTests:       1 failed, 2 passed, 3 total\n', /^npm test ended with 0: /],
    [' Test Files  1 failed (1)\n      Tests  1 failed | 2 passed (3)\n', /^npm test ended with 0: /],
    ['=== 1 failed, 2 passed in 0.03s ===\n', /^npm test ended with 0: /],
    ['.F      [100%]\n1 failed, 1 passed in 0.02s\n', /^npm test ended with 0: /],
    ['==== ERRORS ====\nE   x\n2 passed, 1 error in 0.12s\n', /^npm test ended with 0: /],
    [
      '=== short test summary info ===\nSKIPPED [1] a.py:3: x\nFAILED tests/test_a.py::test_b - assert 0\n',
      /^1 test fails: /,
    ],
    ['  1 passing (3ms)\n  1 failing\n\n  1) sums:\n     Error\n', '1 test fails: sums'],
    [' 2 pass\n 1 fail\n 3 expect() calls\nRan 3 tests across 1 file.\n', /^npm test ended with 0: /],
    ['  1 failed\n    a.spec.ts:3:5 › sums ───\n  2 passed (1.2s)\n', /^npm test ended with 0: /],
    ['  ✘ [fail]: sums\n  ─\n\n  sums\n\n  Difference\n\n  ─\n\n  1 test failed\n', /^npm test ended with 0: /],
  ] as const) {
    const result = ended(0, output);
    assert.equal(result.outcome, 'failed', output);
    assert.match(result.reason, typeof reason === 'string' ? new RegExp(`^${reason}$`) : reason);
  }
  for (const output of [
    `not ok 1 - later # TODO\n${counts(0)}`,
    '  ● Deprecation Warning:\n\nTests:       2 passed, 2 total\n',
    'not ok 1 - printed by a test\n',
    '1 failed, 1 passed in 0.1s\nFAILED tests/test_b.py::test_x\n.s      [100%]\n2 passed in 0.02s\n',
    '=== short test summary info ===\nXFAIL tests/test_a.py::test_b - 1 failed in\n1 passed, 1 xfailed in 0.02s\n',
    `Tests: 1 failed, 2 passed\n3 failed in 12ms\nFAIL  a > b\nnot ok 1 - x\n# fail 1\n${counts(0)}`,
  ])
    assert.equal(ended(0, output).outcome, 'passed', output);
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

test('a linter that tells of errors has failed, whatever the command ends with', () => {
  const outcome = (output: string) => commandsResult('lint', [end(0, output, 'npm run lint')], 1_000).result.outcome;
  for (const output of [
    '\n/project/a.js\n  1:1  error  x\n\n✖ 3 problems (2 errors, 1 warning)\n',
    'Checked 3 files in 5ms.\nFound 2 errors.\n',
    'a.py:1:1: F401 x\nFound 1 error.\n',
    'Found 3 errors in 2 files.\n',
  ])
    assert.equal(outcome(output), 'failed', output);
  for (const output of [
    '✖ 1 problem (0 errors, 1 warning)\n',
    'Found 2 warnings.\n',
    'Found 3 errors (3 fixed, 0 remaining).\n',
    'Found 0 errors.\n',
  ])
    assert.equal(outcome(output), 'passed', output);
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
