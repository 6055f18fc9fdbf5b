import assert from 'node:assert/strict';
import test from 'node:test';
import type { CheckResult } from '../../../src/gate/rules/quality.ts';
import type { Trust5Summary } from '../../../src/gate/rules/trust5.ts';
import { judgeClaim, unmeasuredClaims } from '../../../src/team/rules/claims.ts';
import type { Gate } from '../../../src/team/rules/log/state.ts';
import type { Content, MessageType } from '../../../src/team/rules/message.ts';

function check(name: CheckResult['check'], other: Partial<CheckResult> = {}): CheckResult {
  return {
    check: name,
    outcome: 'passed',
    reason: 'fine',
    details: [],
    command: `run ${name}`,
    figure: null,
    ...other,
  };
}

const GATE: Gate = {
  at: 1,
  task: '3',
  tree: 'tree-1',
  ok: true,
  checks: [
    check('tests', { figure: '12 tests' }),
    check('coverage', { command: 'npm run coverage' }),
    check('security'),
  ],
  coverage: 61,
};

const SCORES: Trust5Summary = {
  ok: true,
  score: 3.2,
  securityIssues: 0,
  dimensions: [
    { dimension: 'tested', state: 'passed', score: 3, figures: ['tests: 12 tests pass'], source: 'npm test' },
    { dimension: 'secured', state: 'passed', score: 3.4, figures: ['secrets: 0'], source: 'git log -p' },
  ],
};

const tests = (coverage: number, passedTests = 12, failedTests = 0) => ({
  coverage,
  passedTests,
  failedTests,
  duration: '1 s',
});
const quality = (trust5Score: number, securityIssues = 0) => ({
  trust5Score,
  securityIssues,
  performanceScore: 'A',
  recommendation: 'Merge.',
});
const scored = (other: Partial<Trust5Summary> = {}): Gate => ({ ...GATE, trust5: { ...SCORES, ...other } });

const CASES: readonly [string, MessageType, Content, Gate | null, RegExp | null][] = [
  ['what was measured', 'tests_passed', tests(61), GATE, null],
  ['rounded up', 'tests_passed', tests(61.5), GATE, null],
  ['less than was measured', 'tests_passed', tests(50, 3), GATE, null],
  ['nothing was measured', 'tests_passed', tests(87), null, null],
  ['no coverage was measured', 'tests_passed', tests(87), { ...GATE, coverage: null }, null],
  [
    'more coverage than was measured',
    'tests_passed',
    tests(87),
    GATE,
    /^tests_passed claims a coverage of 87 %, but 61 % was measured \(npm run coverage\), at the completion of task 3\. .*that measures again/,
  ],
  [
    'more tests than ran',
    'tests_passed',
    tests(61, 40),
    GATE,
    /^tests_passed claims 40 passed tests, but 12 were measured \(run tests\)/,
  ],
  [
    'tests that pass where they fail',
    'tests_passed',
    tests(61),
    { ...GATE, task: null, checks: [check('tests', { outcome: 'failed', reason: '1 test fails: adds' })] },
    /^tests_passed claims tests that pass, but the gate measured: 1 test fails: adds \(run tests\)\. Send/,
  ],
  ['the score that was measured', 'quality_gate_passed', quality(3.2), scored(), null],
  ['no score was measured', 'quality_gate_passed', quality(4.8), GATE, null],
  [
    'a better score',
    'quality_gate_passed',
    quality(4.8),
    scored(),
    /claims a trust5Score of 4\.8, but 3\.2 was measured: tested 3\.0 \(npm test\), secured 3\.4 \(git log -p\)/,
  ],
  [
    'no issues where there are some',
    'quality_gate_passed',
    quality(3.2),
    scored({ securityIssues: 2, ok: false }),
    /claims 0 security issues, but 2 were found \(git log -p\)/,
  ],
  [
    'no issues where the audit found some',
    'quality_gate_passed',
    quality(3.2),
    { ...GATE, checks: [check('security', { outcome: 'failed', details: ['high: x'] })] },
    /claims 0 security issues, but 1 was found \(run security\)/,
  ],
  [
    'passed where a dimension is not',
    'quality_gate_passed',
    quality(3.2),
    scored({
      ok: false,
      dimensions: [
        ...SCORES.dimensions,
        { dimension: 'unified', state: 'not_measured', score: null, figures: ['formatter: none'], source: 'nothing' },
      ],
    }),
    /claims that the gate is passed, but TRUST 5 says: unified not measured \(formatter: none\)/,
  ],
  ['words are no claim', 'progress', '87 % covered', GATE, null],
  [
    'what others ask for is no claim',
    'coverage_required',
    { current: 99, required: 80, uncoveredFiles: [] },
    GATE,
    null,
  ],
];

for (const [name, type, content, gate, words] of CASES)
  test(`${type}: ${name}`, () => {
    const said = judgeClaim(type, content, gate);
    if (words === null) assert.equal(said, null);
    else assert.match(said ?? 'nothing', words);
  });

test('figures that nothing was measured for are named, each with what is missing', () => {
  const bare: Gate = { ...GATE, coverage: null, checks: [check('security', { outcome: 'not_measured' })] };
  const missing = (...all: readonly (readonly [string, string])[]) =>
    all.map(([field, what]) => `${field}: not compared, since ${what} was not measured`);
  assert.deepEqual(
    unmeasuredClaims('quality_gate_passed', quality(4.8), bare),
    missing(['trust5Score', 'a score'], ['securityIssues', 'security'], ['performanceScore', 'performance']),
  );
  const whole = { ...scored(), checks: [...GATE.checks, check('performance')] };
  assert.deepEqual(unmeasuredClaims('quality_gate_passed', quality(3.2), whole), []);
  assert.deepEqual(unmeasuredClaims('tests_passed', { coverage: 90 }, bare), missing(['coverage', 'coverage']));
  assert.deepEqual(unmeasuredClaims('tests_passed', { coverage: 90 }, GATE), []);
  assert.deepEqual(unmeasuredClaims('quality_gate_passed', quality(4.8), null), []);
});
