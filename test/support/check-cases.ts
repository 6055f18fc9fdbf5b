// Projects that are as they should be, each with the ways in which it fails for one reason at a time.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { Code, ValuesOf } from '../../src/base/rules/codes.ts';
import { GATE_CODES } from '../../src/gate/rules/gate-codes.ts';
import { DEFAULT_QUALITY, type QualitySettings, rejection } from '../../src/gate/rules/quality.ts';
import type { CheckSandbox } from '../../src/gate/run/command.ts';
import { checkOf, commands, copies, failures, prints, type TestProject, testProject } from './checks.ts';
import { END, joined, START, wordsLike, wordsOf } from './codes.ts';
import type { Cleanup } from './temp.ts';

/** One way for a project to fail: what is changed, and what the gate says of it. */
type Case = {
  readonly name: string;
  readonly spoil: (project: TestProject) => void;
  readonly settings?: Partial<QualitySettings>;
  readonly fails: readonly string[];
  readonly reason: RegExp;
  readonly details?: RegExp;
};

export type Kind = {
  readonly name: string;
  readonly make: (t: Cleanup) => TestProject;
  readonly settings: Partial<QualitySettings>;
  readonly passes: { readonly tests: string; readonly coverage: string };
  readonly notMeasured: readonly string[];
  readonly cases: readonly Case[];
};

const QUICK = [{ name: 'start', command: 'true', budgetMs: 60_000 }];
const SLOW: Case = {
  name: 'performance over its budget',
  spoil: () => undefined,
  settings: { performance: [{ name: 'start', command: 'sleep 0.1', budgetMs: 1 }] },
  fails: ['performance'],
  reason: /^start: \d+ ms, budget 1 ms$/,
};

/** The whole reason of that code. */
function exactly<C extends Code>(of: C, values: ValuesOf<C>): RegExp {
  return joined(START, wordsOf(of, values), END);
}

const noReport = (place: RegExp) => {
  const why = wordsLike(GATE_CODES.coverage_report_missing, { place });
  return joined(START, wordsLike(GATE_CODES.coverage_not_measured, { why }));
};

export const node: Kind = {
  name: 'node',
  make: (t) => testProject(t, 'node'),
  settings: { performance: QUICK },
  passes: { tests: '3 tests', coverage: '100 %' },
  notMeasured: [],
  cases: [
    {
      name: 'a failing test',
      spoil: ({ edit }) => edit('test/greet.test.js', "'HELLO, ADA!'", "'HELLO!'"),
      fails: ['tests'],
      reason: /^1 test fails: shouts \(test\/greet\.test\.js:7:1\)$/,
    },
    {
      name: 'coverage below the target',
      spoil: ({ edit }) =>
        edit('test/greet.test.js', "test('shouts', () => assert.equal(shout('Ada'), 'HELLO, ADA!'));", 'shout;'),
      fails: ['coverage'],
      settings: { coverageTarget: 90 },
      reason: exactly(GATE_CODES.coverage_below_target, { reached: '80 %', target: 90 }),
      details: /^src\/greet\.js: 80 % \(8 of 10 lines\)$/m,
    },
    {
      name: 'a lint error',
      spoil: ({ edit }) => edit('src/greet.js', 'export function shout', 'var unused = 1;\n\nexport function shout'),
      fails: ['lint'],
      reason: /^npm run lint ended with 1: src\/greet\.js:8: no-var: use let or const$/,
    },
    {
      name: 'a security finding',
      spoil: ({ edit }) => edit('package.json', '"dependencies": {}', '"dependencies": { "left-out": "1.0.0" }'),
      fails: ['security'],
      reason: /^npm run audit ended with 1: high: left-out runs what it is given$/,
    },
    SLOW,
    {
      name: 'no tests',
      spoil: ({ root }) => rmSync(join(root, 'test'), { recursive: true }),
      fails: ['tests', 'coverage'],
      reason: exactly(GATE_CODES.no_tests_ran, {}),
    },
    {
      name: 'no script for its tests',
      spoil: ({ edit }) =>
        edit('package.json', '"test": "node --test"', '"test": "echo \\"Error: no test specified\\" && exit 1"'),
      fails: ['tests'],
      reason: /^package\.json has no script "test"$/,
    },
    {
      name: 'a manifest that is no JSON',
      spoil: ({ write }) => write('package.json', '{'),
      fails: ['tests', 'coverage', 'lint', 'security', 'performance'],
      reason: joined(START, wordsLike(GATE_CODES.json_unreadable, { file: 'package.json' })),
    },
    {
      name: 'a linter that is not there',
      spoil: ({ edit }) => edit('package.json', 'node tools/lint.js', 'no-such-linter .'),
      fails: ['lint'],
      reason: joined(
        START,
        wordsLike(GATE_CODES.check_not_runnable, { command: 'npm run lint', said: /.*no-such-linter.*not found/ }),
        END,
      ),
    },
  ],
};

export const python: Kind = {
  name: 'python',
  make: (t) => testProject(t, 'python'),
  settings: {
    performance: QUICK,
    ...commands({
      coverage: 'python3 tools/cover.py',
      lint: 'python3 tools/lint.py',
      security: 'python3 tools/audit.py',
    }),
  },
  passes: { tests: '3 tests', coverage: '100 %' },
  notMeasured: [],
  cases: [
    {
      name: 'a failing test',
      spoil: ({ edit }) => edit('tests/test_greeter.py', '"HELLO, ADA!"', '"HELLO!"'),
      fails: ['tests'],
      reason: /^1 test fails: .*test_greeter.*GreeterTest.*test_shouts$/,
    },
    {
      name: 'coverage below the target',
      spoil: ({ edit }) => edit('tests/test_greeter.py', 'self.assertEqual(greet(""), "Hello!")', 'pass'),
      settings: { coverageTarget: 90 },
      fails: ['coverage'],
      reason: exactly(GATE_CODES.coverage_below_target, { reached: '83.3 %', target: 90 }),
      details: /^greeter\/words\.py: 83\.3 % \(5 of 6 lines\)$/m,
    },
    {
      name: 'a lint error',
      spoil: ({ edit }) => edit('greeter/words.py', 'def greet', 'import os\n\ndef greet'),
      fails: ['lint'],
      reason: /greeter\/words\.py:1: os imported but unused$/,
    },
    {
      name: 'a security finding',
      spoil: ({ edit }) => edit('greeter/words.py', 'return greet(name).upper()', 'return eval("greet(name)").upper()'),
      fails: ['security'],
      reason: /greeter\/words\.py: eval of text from outside$/,
    },
    SLOW,
    {
      name: 'a coverage command that leaves no report',
      spoil: ({ edit }) => edit('tools/cover.py', 'open("lcov.info", "w")', 'open("/dev/null", "w")'),
      fails: ['coverage'],
      reason: noReport(/\$TOOL_REPORTS or a usual place/),
    },
  ],
};

/** Programs that print what the real ones printed on the same code, and end as they did. */
function standIns(project: TestProject, name: string, script: string): TestProject {
  project.program(name, script);
  return project;
}

const GO_REPORT = (report: string) =>
  `for word; do case "$word" in -coverprofile=*) ${copies(report, `"\${word#*=}"`)};; esac; done`;
const goProgram = (verb: string, rest: string) => `if [ "$1" = ${verb} ]; then ${rest}; fi; exit 0`;
const goTests = (output: string, exitCode: number, report: string) =>
  `${GO_REPORT(report)}; ${goProgram('test', prints(output, exitCode))}`;

export const go: Kind = {
  name: 'go, its toolchain played with what it really printed',
  make: (t) => {
    const project = standIns(testProject(t, 'go'), 'go', goTests('go-test-pass.txt', 0, 'go-cover.out'));
    return standIns(project, 'govulncheck', 'echo No vulnerabilities found.');
  },
  settings: { performance: QUICK },
  passes: { tests: '', coverage: '100 %' },
  notMeasured: [],
  cases: [
    {
      name: 'a failing test',
      spoil: ({ program }) => program('go', goTests('go-test-fail.txt', 1, 'go-cover.out')),
      fails: ['tests'],
      reason: /^1 test fails: TestHello\/without \(example\.com\/greeter\/greet\/greet_test\.go:13\)$/,
    },
    {
      name: 'coverage below the target',
      spoil: ({ program }) => program('go', goTests('go-test-pass.txt', 0, 'go-cover-low.out')),
      fails: ['coverage'],
      reason: exactly(GATE_CODES.coverage_below_target, { reached: '66.6 %', target: 80 }),
      details: /^greet\/greet\.go: 66\.6 % \(2 of 3 lines\)$/m,
    },
    {
      name: 'a lint error',
      spoil: ({ program }) =>
        program(
          'go',
          `if [ "$1" = vet ]; then ${prints('go-vet-fail.txt', 1)}; fi; ${goTests('go-test-pass.txt', 0, 'go-cover.out')}`,
        ),
      fails: ['lint'],
      reason: /^go vet \.\/\.\.\. ended with 1: greet\/greet\.go:11:9: fmt\.Sprintf format %d/,
      details: /^greet\/greet\.go:11:9: fmt\.Sprintf format %d/m,
    },
    {
      name: 'a security finding',
      spoil: ({ program }) => program('govulncheck', 'echo "Vulnerability #1: in greet"; exit 3'),
      fails: ['security'],
      reason: /^govulncheck \.\/\.\.\. ended with 3: Vulnerability #1: in greet$/,
    },
    SLOW,
    {
      name: 'packages without tests',
      spoil: ({ program }) => program('go', goTests('go-test-none.txt', 0, 'go-cover.out')),
      fails: ['tests'],
      reason: exactly(GATE_CODES.no_tests_ran, {}),
    },
    {
      name: 'a toolchain that is not there',
      spoil: ({ program }) => program('go', 'echo "go: not found" >&2; exit 127'),
      fails: ['tests', 'coverage', 'lint'],
      reason: joined(
        START,
        wordsLike(GATE_CODES.check_not_runnable, { command: /go test .*/, said: 'go: not found' }),
        END,
      ),
    },
  ],
};

const LCOV = (covered: number) =>
  `printf 'TN:\\nSF:src/lib.rs\\nDA:1,1\\nDA:2,1\\nDA:3,${covered}\\nDA:4,${covered}\\nend_of_record\\n' >"$TOOL_REPORTS/rust.info"`;
const cargo = (answers: Readonly<Record<string, string>>) =>
  `case "$1" in ${Object.entries({ test: prints('cargo-test-pass.txt', 0), 'llvm-cov': LCOV(1), ...answers })
    .map(([verb, script]) => `${verb}) ${script};;`)
    .join(' ')} esac`;

export const rust: Kind = {
  name: 'rust, its toolchain played with what it really printed',
  make: (t) =>
    ['cargo-clippy', 'cargo-llvm-cov', 'cargo-audit'].reduce(
      (project, name) => standIns(project, name, 'exit 0'),
      standIns(testProject(t, 'rust'), 'cargo', cargo({})),
    ),
  settings: { performance: QUICK },
  passes: { tests: '2 tests', coverage: '100 %' },
  notMeasured: [],
  cases: [
    {
      name: 'a failing test',
      spoil: ({ program }) => program('cargo', cargo({ test: prints('cargo-test-fail.txt', 101) })),
      fails: ['tests'],
      reason: /^1 test fails: tests::greets_nobody \(src\/lib\.rs:19:9\)$/,
    },
    {
      name: 'coverage below the target',
      spoil: ({ program }) => program('cargo', cargo({ 'llvm-cov': LCOV(0) })),
      fails: ['coverage'],
      reason: exactly(GATE_CODES.coverage_below_target, { reached: '50 %', target: 80 }),
      details: /^src\/lib\.rs: 50 % \(2 of 4 lines\)$/m,
    },
    {
      name: 'a lint error',
      spoil: ({ program }) => program('cargo', cargo({ clippy: prints('cargo-clippy-fail.txt', 101) })),
      fails: ['lint'],
      reason: /^cargo clippy -- -D warnings ended with 101: src\/lib\.rs:5:5: error: unneeded `return` statement$/,
      details: /^src\/lib\.rs:5:5: error: unneeded `return` statement$/m,
    },
    {
      name: 'a security finding',
      spoil: ({ program }) => program('cargo', cargo({ audit: 'echo "error: 1 vulnerability found!"; exit 1' })),
      fails: ['security'],
      reason: /^cargo audit ended with 1: error: 1 vulnerability found!$/,
    },
    SLOW,
    {
      name: 'a coverage run that breaks off',
      spoil: ({ program }) => program('cargo', cargo({ 'llvm-cov': 'echo broken; exit 1' })),
      fails: ['coverage'],
      reason: noReport(/\$TOOL_REPORTS/),
    },
  ],
};

/** One test for the project as it should be, one for each way of failing. */
type MakeSandbox = (t: Cleanup, root: string, bin: string) => Promise<CheckSandbox>;

/** @param makeSandbox where its commands run; undefined: where the test does */
export function testKind({ name, make, settings, passes, notMeasured, cases }: Kind, makeSandbox?: MakeSandbox): void {
  const inSandbox = (t: Cleanup) =>
    makeSandbox === undefined ? {} : { sandbox: (root: string, bin: string) => makeSandbox(t, root, bin) };
  test(`${name}: as it should be`, async (t) => {
    const result = await make(t).gate(settings, inSandbox(t));
    assert.deepEqual(failures(result), [], JSON.stringify(result.checks, null, 1));
    assert.equal(result.ok, true);
    assert.equal(checkOf(result, 'tests').figure ?? '', passes.tests);
    assert.equal(checkOf(result, 'coverage').figure, passes.coverage);
    assert.equal(result.coverage, 100);
    assert.deepEqual(
      result.checks.filter((check) => check.outcome === 'not_measured').map((check) => check.check),
      notMeasured,
    );
  });

  for (const { name: what, spoil, settings: more, fails, reason, details } of cases)
    test(`${name}: ${what}`, async (t) => {
      const project = make(t);
      spoil(project);
      const result = await project.gate({ ...settings, ...more }, inSandbox(t));
      assert.deepEqual(failures(result), fails, JSON.stringify(result.checks, null, 1));
      assert.equal(result.ok, false);
      const bad = result.checks.filter((check) => check.outcome === 'failed');
      assert.match(bad[0]?.reason ?? '', reason);
      if (details !== undefined) assert.match(bad[0]?.details.join('\n') ?? '', details);
      const said = rejection(result, { ...DEFAULT_QUALITY, ...settings, ...more });
      assert.ok(said.length <= 2_000 && fails.every((check) => said.includes(`\n${check}: `)), said);
    });
}
