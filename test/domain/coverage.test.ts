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
} from '../../src/domain/coverage.ts';
import { fixtureText } from '../support/checks.ts';

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
  assert.throws(() => readLcov('hello', '/'), /expected lines that begin with TN: or SF:/);
  assert.throws(() => readLcov('DA:1,1', '/'), /expected SF: before the first DA:/);
  assert.throws(
    () => readGoCover('mode: set\nhello', '/'),
    /expected file:line.column,line.column statements count, got hello/,
  );
  assert.throws(() => readIstanbulFinal('[]', '/'), /expected an object of files/);
  assert.throws(() => readIstanbulFinal('{"a.js":{}}', '/'), /expected a statementMap at a\.js/);
  assert.throws(
    () => readIstanbulSummary('{"a.js":{"lines":{"pct":1}}}', '/'),
    /expected lines\.covered and lines\.total at a\.js/,
  );
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
  ])
    assert.ok(isTestFile(path), path);
  for (const path of ['src/a.js', 'src/latest.js', 'src/contest.py', 'src/testing.ts', 'testimony/a.py'])
    assert.ok(!isTestFile(path), path);
});
