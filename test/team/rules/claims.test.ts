import assert from 'node:assert/strict';
import test from 'node:test';
import type { Refusal } from '../../../src/base/rules/codes.ts';
import type { CheckResult } from '../../../src/gate/rules/quality.ts';
import type { Trust5Summary } from '../../../src/gate/rules/trust5.ts';
import { judgeClaim, unmeasuredClaims } from '../../../src/team/rules/claims.ts';
import { MESSAGES_CODES } from '../../../src/team/rules/codes/messages-codes.ts';
import type { Gate } from '../../../src/team/rules/log/state.ts';
import type { Content, MessageType } from '../../../src/team/rules/message.ts';
import { type Why, why } from '../../support/team.ts';

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

const CASES: readonly [string, MessageType, Content, Gate | null, Why | null][] = [
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
    why(MESSAGES_CODES.claim_not_measured_so, {
      ...{ type: 'tests_passed', field: 'coverage', claimed: 'a coverage of 87 %' },
      ...{ measured: '61 % was measured (npm run coverage)', task: '3' },
    }),
  ],
  [
    'more tests than ran',
    'tests_passed',
    tests(61, 40),
    GATE,
    why(MESSAGES_CODES.claim_not_measured_so, {
      ...{ type: 'tests_passed', field: 'passedTests', claimed: '40 passed tests' },
      ...{ measured: '12 were measured (run tests)', task: '3' },
    }),
  ],
  [
    'tests that pass where they fail',
    'tests_passed',
    tests(61),
    { ...GATE, task: null, checks: [check('tests', { outcome: 'failed', reason: '1 test fails: adds' })] },
    why(MESSAGES_CODES.claim_not_measured_so, {
      ...{ type: 'tests_passed', field: 'failedTests', claimed: 'tests that pass' },
      ...{ measured: 'the gate measured: 1 test fails: adds (run tests)', task: undefined },
    }),
  ],
  ['the score that was measured', 'quality_gate_passed', quality(3.2), scored(), null],
  ['no score was measured', 'quality_gate_passed', quality(4.8), GATE, null],
  [
    'a better score',
    'quality_gate_passed',
    quality(4.8),
    scored(),
    why(MESSAGES_CODES.claim_not_measured_so, {
      ...{ type: 'quality_gate_passed', field: 'trust5Score', claimed: 'a trust5Score of 4.8' },
      ...{ measured: '3.2 was measured: tested 3.0 (npm test), secured 3.4 (git log -p)', task: '3' },
    }),
  ],
  [
    'no issues where there are some',
    'quality_gate_passed',
    quality(3.2),
    scored({ securityIssues: 2, ok: false }),
    why(MESSAGES_CODES.claim_not_measured_so, {
      ...{ type: 'quality_gate_passed', field: 'securityIssues', claimed: '0 security issues' },
      ...{ measured: '2 were found (git log -p)', task: '3' },
    }),
  ],
  [
    'no issues where the audit found some',
    'quality_gate_passed',
    quality(3.2),
    { ...GATE, checks: [check('security', { outcome: 'failed', details: ['high: x'] })] },
    why(MESSAGES_CODES.claim_not_measured_so, {
      ...{ type: 'quality_gate_passed', field: 'securityIssues', claimed: '0 security issues' },
      ...{ measured: '1 was found (run security)', task: '3' },
    }),
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
    why(MESSAGES_CODES.claim_not_measured_so, {
      ...{ type: 'quality_gate_passed', field: 'quality_gate_passed', claimed: 'that the gate is passed' },
      ...{ measured: 'TRUST 5 says: unified not measured (formatter: none)', task: '3' },
    }),
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

for (const [name, type, content, gate, reason] of CASES)
  test(`${type}: ${name}`, () => {
    const said = judgeClaim(type, content, gate);
    if (reason === null) assert.equal(said, null);
    else reason.holds(said);
  });

test('figures that nothing was measured for are named, each with what is missing', () => {
  const bare: Gate = { ...GATE, coverage: null, checks: [check('security', { outcome: 'not_measured' })] };
  const missing = (...all: readonly (readonly [string, string])[]) => all.map(([field, what]) => ({ field, what }));
  const named = (all: readonly Refusal[]) =>
    all.map(({ of, values }) => {
      assert.equal(of, MESSAGES_CODES.claim_not_compared);
      return values;
    });
  assert.deepEqual(
    named(unmeasuredClaims('quality_gate_passed', quality(4.8), bare)),
    missing(['trust5Score', 'a score'], ['securityIssues', 'security'], ['performanceScore', 'performance']),
  );
  const whole = { ...scored(), checks: [...GATE.checks, check('performance')] };
  assert.deepEqual(unmeasuredClaims('quality_gate_passed', quality(3.2), whole), []);
  assert.deepEqual(named(unmeasuredClaims('tests_passed', { coverage: 90 }, bare)), missing(['coverage', 'coverage']));
  assert.deepEqual(unmeasuredClaims('tests_passed', { coverage: 90 }, GATE), []);
  assert.deepEqual(unmeasuredClaims('quality_gate_passed', quality(4.8), null), []);
});
