import assert from 'node:assert/strict';
import test from 'node:test';
import { withSkips } from '../../src/domain/new-skips.ts';
import { gateResult } from '../../src/domain/quality.ts';

const PASSED = { outcome: 'passed', details: [], command: 'npm test', figure: null } as const;
const GATE = gateResult({
  tree: 'a',
  checks: [
    { check: 'tests', reason: '3 tests pass, 2 skipped', ...PASSED },
    { check: 'lint', reason: 'no lint errors', ...PASSED },
  ],
  coverage: null,
  uncoveredFiles: [],
});

function reasons(count: number): readonly string[] {
  const skips = Array.from({ length: count }, (_, index) => ({ path: 'a.test.js', line: index + 1, text: '' }));
  return withSkips(GATE, skips).checks.map(({ reason }) => reason);
}

test('what the work has skipped is told with the tests, by its place, and rejects nothing', () => {
  assert.deepEqual(reasons(0), ['3 tests pass, 2 skipped', 'no lint errors']);
  assert.deepEqual(reasons(2), [
    '3 tests pass, 2 skipped; skipped by this work: 2 (a.test.js:1, a.test.js:2)',
    'no lint errors',
  ]);
  assert.match(reasons(7)[0] ?? '', /this work: 7 \(a\.test\.js:1, .*a\.test\.js:5 and 2 more\)$/);
  assert.equal(withSkips(GATE, [{ path: 'a', line: 1, text: '' }]).ok, true);
});
