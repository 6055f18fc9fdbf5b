import assert from 'node:assert/strict';
import test from 'node:test';
import { readTestOutput } from '../../../src/gate/rules/test-output.ts';
import { fixtureText } from '../../support/checks.ts';

const READ = [
  ['node-spec.txt', 2, 1, 1, ['fails inside (test/a.test.js:5:27)']],
  ['node-tap.txt', 2, 1, 1, ['fails inside (/project/test/a.test.js:5:27)']],
  ['jest.txt', 2, 1, 1, ['sum › breaks (j/sum.test.js)']],
  ['vitest.txt', 2, 1, 1, ['v/sum.test.mjs > sum > breaks']],
  ['pytest.txt', 2, 1, 1, ['tests/test_shop.py::Total::test_wrong']],
  ['pytest-none.txt', 0, 0, 0, []],
  ['unittest.txt', 2, 1, 1, ['tests.test_shop.Total.test_wrong (/project/tests/test_shop.py:10)']],
  ['go-test-fail.txt', null, null, null, ['TestHello/without (example.com/greeter/greet/greet_test.go:13)']],
  ['go-test-pass.txt', null, null, null, []],
  ['go-test-none.txt', 0, 0, 0, []],
  ['cargo-test-fail.txt', 2, 1, 0, ['tests::greets_nobody (src/lib.rs:19:9)']],
  ['cargo-test-pass.txt', 2, 0, 0, []],
] as const;

for (const [file, ran, failures, skipped, failed] of READ)
  test(`what a runner printed: ${file}`, () => {
    assert.deepEqual(readTestOutput(fixtureText(`outputs/${file}`)), { ran, failures, skipped, failed });
  });

test('a runner that ran nothing says so in its own words', () => {
  const none = [
    '# tests 2\n# suites 0\n# pass 0\n# fail 0\n# cancelled 0\n# skipped 2\n',
    'Tests:       3 skipped, 3 total\n',
    '===== 2 skipped in 0.01s =====\n',
    'Ran 0 tests in 0.000s\n\nOK\n',
    'Ran 0 tests in 0.000s\n\nNO TESTS RAN\n',
    'Ran 2 tests in 0.000s\n\nOK (skipped=2)\n',
    'No test files found, exiting with code 1\n',
    'No tests found, exiting with code 1\n',
    "Could not find 'tests'\n",
    'test result: ok. 0 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out; finished in 0.00s\n',
    'ok  \texample.com/a\t0.003s [no tests to run]\n',
  ];
  for (const text of none) assert.equal(readTestOutput(text).ran, 0, text);
});

test('what is skipped is counted, and what is still to be done with it', () => {
  const counted: readonly (readonly [string, number])[] = [
    ['ℹ pass 4\nℹ fail 0\nℹ cancelled 0\nℹ skipped 2\nℹ todo 1\n', 3],
    ['Tests:       2 skipped, 1 todo, 3 passed, 6 total\n', 3],
    ['      Tests  3 passed | 2 skipped | 1 todo (6)\n', 3],
    ['===== 3 passed, 2 skipped in 0.01s =====\n', 2],
    ['Ran 5 tests in 0.000s\n\nOK (skipped=2)\n', 2],
    ['test result: ok. 3 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.00s\n', 2],
  ];
  for (const [text, skipped] of counted) assert.equal(readTestOutput(text).skipped, skipped, text);
});

test('words that are no summary are not taken for one', () => {
  const nothing = { ran: null, failures: null, skipped: null, failed: [] };
  assert.deepEqual(readTestOutput('building\nall fine, 3 tests or so\n'), nothing);
  assert.deepEqual(readTestOutput(''), nothing);
});

test('points of TAP that are still to be done or left out do not fail', () => {
  assert.deepEqual(readTestOutput('not ok 1 - later # TODO\nnot ok 2 - here\nnot ok 3 - never # SKIP\n').failed, [
    'here',
  ]);
});

test('a Go package that could not be built is named', () => {
  assert.deepEqual(readTestOutput('FAIL\texample.com/a [build failed]\n').failed, ['example.com/a [build failed]']);
});

test('where a runner leaves nothing but a report for machines, that names what fails', () => {
  const failedIn = (output: string) => readTestOutput(output).failed;
  const junit = [
    '<testsuites>',
    '\t<testcase name="fine" classname="a > b"/>',
    '\t<testcase name="adds &lt;one> &amp; more" classname="test" failure="1 > 2">',
    '\t\t<failure message="1 > 2">\n    at TestContext.&lt;anonymous> (test/a.test.mjs:3:67)\n\t\t</failure>',
    '\t</testcase>',
    '\t<testcase name="later"><skipped/></testcase>',
    '</testsuites>\n================\n',
  ].join('\n');
  assert.deepEqual(failedIn(junit), ['adds <one> & more (test/a.test.mjs:3:67)']);
  // What a test prints of other tests counts for nothing beside its runner's words.
  assert.deepEqual(failedIn(`${junit}\nℹ pass 1\nℹ fail 0\nℹ cancelled 0\n`), []);
});

test('files that fail as a whole are named: jest, vitest, a Go package', () => {
  const jest =
    "FAIL web tests/broken.test.js (5.2 s)\n  ● Test suite failed to run\n\n    Cannot find module './nothing'\n";
  assert.deepEqual(readTestOutput(jest).failed, ['Test suite failed to run (tests/broken.test.js)']);
  const vitest = ' FAIL  tests/broken.test.js [ tests/broken.test.js ]\nError: Cannot find module\n';
  assert.deepEqual(readTestOutput(vitest).failed, ['tests/broken.test.js']);
  const go =
    '# example.com/a/b [example.com/a/b.test]\nb/sum_test.go:5:2: undefined: y\nFAIL\texample.com/a/b [build failed]\nok  \texample.com/a\t0.003s\n';
  assert.deepEqual(readTestOutput(go).failed, ['example.com/a/b [build failed] (b/sum_test.go:5:2)']);
});

test('errors while tests are collected are failing tests', () => {
  assert.deepEqual(readTestOutput('ERROR t/test_x.py\n=== 1 error in 0.12s ===\n'), {
    ran: 1,
    failures: 1,
    skipped: 0,
    failed: ['t/test_x.py'],
  });
});
