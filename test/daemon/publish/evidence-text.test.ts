// Evidence in the text of a pull request: shown once, first, and hidden by nothing that others wrote.

import assert from 'node:assert/strict';
import test from 'node:test';
import { withEvidence } from '../../../src/daemon/publish/evidence-text.ts';
import { withReview } from '../../../src/daemon/publish/review-text.ts';
import { MAX_BODY } from '../../../src/daemon/publish/tracker-texts.ts';
import { evidenceLine } from '../../../src/daemon/rules/evidence-line.ts';
import { GATE_CODES } from '../../../src/gate/rules/gate-codes.ts';
import { wordsOf } from '../../support/codes.ts';
import { evidenceOf } from '../../support/world.ts';

const FIRST = evidenceOf('first');
const SECOND = evidenceOf('second', { ok: false });
const REVIEWED = {
  ...{ agent: 'reviewer', commit: 'first', failures: 0, findings: [], reason: null, answer: null },
  stage: 'over',
} as const;

function countOf(text: string, part: string): number {
  return text.split(part).length - 1;
}

test('the line for the log says what failed before, and why what has no figure failed', () => {
  const reason = wordsOf(GATE_CODES.check_timed_out, { seconds: 4 });
  const line = (outcome: 'failed' | 'old_failure') =>
    evidenceLine({ ...SECOND, checks: [{ check: 'tests', outcome, reason, figure: null }] });
  assert.equal(line('failed'), `tests failed (${reason})`);
  assert.equal(line('old_failure'), `tests failed before, too (${reason})`);
});

test('later evidence takes the place of earlier evidence, and the same is written once', () => {
  const once = withEvidence('Words of the agent.', FIRST);
  assert.equal(withEvidence(once, FIRST), once);
  const later = withEvidence(once, SECOND);
  assert.equal(countOf(later, '### Checks'), 1);
  assert.match(later, /second[\s\S]*\*\*failed\*\*[\s\S]*Words of the agent\.$/);
  assert.doesNotMatch(later, /first/);
});

test('two blocks and the text are one empty line apart, whichever is written again', () => {
  const both = withReview(withEvidence('Words of the agent.', FIRST), REVIEWED);
  for (const text of [both, withReview(both, REVIEWED), withEvidence(withReview(both, REVIEWED), SECOND)])
    assert.doesNotMatch(text, /\n{3}/);
});

for (const [name, body] of [
  ['an end without a beginning', 'a <!-- /toolcrew:checks --> b'],
  ['a beginning without an end', 'a <!-- toolcrew:checks --> b'],
  ['a block of its own', 'a <!-- toolcrew:checks -->all passed<!-- /toolcrew:checks --> b'],
  ['an open fence', 'a\n\n```\nb'],
  ['open details', '<details>a'],
] as const)
  test(`a body with ${name} hides and doubles nothing`, () => {
    const text = withEvidence(withEvidence(body, FIRST), SECOND);
    assert.ok(text.startsWith('<!-- toolcrew:checks -->\n\n### Checks\n'), text);
    assert.equal(countOf(text, 'toolcrew:checks -->'), 2);
    assert.doesNotMatch(text, /all passed/);
  });

test('words of others are no markup and call nobody', () => {
  const reason = '@everyone <b>see</b> #77 | [x](y)';
  const [check] = SECOND.checks;
  const text = withEvidence('', { ...SECOND, checks: check === undefined ? [] : [{ ...check, reason }] });
  assert.doesNotMatch(text, /@everyone|<b>|#77|\[x\]/);
  assert.match(text, /everyone/);
});

test('a body that is too long is cut behind the evidence', () => {
  const text = withEvidence('x'.repeat(2 * MAX_BODY), FIRST);
  assert.ok(text.length <= MAX_BODY);
  assert.match(text, /### Checks[\s\S]*The rest is cut off/);
});
