// Verdicts on hypotheses: the required form, and the first proven cause.

import assert from 'node:assert/strict';
import test from 'node:test';
import { findingsOf, readVerdict, unclearRoles } from '../../../src/team/rules/hypothesis-verdict.ts';
import { Story } from '../../support/team.ts';

const OUTPUT = '$ git bisect run npm test\nabc1234 is the first bad commit';

const CASES: readonly (readonly [string, string, string])[] = [
  [`proven: a test was renamed\n${OUTPUT}`, 'proven', 'a test was renamed'],
  [`\n\n**Proven:** a test was renamed\n\n${OUTPUT}\n`, 'proven', 'a test was renamed'],
  [`# refuted: nothing changed\n${OUTPUT}`, 'refuted', 'nothing changed'],
  ['proven: I am sure', 'unclear', 'no command below it shows it'],
  [`proven:\n${OUTPUT}`, 'unclear', 'nothing follows proven:'],
  [`I think it is proven: no\n${OUTPUT}`, 'unclear', 'it does not begin with proven: or refuted:'],
  ['', 'unclear', 'it does not begin with proven: or refuted:'],
];

for (const [result, kind, said] of CASES)
  test(`what came of it: ${JSON.stringify(result.slice(0, 40))}`, () => {
    const verdict = readVerdict(result);
    assert.equal(verdict.kind, kind);
    if (verdict.kind === 'unclear') return assert.equal(verdict.lack, said);
    assert.equal(verdict.kind === 'proven' ? verdict.cause : verdict.why, said);
    assert.equal(verdict.evidence, OUTPUT);
  });

const ROLES = ['hypothesis-1', 'hypothesis-2', 'hypothesis-3'];

function searching(): Story {
  const story = new Story().tell('created', { phase: 'debug', session: null, key_hash: null, roles: ROLES });
  for (const owner of ROLES) story.tell('task_created', { subject: `Try ${owner}`, owner, files: [] });
  return story.join(...ROLES);
}

function says(story: Story, task: string, by: string, result: string): Story {
  return story.later(1).claim(task, by).tell('task_updated', { task, status: 'completed', by, result });
}

test('the first that was proven wins, whatever its number is', () => {
  const story = searching();
  assert.deepEqual([findingsOf(story.state).proven, findingsOf(story.state).isSettled], [null, false]);
  says(story, '3', 'hypothesis-3', `proven: the clock\n${OUTPUT}`);
  says(story, '1', 'hypothesis-1', `proven: a change\n${OUTPUT}`);
  const { proven, isSettled } = findingsOf(story.state);
  assert.deepEqual(
    [proven?.task.owner, proven?.cause, proven?.evidence, isSettled],
    ['hypothesis-3', 'the clock', OUTPUT, false],
  );
});

test('who has not said it in the form is asked once; what failed is over', () => {
  const story = searching();
  says(story, '1', 'hypothesis-1', 'looks good to me');
  says(story, '2', 'hypothesis-2', `refuted: no\n${OUTPUT}`);
  story
    .claim('3', 'hypothesis-3')
    .tell('task_updated', { task: '3', status: 'failed', by: 'hypothesis-3', result: 'x' });
  const findings = findingsOf(story.state);
  assert.deepEqual([findings.isSettled, findings.proven], [true, null]);
  assert.deepEqual(unclearRoles(findings, story.state), ['hypothesis-1']);
  story.tell('task_created', { subject: 'Say it', owner: 'hypothesis-1', files: [] });
  assert.equal(findingsOf(story.state).isSettled, false);
  says(story, '4', 'hypothesis-1', 'still good');
  const again = findingsOf(story.state);
  assert.deepEqual(unclearRoles(again, story.state), []);
  assert.deepEqual(
    again.tried.map(({ task, verdict }) => [task.id, verdict.kind]),
    [
      ['2', 'refuted'],
      ['3', 'unclear'],
      ['4', 'unclear'],
    ],
  );
});
