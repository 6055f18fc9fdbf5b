import assert from 'node:assert/strict';
import test from 'node:test';
import { GATE_CODES } from '../../../src/gate/rules/gate-codes.ts';
import { type CheckResult, gateResult, isForLackOfTests, NO_TESTS } from '../../../src/gate/rules/quality.ts';
import { ruleFiles, ruleWords, withRules } from '../../../src/gate/rules/rule-files.ts';
import { wordsOf } from '../../support/codes.ts';

const RULES = [
  'package.json',
  'packages/web/vitest.config.ts',
  '.nycrc',
  '.c8rc.json',
  'jest.config.cjs',
  'pyproject.toml',
  '.coveragerc',
  '.tool/config/workflow.yaml',
  'eslint.config.js',
  '.eslintrc',
  'biome.json',
  'tsconfig.build.json',
  'ruff.toml',
  'audit-ci.json',
];
const OTHERS = ['package-lock.json', 'src/package.json.ts', 'src/config.ts', 'src/eslint.config.d/x.js', 'tsconfig.ts'];

test('files that decide what is measured are known, wherever they lie', () => {
  assert.deepEqual(ruleFiles([...RULES, ...OTHERS]), [...RULES].sort());
});

test('a check says which of its own were changed, whether or not it passes', () => {
  const check = (name: CheckResult['check'], outcome: CheckResult['outcome']): CheckResult => ({
    ...{ check: name, outcome, reason: 'as it is', details: [], command: null, figure: null },
  });
  const checks = [check('tests', 'passed'), check('lint', 'failed'), check('security', 'not_measured')];
  const gate = gateResult({ tree: 't', checks, coverage: null, uncoveredFiles: [] });
  const reasons = (changed: readonly string[] | null) => withRules(gate, changed).checks.map(({ reason }) => reason);
  const said = (...files: readonly string[]) => `as it is (${wordsOf(GATE_CODES.gate_rules_changed, { files })})`;
  assert.deepEqual(reasons(['package.json', 'biome.json', 'src/a.ts']), [
    said('package.json'),
    said('biome.json', 'package.json'),
    'as it is',
  ]);
  assert.deepEqual(reasons(['src/a.ts']), ['as it is', 'as it is', 'as it is']);
  assert.deepEqual(reasons(null), ['as it is', 'as it is', 'as it is']);
  assert.equal(ruleWords(['src/a.ts']), '');
});

test('a lack of tests stays one beside what was changed', () => {
  const none = {
    check: 'tests',
    outcome: 'failed',
    reason: NO_TESTS,
    details: [],
    command: 'npm test',
    figure: null,
  } as const;
  const gate = gateResult({ tree: 't', checks: [none], coverage: null, uncoveredFiles: [] });
  const [told] = withRules(gate, ['package.json']).checks;
  assert.ok(told?.reason.includes('package.json') && isForLackOfTests(told));
});
