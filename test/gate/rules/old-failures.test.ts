import assert from 'node:assert/strict';
import test from 'node:test';
import { testsResult } from '../../../src/gate/rules/check-results.ts';
import { GATE_CODES } from '../../../src/gate/rules/gate-codes.ts';
import {
  type Baseline,
  failuresOf,
  remainingOldFailures,
  withoutOldFailures,
} from '../../../src/gate/rules/old-failures.ts';
import { type CheckResult, DEFAULT_QUALITY, type Failure, gateResult } from '../../../src/gate/rules/quality.ts';
import { trust5Of } from '../../../src/gate/rules/trust5.ts';
import { wordsLike, wordsOf } from '../../support/codes.ts';

function failure(more: Partial<Failure> = {}): Failure {
  const names = more.names === undefined ? ['adds (test/a.test.js:3:1)'] : more.names;
  const count = names?.length ?? null;
  return { command: 'npm test', how: 'ended', count, reason: 'it fails', details: [], ...more, names };
}

function check(more: Partial<CheckResult> = {}): CheckResult {
  return {
    check: 'tests',
    outcome: 'failed',
    reason: 'it fails',
    details: [],
    command: 'npm test',
    figure: null,
    ...more,
  };
}

function failed(...failures: readonly Failure[]): CheckResult {
  return check({ failures });
}

function before(checks: readonly CheckResult[], coverage: number | null = null): Baseline {
  return { at: 0, checks, coverage, old: failuresOf(checks) };
}

function held(checks: readonly CheckResult[], was: Baseline | null, coverage: number | null = null) {
  return withoutOldFailures(gateResult({ tree: 't', checks, coverage, uncoveredFiles: [] }), was);
}

test('by name: what failed before is old, wherever it stands now, and what newly fails is not', () => {
  const was = before([failed(failure())]);
  const same = held([failed(failure({ names: ['adds (test/a.test.js:40:7)'] }))], was);
  assert.deepEqual([same.ok, same.checks[0]?.outcome], [true, 'old_failure']);
  const both = held([failed(failure({ names: ['adds (test/a.test.js:3:1)', 'greets (test/b.test.js:3:1)'] }))], was);
  const [tests] = both.checks;
  assert.deepEqual([both.ok, tests?.outcome, tests?.details], [false, 'failed', ['greets (test/b.test.js:3:1)']]);
  assert.equal(
    tests?.reason,
    `1 newly fails: greets (test/b.test.js:3:1); ${wordsOf(GATE_CODES.base_failures_ignored, { amount: '1 failure is', count: 1 })}`,
  );
});

test('two of one name are two, and more that have no name are new', () => {
  const was = before([failed(failure({ names: ['adds (a.js:1)'], count: 2 }))]);
  const cases = [
    [failure({ names: ['adds (a.js:1)'], count: 2 }), 'old_failure'],
    [failure({ names: ['adds (a.js:1)', 'adds (a.js:9)'], count: 3 }), 'failed'],
    [failure({ names: ['adds (a.js:1)'], count: 3 }), 'failed'],
  ] as const;
  for (const [now, outcome] of cases) assert.equal(held([failed(now)], was).checks[0]?.outcome, outcome);
});

test('where single tests were not told apart, the command is old as a whole, and says so', () => {
  const was = before([failed(failure({ names: null }))]);
  const [tests] = held([failed(failure({ names: null }))], was).checks;
  assert.equal(tests?.outcome, 'old_failure');
  assert.match(tests?.reason ?? '', wordsLike(GATE_CODES.tests_failed_before));
});

test('another command, another end, or one that tells no tests any more fails for the work', () => {
  const was = before([failed(failure())]);
  for (const now of [{ command: 'pytest' }, { how: 'timed_out' as const }, { names: null }])
    assert.equal(held([failed(failure(now))], was).checks[0]?.outcome, 'failed');
  assert.equal(held([failed(failure())], null).ok, false, 'nothing is known of before');
  const [tests] = held([failed(failure(), failure({ command: 'pytest', names: ['b'] }))], was).checks;
  assert.deepEqual([tests?.outcome, tests?.details, tests?.command], ['failed', ['b'], 'pytest']);
});

test('too little coverage counts, but for what old failures keep from running', () => {
  const coverage = check({ check: 'coverage', figure: '40 %' });
  const cases = [
    [before([failed(failure({ names: null })), coverage], 40), 30, 'old_failure'],
    [before([failed(failure()), coverage], 40), 40, 'old_failure'],
    [before([failed(failure()), coverage], 40), 39, 'failed'],
    [before([check({ outcome: 'passed' }), coverage], 40), 40, 'failed'],
  ] as const;
  for (const [was, now, outcome] of cases) {
    const tests = was.checks[0] ?? check();
    assert.equal(held([tests, coverage], was, now).checks[1]?.outcome, outcome);
  }
  const lost = check({ check: 'coverage', failures: [failure({ names: null })] });
  assert.equal(held([lost], before([lost])).checks[0]?.outcome, 'old_failure', 'no report, then and now');
});

test('what has passed once is old no more', () => {
  const { old } = before([failed(failure({ names: ['a', 'b'] }), failure({ command: 'pytest', names: null }))]);
  assert.deepEqual(remainingOldFailures(old, [check({ outcome: 'passed' })]), []);
  assert.deepEqual(remainingOldFailures(old, [check({ outcome: 'not_measured' })]), old);
  const [first, ...more] = remainingOldFailures(old, [failed(failure({ names: ['b', 'c'] }))]);
  assert.deepEqual([first?.names, more.map(({ command }) => command)], [['b'], ['pytest']]);
});

test('an old failure neither passes nor fails TRUST 5, and nobody is to make it measurable', () => {
  const lint = check({ check: 'lint', outcome: 'passed', command: 'lint' });
  const [tests = check()] = held([failed(failure())], before([failed(failure())])).checks;
  const coverage = check({ check: 'coverage', outcome: 'old_failure' });
  const facts = { unmeasured: 'nothing' };
  const trust5 = trust5Of(
    {
      gate: { checks: [tests, coverage, lint], coverage: null },
      format: facts,
      complexity: facts,
      secrets: facts,
      commits: facts,
    },
    DEFAULT_QUALITY,
  );
  const [tested] = trust5.dimensions;
  assert.deepEqual([trust5.ok, tested?.state, tested?.score], [true, 'not_measured', null]);
  assert.match(tested?.figures[0] ?? '', /^tests: old failure: /);
});

test('a result names the command that fails, with its tests where it tells them apart', () => {
  const failuresIn = (output: string) => {
    const end = { command: 'a', exitCode: 1, timedOut: false, durationMs: 1, output };
    return testsResult(end, 1000).result.failures?.map(({ command, how, names }) => [command, how, names]);
  };
  assert.deepEqual(failuresIn('not ok 1 - adds\n'), [['a', 'ended', ['adds']]]);
  assert.deepEqual(failuresIn('no such file\n'), [['a', 'ended', null]]);
});
