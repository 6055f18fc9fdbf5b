import assert from 'node:assert/strict';
import test from 'node:test';
import {
  coverageOf,
  fileLine,
  isTestFile,
  joinCoverage,
  percentText,
  readGoCover,
  readIstanbulFinal,
  readIstanbulSummary,
  readLcov,
  uncovered,
} from '../../../src/gate/rules/coverage.ts';
import { GATE_CODES } from '../../../src/gate/rules/gate-codes.ts';
import { type Check, type CheckResult, DEFAULT_QUALITY, gateResult } from '../../../src/gate/rules/quality.ts';
import { coverageOfChange, reachableLines, unreportedPaths } from '../../../src/gate/rules/uncovered-sources.ts';
import { fixtureText } from '../../support/checks.ts';
import { isOf, wordsOf } from '../../support/codes.ts';

const report = (name: string) => fixtureText(`reports/${name}`);

test('the same run reads the same from lcov and from both forms of istanbul', () => {
  const expected = coverageOf([
    { path: 'm/sum.js', covered: 6, total: 6 },
    { path: 'src/sum.js', covered: 4, total: 6 },
  ]);
  assert.deepEqual(readLcov(report('lcov.info'), '/project'), expected);
  assert.deepEqual(readIstanbulFinal(report('coverage-final.json'), '/project'), expected);
  assert.deepEqual(readIstanbulSummary(report('coverage-summary.json'), '/project'), expected);
  assert.equal(percentText(expected.percent), '83.3 %');
});

test('a profile of Go counts statements, and names files from the module', () => {
  const low = readGoCover(report('go-cover-low.out'), '/project', 'example.com/greeter');
  assert.deepEqual(low.files, [{ path: 'greet/greet.go', percent: 200 / 3, covered: 2, total: 3 }]);
  const twice = `${report('go-cover-low.out')}${report('go-cover.out').replace('mode: set\n', '')}`;
  assert.equal(readGoCover(twice, '/project', 'example.com/greeter').percent, 100, 'a block counts once');
});

test('a file that comes twice counts once, absolute paths are taken from the root, other places are left out', () => {
  const text = [
    ...['TN:a', 'SF:/project/src/a.js', 'DA:1,1', 'DA:2,0', 'end_of_record'],
    ...['TN:b', 'SF:./src/a.js', 'DA:2,3', 'DA:3,0', 'end_of_record'],
    ...['SF:/elsewhere/b.js', 'DA:1,0', 'end_of_record'],
    ...['SF:../c.js', 'DA:1,0', 'end_of_record'],
    ...['SF:node_modules/d/d.js', 'DA:1,0', 'end_of_record'],
  ].join('\n');
  assert.deepEqual(readLcov(text, '/project/').files, [{ path: 'src/a.js', percent: 200 / 3, covered: 2, total: 3 }]);
});

test('what is no report is refused with what was expected', () => {
  const wrong = (expected: string, got?: string) =>
    isOf(GATE_CODES.coverage_format_wrong, got === undefined ? { expected } : { expected, got });
  assert.throws(() => readLcov('hello', '/'), wrong('lines that begin with TN: or SF:'));
  assert.throws(() => readLcov('DA:1,1', '/'), wrong('SF: before the first DA:', 'DA:1,1'));
  const lines = 'file:line.column,line.column statements count';
  assert.throws(() => readGoCover('mode: set\nhello', '/'), wrong(lines, 'hello'));
  assert.throws(() => readIstanbulFinal('[]', '/'), wrong('an object of files'));
  assert.throws(() => readIstanbulFinal('{"a.js":{}}', '/'), wrong('a statementMap at a.js'));
  const summary = '{"a.js":{"lines":{"pct":1}}}';
  assert.throws(() => readIstanbulSummary(summary, '/'), wrong('lines.covered and lines.total at a.js'));
});

test('uncovered files: below the target, the worst first, at most 20', () => {
  const few = coverageOf([
    { path: 'good.js', covered: 8, total: 10 },
    { path: 'half.js', covered: 5, total: 10 },
    { path: 'big.js', covered: 0, total: 100 },
    { path: 'small.js', covered: 0, total: 1 },
    { path: 'empty.js', covered: 0, total: 0 },
  ]);
  assert.deepEqual(uncovered(few, 80).map(fileLine), [
    'big.js: 0 % (0 of 100 lines)',
    'small.js: 0 % (0 of 1 lines)',
    'half.js: 50 % (5 of 10 lines)',
  ]);
  const many = Array.from({ length: 30 }, (_, index) => ({ path: `f${index}.js`, covered: 0, total: 1 }));
  assert.equal(uncovered(coverageOf(many), 80).length, 20);
});

test('what is just below a target does not read as if it had met it', () => {
  assert.equal(percentText(79.999), '79.9 %');
  assert.equal(percentText(80), '80 %');
  assert.equal(percentText(0.7 * 100), '70 %');
});

test('reports of two languages are one', () => {
  const one = coverageOf([{ path: 'a.js', covered: 1, total: 2 }]);
  const other = coverageOf([{ path: 'b.py', covered: 6, total: 6 }]);
  assert.equal(joinCoverage([one, other]).percent, 87.5);
});

test('files that hold tests', () => {
  for (const path of [
    'test/a.js',
    'a.test.mjs',
    'x/a-test.ts',
    'test.js',
    'lib/test-a.cjs',
    'tests/a.py',
    'x/test_a.py',
    'conftest.py',
    'tests/a.js',
    'packages/one/tests/a.rs',
    'src/__tests__/a.tsx',
    'src/a.spec.tsx',
    'src/a.test.helpers.ts',
    'cypress/a.ts',
    'api/a_test.go',
  ])
    assert.ok(isTestFile(path), path);
  for (const path of [
    'src/a.js',
    'src/latest.js',
    'src/contest.py',
    'src/testing.ts',
    'testimony/a.py',
    'src/labs/tests/a.ts',
    'src/commands/test.ts',
    'src/test-run.ts',
    'pod_spec.go',
  ])
    assert.ok(!isTestFile(path), path);
});

const JS = 'export function greet(name) {\n  return name;\n}\n';

test('source that a report could name and does not, and nothing else, is what no test loads', () => {
  const report = coverageOf([
    { path: 'src/greet.js', covered: 3, total: 4 },
    { path: 'lib/a.py', covered: 1, total: 1 },
    { path: 'dist/form.ts', covered: 1, total: 1 },
  ]);
  const files = ['src/greet.js', 'src/api/shout.js', 'lib/a.py', 'lib/b.py', 'web/form.ts', 'main.go', 'README.md'];
  const beside = [
    'test/greet.test.js',
    'src/greet.test.js',
    'src/types.d.ts',
    'eslint.config.js',
    'scripts/build.js',
    'vendor/x.js',
    'dist/greet.js',
    '.github/x.js',
    'src/__mocks__/x.js',
    'setup.py',
    'src/api.gen.js',
    'src/greet.bench.js',
  ];
  // Of TypeScript it names what was built of it, and of Go nothing.
  const left = ['src/api/shout.js', 'lib/b.py'];
  assert.deepEqual(unreportedPaths(report, [...files, ...beside]), left);
  // A file of which nothing ran may have been loaded: it shows nothing of the others.
  const none = coverageOf([...report.files, { path: 'src/none.js', covered: 0, total: 9 }]);
  assert.deepEqual(unreportedPaths(none, [...files, 'src/none.js']), left);
  // Any ending that the report knows counts, whatever the language.
  const vue = coverageOf([{ path: 'src/a.vue', covered: 1, total: 1 }]);
  assert.deepEqual(unreportedPaths(vue, ['src/a.vue', 'src/b.vue', 'src/c.js']), ['src/b.vue']);
  const same = coverageOf([{ path: 'index.js', covered: 1, total: 1 }]);
  assert.deepEqual(unreportedPaths(same, ['index.js', 'src/api/index.js']), ['src/api/index.js']);
});

test('lines that a test could reach are those of files with something that runs', () => {
  assert.equal(reachableLines('a.js', `// Greets.\n\n/*\n * More.\n */\n${JS}`), 3);
  assert.equal(reachableLines('a.ts', 'export interface A {\n  b: string;\n}\nexport type C = A;\n'), 0);
  const ports = 'export interface Port {\n  get(key: string): string;\n  readonly run: (a: string) => void;\n}\n';
  const types =
    'export type A = {\n  get(key: string): string;\n};\nexport type B = (a: A) => void;\ntype C =\n  | A\n  | B;\n';
  assert.equal(reachableLines('a.ts', ports + types), 0);
  assert.equal(reachableLines('a.ts', `${types}export const a = (b: string) => b;\n${ports}`), 1);
  assert.equal(reachableLines('a.ts', 'export const a = (b: string) => b;\n'), 1);
  assert.equal(reachableLines('index.js', "export * from './greet.js';\n"), 0);
  assert.equal(reachableLines('a.js', `/* c8 ignore start */\n${JS}`), 0);
  assert.equal(reachableLines('a.go', '// Code generated by x. DO NOT EDIT.\nfunc a() {\n}\n'), 0);
  assert.equal(reachableLines('a.js', `#!/usr/bin/env node\n'use strict';\n/**\n @generated\n */\n${JS}`), 0);
  assert.equal(reachableLines('a.js', `const head = '// DO NOT EDIT';\n${JS}`), 4, 'what generates');
  assert.equal(reachableLines('a.go', 'package a\n\nfunc b() int {\n\treturn 1\n}\n'), 4);
  assert.equal(reachableLines('a.py', 'def a():\n    return 1\n'), 2);
});

test('a change is held against what no test loads of it, and against nothing else', () => {
  const passed = (check: Check): CheckResult => ({
    check,
    outcome: 'passed',
    reason: 'as it should be',
    details: [],
    command: 'npm test',
    figure: '100 %',
  });
  const unreported = [
    { path: 'src/a.js', lines: 20 },
    { path: 'src/b.js', lines: 70 },
    { path: 'src/old.js', lines: 1000 },
  ];
  const gate = gateResult({
    tree: 't',
    checks: [passed('tests'), passed('coverage')],
    coverage: 100,
    uncoveredFiles: [],
    reach: { covered: 80, total: 80, unreported, below: [] },
  });
  for (const changed of [null, [], ['src/other.js']])
    assert.equal(coverageOfChange(gate, changed, DEFAULT_QUALITY), gate);
  const little = coverageOfChange(gate, ['src/a.js'], DEFAULT_QUALITY);
  assert.deepEqual([little.ok, little.coverage, little.uncoveredFiles], [true, 80, ['src/a.js']]);
  const much = coverageOfChange(gate, ['src/a.js', 'src/b.js'], DEFAULT_QUALITY);
  assert.deepEqual([much.ok, much.uncoveredFiles], [false, ['src/b.js', 'src/a.js']]);
  assert.deepEqual(much.checks[1], {
    ...passed('coverage'),
    outcome: 'failed',
    reason: wordsOf(GATE_CODES.coverage_below_target, {
      ...{ reached: '47 %', target: 80 },
      unreported: '2 changed files that the report does not name',
    }),
    details: [
      'src/b.js: not in the coverage report: no test loads it (0 of 70 lines)',
      'src/a.js: not in the coverage report: no test loads it (0 of 20 lines)',
    ],
    figure: '47 %',
  });
});
