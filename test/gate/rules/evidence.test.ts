// Evidence of a commit: what its base lacked as well is not held against it.

import assert from 'node:assert/strict';
import test from 'node:test';
import { noEvidence, withoutOldCoverageGap } from '../../../src/gate/rules/evidence.ts';
import { type CheckResult, gateResult } from '../../../src/gate/rules/quality.ts';

const LACK: CheckResult = {
  ...{ check: 'coverage', outcome: 'failed', reason: '25.9 % (expected 80 %)', figure: '25.9 %' },
  ...{ details: [], command: 'node --test' },
};

const at = (coverage: number | null, lack: CheckResult = LACK) =>
  gateResult({ tree: 'commit', checks: [lack], coverage, uncoveredFiles: [] });

test('a lack of coverage is old while it is no less than before, and the base was measured', () => {
  const outcomes = [
    [25.9, 25.9],
    [26, 25.9],
    [25.8, 25.9],
    [25.9, null],
  ].map(([now = null, before = null]) => {
    const { ok, checks } = withoutOldCoverageGap(at(now), before);
    return [checks[0]?.outcome, ok];
  });
  assert.deepEqual(outcomes, [
    ['old_failure', true],
    ['old_failure', true],
    ['failed', false],
    ['failed', false],
  ]);
});

test('a command that fails is no lack of coverage', () => {
  const failures = [{ command: 'c', how: 'ended', names: null, count: null, reason: 'r', details: [] }] as const;
  assert.equal(withoutOldCoverageGap(at(90, { ...LACK, failures }), 90).ok, false);
});

test('what could not be measured is not accepted, and names no place of the machine', () => {
  const { ok, unmeasured, rejection } = noEvidence(
    'c',
    'b',
    "EACCES: '/home/me/x/y.json', https://a.example/b/c, a/b/c",
  );
  assert.equal(ok, false);
  assert.equal(unmeasured, "EACCES: '…/y.json', https://a.example/b/c, a/b/c");
  assert.equal(rejection, unmeasured);
});
