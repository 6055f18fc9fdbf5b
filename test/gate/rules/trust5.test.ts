import assert from 'node:assert/strict';
import test from 'node:test';
import { GATE_CODES } from '../../../src/gate/rules/gate-codes.ts';
import {
  type CheckResult,
  DEFAULT_QUALITY,
  type Dimension,
  type QualitySettings,
} from '../../../src/gate/rules/quality.ts';
import {
  summaryOf,
  type Trust5,
  type Trust5Facts,
  trust5Lines,
  trust5Of,
  trust5Reason,
} from '../../../src/gate/rules/trust5.ts';
import type { CommandFacts, Finding } from '../../../src/gate/rules/trust5-facts.ts';
import { joined, wordsLike, wordsOf } from '../../support/codes.ts';

function check(name: CheckResult['check'], other: Partial<CheckResult> = {}): CheckResult {
  const reason = `${name} is fine`;
  return { check: name, outcome: 'passed', reason, details: [], command: `run ${name}`, figure: null, ...other };
}

const finding = (path: string | null, words = 'bad'): Finding => ({ path, line: path === null ? null : 7, words });
const commit = (id: string, task: string | null, namesSpec = true) => ({
  id,
  subject: `Work ${id}`,
  task,
  namesSpec,
  isTeams: true,
  path: `src/${id}.js`,
});

const complexity: CommandFacts = { source: 'eslint', files: 4, findings: [] };

const GOOD: Trust5Facts = {
  gate: { checks: [check('tests'), check('coverage'), check('lint'), check('security')], coverage: 90 },
  format: { source: 'prettier --check', files: 4, findings: [] },
  complexity,
  secrets: { source: 'git log -p', lines: 20, allowed: 0, findings: [] },
  commits: { source: 'git log', commits: [commit('a1', '1'), commit('b2', '2')], spec: 'SPEC-AUTH-001', tasks: null },
};

function facts(other: Partial<Trust5Facts>, ...checks: readonly CheckResult[]): Trust5Facts {
  const kept = GOOD.gate.checks.filter((one) => !checks.some((given) => given.check === one.check));
  return { ...GOOD, gate: { ...GOOD.gate, checks: [...kept, ...checks] }, ...other };
}

const settings = (trust5: Partial<QualitySettings['trust5']> = {}): QualitySettings => ({
  ...DEFAULT_QUALITY,
  trust5: { ...DEFAULT_QUALITY.trust5, ...trust5 },
});

function of(result: Trust5, dimension: Dimension) {
  const found = result.dimensions.find((one) => one.dimension === dimension);
  assert.ok(found);
  return found;
}

test('work that is as it should be has 5 in everything, with figures and their sources', () => {
  const result = trust5Of(GOOD, settings());
  assert.equal(result.ok, true);
  assert.equal(result.score, 5);
  assert.equal(result.securityIssues, 0);
  assert.deepEqual(trust5Lines(summaryOf(result)), [
    'tested    5.0 passed       tests: tests is fine; coverage: coverage is fine [run tests; run coverage]',
    'readable  5.0 passed       lint: lint is fine; complexity: 4 of 4 changed files without a finding [run lint; eslint]',
    'unified   5.0 passed       formatter: 4 of 4 changed files without a finding [prettier --check]',
    'secured   5.0 passed       security: security is fine; secrets: 0 in 20 added lines [run security; git log -p]',
    'trackable 5.0 passed       commits: 2 of 2 name a task; commits: 2 of 2 name SPEC-AUTH-001 [git log]',
    'TRUST 5   5.0 passed',
  ]);
});

const failed = (name: CheckResult['check'], ...details: readonly string[]) =>
  check(name, { outcome: 'failed', reason: `${name} failed`, details });

/** What is different, of which dimension it speaks, and the score that it makes; null: not measured. */
const SCORES: readonly [string, Trust5Facts, Dimension, 'passed' | 'failed' | 'not_measured', number | null][] = [
  ['a failing test', facts({}, failed('tests', 'adds')), 'tested', 'failed', 2.5],
  [
    'half the coverage',
    facts({ gate: { checks: [check('tests'), failed('coverage')], coverage: 40 } }),
    'tested',
    'failed',
    3.7,
  ],
  [
    'enough coverage, but the command says no',
    facts({ gate: { checks: [check('tests'), failed('coverage')], coverage: 95 } }),
    'tested',
    'failed',
    4.9,
  ],
  [
    'no coverage',
    facts({ gate: { checks: [check('tests'), failed('coverage')], coverage: null } }),
    'tested',
    'failed',
    2.5,
  ],
  ['unmeasured coverage', facts({}, check('coverage', { outcome: 'not_measured' })), 'tested', 'not_measured', null],
  ['no tests at all', facts({ gate: { checks: [], coverage: null } }), 'tested', 'not_measured', null],
  ['lint errors', facts({}, failed('lint', 'src/a.js:3:1: no-var')), 'readable', 'failed', 2.5],
  ['no linter', facts({}, check('lint', { outcome: 'not_measured' })), 'readable', 'passed', 5],
  [
    'no linter, and a file that is too complex',
    facts({ complexity: { ...complexity, findings: [finding('a.js')] } }, check('lint', { outcome: 'not_measured' })),
    'readable',
    'failed',
    3.7,
  ],
  [
    'one of four files that is too complex',
    facts({ complexity: { ...complexity, findings: [finding('a.js')] } }),
    'readable',
    'failed',
    4.3,
  ],
  ['code that nothing measures', facts({ complexity: { unmeasured: 'no command' } }), 'readable', 'passed', 5],
  ['no changed file', facts({ complexity: { ...complexity, files: 0 } }), 'readable', 'passed', 5],
  [
    'one of four files',
    facts({ format: { source: 's', files: 4, findings: [finding('a.js')] } }),
    'unified',
    'failed',
    3.7,
  ],
  [
    'a formatter that fails',
    facts({ format: { source: 's', files: 4, findings: [finding(null)] } }),
    'unified',
    'failed',
    0,
  ],
  ['no formatter', facts({ format: { unmeasured: 'no tool' } }), 'unified', 'not_measured', null],
  ['no file to format', facts({ format: { source: 's', files: 0, findings: [] } }), 'unified', 'passed', 5],
  ['an audit with findings', facts({}, failed('security', 'high: x', 'low: y')), 'secured', 'failed', 2.5],
  ['no audit', facts({}, check('security', { outcome: 'not_measured' })), 'secured', 'passed', 5],
  [
    'no audit, and a secret',
    facts(
      { secrets: { source: 's', lines: 1, allowed: 0, findings: [finding('a.js')] } },
      check('security', { outcome: 'not_measured' }),
    ),
    'secured',
    'failed',
    0,
  ],
  [
    'a commit without a task',
    facts({ commits: { source: 's', commits: [commit('a', null), commit('b', '1')], spec: null, tasks: null } }),
    'trackable',
    'failed',
    2.5,
  ],
  [
    'a commit without the SPEC',
    facts({
      commits: { source: 's', commits: [commit('a', '1', false), commit('b', '1')], spec: 'SPEC-A-001', tasks: null },
    }),
    'trackable',
    'failed',
    3.7,
  ],
  [
    'no commit',
    facts({ commits: { source: 's', commits: [], spec: null, tasks: null } }),
    'trackable',
    'not_measured',
    null,
  ],
];

for (const [name, given, dimension, state, score] of SCORES)
  test(`${name}: ${dimension} ${state} ${score ?? ''}`, () => {
    const result = trust5Of(given, settings());
    const found = of(result, dimension);
    assert.deepEqual([found.state, found.score], [state, score]);
    assert.equal(result.ok, state === 'passed' || (state === 'not_measured' && dimension !== 'tested'));
    for (const other of result.dimensions)
      if (other.dimension !== dimension && given.gate.checks.length === 4)
        assert.equal(other.state, 'passed', other.dimension);
  });

test('a part that is not measured fails only where quality.required names it', () => {
  const none = facts({ format: { unmeasured: 'no tool' } }, check('lint', { outcome: 'not_measured' }));
  const requiring = (...required: QualitySettings['required']) => ({ ...settings(), required });
  assert.equal(trust5Of(none, settings()).ok, true);
  assert.equal(trust5Of(none, requiring('security', 'complexity')).ok, true);
  assert.equal(trust5Of(none, requiring('format')).ok, false);
  const readable = of(trust5Of(none, requiring('lint')), 'readable');
  assert.deepEqual([readable.state, readable.score], ['not_measured', null]);
  assert.ok(readable.figures.includes('quality.required names lint'));
  const bad = facts({ format: { source: 's', files: 1, findings: [finding('a.js')] } });
  assert.equal(trust5Of(bad, requiring()).ok, false, 'a failure counts whatever is required');
});

test('coverage that is not measured, and of which nothing is asked, is as good as any; without tests nothing is', () => {
  const none = { ...settings(), coverageTarget: 0 };
  const unmeasured = check('coverage', { outcome: 'not_measured' });
  const tested = (one: CheckResult) => of(trust5Of(facts({}, one, unmeasured), none), 'tested');
  assert.deepEqual([tested(check('tests')).state, tested(check('tests')).score], ['passed', 5]);
  assert.match(
    tested(check('tests')).figures.join('; '),
    wordsLike(GATE_CODES.part_not_measured, { part: 'coverage' }),
  );
  assert.deepEqual([tested(failed('tests')).state, tested(failed('tests')).score], ['failed', 2.5]);
  assert.equal(tested(check('tests', { outcome: 'not_measured' })).state, 'not_measured');
});

test('what is not passed says by what, with the thresholds; what is not measured stands beside it', () => {
  const mixed = facts(
    {
      complexity: { ...complexity, findings: [finding('a.js')] },
      format: { unmeasured: 'there is no formatter' },
    },
    check('security', { outcome: 'not_measured', reason: 'there is no audit' }),
  );
  const summary = summaryOf(trust5Of(mixed, { ...settings(), required: ['security'] }));
  const lines = trust5Lines(summary);
  assert.match(lines[1] ?? '', /^readable {2}4\.3 failed .*; complexity: 3 of 4 .*; expected at least 5 \[/);
  assert.match(
    lines[2] ?? '',
    joined(
      /^unified {5}– not measured /,
      wordsOf(GATE_CODES.part_not_measured, { part: 'formatter', why: 'there is no formatter' }),
      / \[nothing\]$/,
    ),
  );
  assert.equal(lines.at(-1), 'TRUST 5   4.7 not passed: readable failed, secured not measured');
  assert.match(
    trust5Reason(summary),
    wordsLike(GATE_CODES.trust5_not_passed, {
      dimensions: /readable failed \(lint: .*; expected at least 5\), secured not measured$/,
    }),
  );
});

test('nothing measured is nothing passed, whatever the settings say', () => {
  const nothing: Trust5Facts = {
    gate: { checks: [], coverage: null },
    format: { unmeasured: 'a' },
    complexity: { unmeasured: 'b' },
    secrets: { unmeasured: 'c' },
    commits: { unmeasured: 'd' },
  };
  const all = { ...settings(), required: [] };
  const result = trust5Of(nothing, all);
  assert.deepEqual([result.ok, result.score, result.securityIssues], [false, null, null]);
  assert.equal(trust5Lines(summaryOf(result)).at(-1), 'TRUST 5     – not passed: nothing is measured');
});

test('min_score lets shares be missing, and never a test, a lint error or a secret', () => {
  const loose = settings({ minScore: 2 });
  const shares = facts({
    format: { source: 's', files: 4, findings: [finding('a.js')] },
    complexity: { ...complexity, findings: [finding('a.js')] },
    commits: { source: 's', commits: [commit('a', null), commit('b', '1')], spec: null, tasks: null },
  });
  assert.equal(trust5Of(shares, settings()).ok, false);
  assert.equal(trust5Of(shares, loose).ok, true);
  assert.equal(of(trust5Of(shares, loose), 'unified').findings.length, 1, 'what is wrong stays known');
  for (const name of ['tests', 'coverage', 'lint', 'security'] as const)
    assert.equal(trust5Of(facts({}, failed(name, 'x')), loose).ok, false, name);
  const secret = facts({ secrets: { source: 's', lines: 1, allowed: 0, findings: [finding('a.js')] } });
  assert.equal(trust5Of(secret, loose).ok, false);
});

test('a score is never rounded up, the whole is the mean of what was measured', () => {
  const commits = Array.from({ length: 100 }, (_, index) => commit(`c${index}`, index === 0 ? null : '1'));
  const almost = facts({ commits: { source: 's', commits, spec: null, tasks: null } });
  assert.equal(of(trust5Of(almost, settings()), 'trackable').score, 4.9);
  const result = trust5Of(facts({ format: { unmeasured: 'none' } }, failed('tests', 'adds')), settings());
  assert.equal(result.score, 4.3, '2.5 + 5 + 5 + 5 over 4');
});

test('security issues: findings of the audit and secrets together', () => {
  const secrets = { source: 's', lines: 1, allowed: 0, findings: [finding('a.js'), finding('b.js')] };
  const issues = (given: Trust5Facts) => trust5Of(given, settings()).securityIssues;
  assert.equal(issues(facts({ secrets }, failed('security', 'high: x'))), 3);
  assert.equal(issues(facts({}, failed('security'))), 1, 'an audit that fails has found something');
  assert.equal(issues(facts({ secrets }, check('security', { outcome: 'not_measured' }))), 2);
});

test('findings have their places, also those that a linter prints', () => {
  const result = trust5Of(
    facts({}, failed('lint', './src/a.js:3:1: no-var', 'src/b.go(7): odd', 'all told: 2')),
    settings(),
  );
  assert.deepEqual(of(result, 'readable').findings, [
    { path: 'src/a.js', line: 3, words: 'no-var' },
    { path: 'src/b.go', line: 7, words: 'odd' },
    { path: null, line: null, words: 'all told: 2' },
  ]);
  assert.ok(!('findings' in (summaryOf(result).dimensions[0] ?? {})), 'a log keeps the figures alone');
});
