import assert from 'node:assert/strict';
import { readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { GATE_CODES } from '../../../src/gate/rules/gate-codes.ts';
import { DEFAULT_QUALITY, isForLackOfCoverage, isForLackOfTests, rejection } from '../../../src/gate/rules/quality.ts';
import { coverageOfChange } from '../../../src/gate/rules/uncovered-sources.ts';
import { checkOf, commands, failures, LCOV, prints, testProject } from '../../support/checks.ts';
import { wordsLike, wordsOf } from '../../support/codes.ts';

const unusable = (said: RegExp) => wordsLike(GATE_CODES.coverage_report_unusable, { path: /\S*lcov\.info/, said });
const notMeasured = (why: string) => wordsOf(GATE_CODES.coverage_not_measured, { why });

test('a report older than the run does not count; one that is written does, wherever it is asked for', async (t) => {
  const project = testProject(t, null);
  project.write('coverage/lcov.info', 'TN:\nSF:a.js\nDA:1,1\nend_of_record\n');
  const stale = await project.gate(commands({ tests: 'true', coverage: 'true' }));
  assert.equal(
    checkOf(stale, 'coverage').reason,
    notMeasured(wordsOf(GATE_CODES.coverage_report_old, { path: 'coverage/lcov.info' })),
  );
  // Written anew with the same words, and a time in the past.
  const again = `cp coverage/lcov.info x; cp x coverage/lcov.info; touch -d 2001-01-01 coverage/lcov.info; rm x`;
  utimesSync(join(project.root, 'coverage/lcov.info'), 1, 1);
  assert.equal((await project.gate(commands({ tests: again, coverage: again }))).ok, true);

  const settings = { ...commands({ tests: 'true', coverage: LCOV }), coverageReport: 'build/report' };
  assert.equal(
    checkOf(await project.gate(settings), 'coverage').reason,
    notMeasured(wordsOf(GATE_CODES.coverage_report_missing, { place: 'build/report' })),
  );
  const asked = {
    ...commands({ tests: 'true', coverage: `${LCOV}; mkdir -p build; mv lcov.info build/report` }),
    coverageReport: 'build/report',
  };
  assert.equal((await project.gate(asked)).ok, true);
});

test('a pattern names the reports of packages, each of which may say its paths from its own directory', async (t) => {
  const project = testProject(t, null);
  for (const name of ['a', 'b']) project.write(`packages/${name}/src/i.js`, `export const ${name} = 1;\n`);
  const report = (name: string, text: string) => {
    project.write(`${name}.txt`, text);
    return `mkdir -p packages/${name}/coverage; cat ${name}.txt > packages/${name}/coverage/lcov.info`;
  };
  const whole = report('a', 'SF:src/i.js\nDA:1,1\nDA:2,1\nend_of_record\n');
  const half = report('b', `SF:${project.root}/packages/b/src/i.js\nDA:1,0\nDA:2,0\nend_of_record\n`);
  const coverageReport = 'packages/*/coverage/lcov.info';
  const measured = async (coverage: string) => {
    const result = await project.gate({ ...commands({ tests: 'true', coverage }), coverageReport });
    return [result.coverage, result.uncoveredFiles, checkOf(result, 'coverage').reason];
  };
  assert.deepEqual(await measured(`${whole}; ${half}`), [
    50,
    ['packages/b/src/i.js'],
    wordsOf(GATE_CODES.coverage_below_target, { reached: '50 %', target: 80 }),
  ]);
  assert.match(
    String((await measured('true'))[2]),
    wordsLike(GATE_CODES.coverage_report_old, { path: 'packages/a/coverage/lcov.info' }),
  );
});

test('all reports in $TOOL_REPORTS count together, each file once, as the first of them has it', async (t) => {
  const project = testProject(t, null);
  const lines = (path: string, hits: number) => `SF:${path}\\nDA:1,${hits}\\nend_of_record\\n`;
  const coverage = [
    `mkdir -p "$TOOL_REPORTS/web"`,
    `printf '${lines('a.js', 1)}' > "$TOOL_REPORTS/a.info"`,
    `printf '${lines('b.js', 0)}' > "$TOOL_REPORTS/web/lcov.info"`,
    `printf '${lines('a.js', 0)}' > lcov.info`,
  ].join(' && ');
  project.write('web/b.js', 'export const b = 1;\n');
  const result = await project.gate(commands({ tests: 'true', coverage }));
  assert.deepEqual([result.coverage, result.uncoveredFiles], [50, ['web/b.js']]);
});

test('tests that leave a report by themselves are not run again for it', async (t) => {
  const project = testProject(t, null);
  project.write('package.json', '{"scripts":{"test":"sh test.sh","coverage":"sh coverage.sh"}}');
  project.write('test.sh', LCOV);
  const result = await project.gate();
  assert.equal(result.ok, true, JSON.stringify(result.checks));
  assert.deepEqual(
    [checkOf(result, 'coverage').command, project.said().includes('npm run coverage')],
    ['npm test', false],
  );
});

test("Node's runner that was told of a directory that is not there has found no tests", async (t) => {
  const project = testProject(t, null);
  for (const tests of ['npm test', 'node --test tests/'] as const) {
    project.write('package.json', '{"scripts":{"test":"node --test ./tests"}}');
    const none = checkOf(await project.gate(commands({ tests, coverage: LCOV })), 'tests');
    assert.deepEqual([none.reason, isForLackOfTests(none)], [wordsOf(GATE_CODES.no_tests_ran, {}), true], tests);
  }
});

test('reports that cannot be read, or name nothing of the project, fail with what is wrong', async (t) => {
  const project = testProject(t, null);
  for (const [text, reason] of [
    ['hello', unusable(/expected lines that begin with TN: or SF:$/)],
    ['<coverage', unusable(/.*/)],
    ['<report/>', /expected <coverage>, got <report>$/],
    ['<coverage><project><file name="a"/></project></coverage>', /Clover/],
    ['{"a.js":1}', /expected lines\.covered and lines\.total at a\.js$/],
    ['TN:\n', wordsLike(GATE_CODES.coverage_report_foreign, { path: /lcov\.info/ })],
    [
      'SF:/elsewhere/a.js\nDA:1,1\nend_of_record\n',
      wordsLike(GATE_CODES.coverage_report_foreign, { path: /lcov\.info/ }),
    ],
  ] as const) {
    project.write('report', text);
    const result = await project.gate(commands({ tests: 'true', coverage: 'cat report > lcov.info' }));
    assert.match(checkOf(result, 'coverage').reason, reason);
    assert.equal(checkOf(result, 'coverage').outcome, 'failed');
  }
});

test('tests are none of the lines that are to be reached', async (t) => {
  const entry = (path: string, hits: readonly number[]) =>
    [`SF:${path}`, ...hits.map((count, line) => `DA:${line + 1},${count}`), 'end_of_record', ''].join('\n');
  const inTests = entry('tests/unit.js', [1, 1, 1, 1, 1, 1, 0]);
  const project = testProject(t, null);
  const measured = async (...entries: readonly string[]) => {
    project.write('report', entries.join(''));
    const result = await project.gate(commands({ tests: 'true', coverage: 'cat report > lcov.info' }));
    return [checkOf(result, 'coverage').reason, result.coverage, result.uncoveredFiles];
  };
  assert.deepEqual(await measured(inTests), [notMeasured(wordsOf(GATE_CODES.coverage_report_all_tests, {})), null, []]);
  assert.deepEqual(await measured(inTests, entry('src/a.js', [1, 0, 0, 0])), [
    wordsOf(GATE_CODES.coverage_below_target, { reached: '25 %', target: 80 }),
    25,
    ['src/a.js'],
  ]);
});

test('generated code is none of the lines that are to be reached', async (t) => {
  const project = testProject(t, null);
  const block = (path: string, statements: number, count: number) =>
    `example.com/shop/${path}:1.1,2.2 ${statements} ${count}\n`;
  const pb = block('internal/gen/shop.pb.go', 90, 0);
  const mock = block('shop/store.go', 50, 0);
  const measured = async (...blocks: readonly string[]) => {
    project.write('report', `mode: set\n${blocks.join('')}`);
    const result = await project.gate(commands({ tests: 'true', coverage: 'cat report > coverage.out' }));
    return [result.coverage, result.uncoveredFiles, result.reach?.unreported];
  };
  project.write('go.mod', 'module example.com/shop\n');
  project.write('internal/gen/shop.pb.go', 'package gen\n\nfunc A() {\n}\n');
  project.write(
    'shop/store.go',
    '// By a license.\n\n// Code generated by MockGen. DO NOT EDIT.\npackage shop\n\nfunc B() {\n}\n',
  );
  assert.deepEqual((await measured(pb, mock))[0], null);
  const writer = 'package shop\n\n// Code generated by it says DO NOT EDIT.\nfunc C() {\n}\n';
  project.write('shop/write.go', writer);
  assert.deepEqual(await measured(pb, mock, block('shop/write.go', 4, 1)), [100, [], []]);
  // Not where the words stand in what is written by hand.
  assert.deepEqual(await measured(pb, mock, block('shop/write.go', 4, 0)), [0, ['shop/write.go'], []]);
});

test('a coverage command that fails although the tests pass fails the coverage; one that both share fails the tests', async (t) => {
  const project = testProject(t, null);
  const failing = `${LCOV}; echo 'types are wrong'; exit 1`;
  const apart = await project.gate(commands({ tests: 'true', coverage: failing }));
  assert.deepEqual(failures(apart), ['coverage']);
  assert.match(
    checkOf(apart, 'coverage').reason,
    wordsLike(GATE_CODES.coverage_command_failed, { exit: '1', judged: /.*100 %/ }),
  );
  assert.ok(!isForLackOfCoverage(apart.coverage, 80));
  const both = await project.gate(commands({ tests: failing, coverage: failing }));
  assert.deepEqual(failures(both), ['tests']);
  assert.match(checkOf(both, 'tests').reason, /ended with 1: types are wrong$/);
});

test('a runner that finds no test is asked once more, and no further', async (t) => {
  const project = testProject(t, null);
  const lost = 'echo "Could not find \'$PWD/lib/gone\'" >&2; exit 1';
  const once = `if mkdir asked; then ${lost}; fi; ${LCOV}; rmdir asked`;
  assert.equal((await project.gate(commands({ tests: once, coverage: once }))).ok, true);
  const result = await project.gate(commands({ tests: `echo x >> runs; ${lost}`, coverage: LCOV }));
  assert.equal(checkOf(result, 'tests').reason, wordsOf(GATE_CODES.no_tests_ran, {}));
  assert.equal(readFileSync(join(project.root, 'runs'), 'utf8'), 'x\nx\n');
});

test('what a package runs behind its tests counts as they do', async (t) => {
  const project = testProject(t, null);
  project.write('a.test.js', "require('node:test')('a', () => {});\n");
  const outcome = async (posttest: string) => {
    project.write('package.json', JSON.stringify({ scripts: { test: 'node --test', posttest } }));
    return checkOf(await project.gate(), 'tests').outcome;
  };
  assert.deepEqual([await outcome('true'), await outcome('exit 3')], ['passed', 'failed']);
});

test('tests that fail without a name are shown with their last lines', async (t) => {
  const project = testProject(t, null);
  const result = await project.gate(commands({ tests: 'echo one; echo two; exit 3', coverage: LCOV }));
  assert.equal(checkOf(result, 'tests').reason, 'echo one; echo two; exit 3 ended with 3: two');
  assert.deepEqual(checkOf(result, 'tests').details, ['one', 'two']);
});

test("tests that fail are named from a report of JUnit's too, where that is all that is printed", async (t) => {
  const project = testProject(t, null);
  project.write(
    'test/a.test.mjs',
    "import test from 'node:test';\ntest('adds', () => {\n  throw new Error('x');\n});\n",
  );
  const tests = "node --test --test-reporter=junit test/a.test.mjs; status=$?; echo '====='; exit $status";
  const { reason } = checkOf(await project.gate(commands({ tests, coverage: LCOV })), 'tests');
  assert.equal(reason, '1 test fails: adds (test/a.test.mjs:3:9)');
});

test('of a script of several packages at once the failing tests are told from the root', async (t) => {
  const project = testProject(t, null);
  const lines = [
    'packages/a test$ node --test',
    'packages/b test$ node --test',
    'packages/a test: not ok 1 - sums',
    'packages/a test:   ---',
    'packages/b test: # pass 1',
    "packages/a test:   location: '$PWD/packages/a/a.test.js:1:1'",
    'packages/b test: # fail 0',
    'packages/a test:   ...',
    ...['# pass 0', '# fail 1', '# cancelled 0'].map((line) => `packages/a test: ${line}`),
    'packages/b test: # cancelled 0',
    'packages/a test: Failed',
  ];
  const script = `${LCOV}; cat <<END\n${lines.join('\n')}\nEND\nexit 1`;
  const result = await project.gate(commands({ tests: script, coverage: script }));
  assert.deepEqual(checkOf(result, 'tests').details, ['sums (packages/a/a.test.js:1:1)']);
  assert.ok(project.said().includes('\npackages/a test: # fail 1\n'));
});

test('findings and failing tests are told from the root, whatever the tools print', async (t) => {
  const project = testProject(t, null);
  const lint = 'printf \'%s\\n  3:5  error  it is so\\n\' "$PWD/src/a.js"; exit 1';
  const tests = `${LCOV}; printf "not ok 1 - sums\\n  ---\\n  location: '%s:1:1'\\n  ...\\n" "$PWD/test/a.test.js"; exit 1`;
  const result = await project.gate(commands({ tests, coverage: tests, lint }));
  assert.deepEqual(checkOf(result, 'lint').details, ['src/a.js:3:5: error  it is so']);
  assert.deepEqual(checkOf(result, 'tests').details, ['sums (test/a.test.js:1:1)']);
});

test('with a target of 0, coverage that nothing can measure fails nothing; tests do', async (t) => {
  const project = testProject(t, null);
  const measured = async (tests: string, coverageTarget = 0, more: { coverage?: string } = {}) => {
    const result = await project.gate({ ...commands({ tests, ...more }), coverageTarget });
    const { outcome, reason } = checkOf(result, 'coverage');
    return [failures(result), outcome, reason] as const;
  };
  const [none, outcome, reason] = await measured('true');
  assert.deepEqual([none, outcome], [[], 'not_measured']);
  assert.match(reason, /^the project has no package\.json.*$/);
  assert.deepEqual((await measured('exit 1'))[0], ['tests']);
  assert.deepEqual((await measured('true', 1)).slice(0, 2), [[], 'not_measured']);
  assert.deepEqual((await measured('true', 1, { coverage: 'true' }))[0], ['coverage']);
  const tests = "printf 'SF:tests/a.js\\nDA:1,1\\nend_of_record\\n' > lcov.info";
  project.write('src/a.js', 'export function a() {}\n');
  assert.deepEqual((await measured(tests)).slice(0, 2), [[], 'not_measured']);
});

test('a project that is none fails its tests with the reason, and says what to give; required is what the settings name', async (t) => {
  const result = await testProject(t, null).gate();
  assert.deepEqual(failures(result), ['tests']);
  for (const check of ['tests', 'coverage'] as const)
    assert.match(
      checkOf(result, check).reason,
      /^the project has no package\.json, go\.mod, pytest configuration or Cargo\.toml/,
    );
  assert.deepEqual(failures(await testProject(t, null).gate({ required: [] })), []);
  assert.equal(checkOf(result, 'performance').reason, 'quality.performance names no command with a budget');
  assert.match(rejection(result, DEFAULT_QUALITY), /tests: the project has no package\.json/);
});

test('findings of an audit are named, the worst first; one that broke off has none and fails', async (t) => {
  const project = testProject(t, null);
  const good = { tests: 'true', coverage: LCOV };
  project.write(
    'audit.json',
    JSON.stringify({
      auditReportVersion: 2,
      vulnerabilities: { a: { name: 'a', severity: 'low' }, b: { name: 'b', severity: 'critical' } },
    }),
  );
  const found = await project.gate(commands({ ...good, security: 'cat audit.json; exit 1' }));
  assert.deepEqual(checkOf(found, 'security').details, ['critical: b', 'low: a']);
  project.write('audit.json', JSON.stringify({ auditReportVersion: 2, vulnerabilities: {} }));
  const broken = await project.gate(commands({ ...good, security: 'cat audit.json; exit 1' }));
  assert.match(checkOf(broken, 'security').reason, wordsLike(GATE_CODES.findings_unreadable, { how: 'ended with 1' }));
});

test('performance: each command within its budget, by the clock that is given; one that fails, or never ends, is over', async (t) => {
  const project = testProject(t, null);
  const good = commands({ tests: 'true', coverage: LCOV });
  const performance = [
    { name: 'broken', command: 'echo why; exit 2', budgetMs: 60_000 },
    { name: 'endless', command: 'exec sleep 300', budgetMs: 1 },
    { name: 'missing', command: 'no-such-program', budgetMs: 60_000 },
    { name: 'quick', command: 'true', budgetMs: 60_000 },
  ];
  const { details } = checkOf(await project.gate({ ...good, performance }), 'performance');
  assert.equal(details[0], 'broken: echo why; exit 2 ended with 2: why');
  assert.match(details[1] ?? '', wordsLike(GATE_CODES.performance_ended, { name: 'endless', ms: /\d+/, budget: 1 }));
  assert.match(
    details[2] ?? '',
    wordsLike(GATE_CODES.check_not_runnable, { command: 'missing:', said: /.*no-such-program/ }),
  );
  assert.equal(details.length, 3);

  let time = 0;
  const now = () => (time += 10);
  const clocked = await project.gate(
    { ...good, performance: [{ name: 'quick', command: 'true', budgetMs: 9 }] },
    { now },
  );
  assert.deepEqual(checkOf(clocked, 'performance').details, ['quick: 10 ms, budget 9 ms']);
});

test('two projects in one root: all tests run, coverage is of both', async (t) => {
  const project = testProject(t, 'go');
  project.program(
    'go',
    `${'for word; do case "$word" in -coverprofile=*)'} printf 'mode: set\\nexample.com/greeter/a.go:1.1,2.2 3 0\\n' > "\${word#*=}";; esac; done; ${prints('go-test-pass.txt', 0)}`,
  );
  project.write('package.json', JSON.stringify({ scripts: { test: LCOV } }));
  const result = await project.gate();
  assert.equal(result.coverage, 25);
  assert.deepEqual(result.uncoveredFiles, ['a.go']);
  assert.equal(checkOf(result, 'tests').outcome, 'passed');
  assert.match(checkOf(result, 'tests').command ?? '', /^npm test && go test .* \.\/\.\.\.$/);
});

test('what commands print is handed on', async (t) => {
  const project = testProject(t, null);
  await project.gate(commands({ tests: 'echo hello', coverage: LCOV }));
  assert.match(project.said(), /^\$ echo hello\nhello\n/);
});

test('source that no test loads is told with its lines, also of a result that was kept', async (t) => {
  const project = testProject(t, 'node');
  project.write('src/api/shout.js', 'export function shout(text) {\n  return text.toUpperCase();\n}\n');
  project.write('src/types.d.ts', 'export function shout(text: string): string;\n');
  for (const result of [await project.gate(), await project.gate()]) {
    assert.equal(result.coverage, 100);
    assert.deepEqual(result.reach?.unreported, [{ path: 'src/api/shout.js', lines: 3 }]);
    const held = coverageOfChange(result, ['src/api/shout.js'], { ...DEFAULT_QUALITY, coverageTarget: 90 });
    assert.ok(failures(held).includes('coverage'));
    assert.match(
      rejection(held, DEFAULT_QUALITY),
      / {2}- src\/api\/shout\.js: not in the coverage report: no test loads it/,
    );
  }
});
