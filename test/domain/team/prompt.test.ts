import assert from 'node:assert/strict';
import test from 'node:test';
import { approvalOf, changesOf, endedRunOf, mayConcernTeam } from '../../../src/domain/team/prompt.ts';

test('what the user wants otherwise is said with that word, and is taken as it stands', () => {
  const cases: readonly (readonly [string, string | null])[] = [
    ['changes: the button shall be red', 'the button shall be red'],
    ['Change:  two\nlines \n', 'two\nlines'],
    ['changes:', null],
    ['changes', null],
    ['the changes: none', null],
    ['/tool:1-plan changes: x', null],
    ['<task-notification>changes: x</task-notification>', null],
  ];
  for (const [prompt, words] of cases) assert.equal(changesOf(prompt), words, prompt);
});

test('a prompt that may concern a team is a command, an approval, or a change', () => {
  for (const prompt of ['/tool:1-plan x', 'approve', 'approve SPEC-A-001', 'changes: x'])
    assert.ok(mayConcernTeam(prompt), prompt);
  for (const prompt of ['hello', 'approve it?', 'changes', '']) assert.ok(!mayConcernTeam(prompt), prompt);
  assert.equal(approvalOf('changes: approve'), null);
});

test('a run that is over is told of by the host alone, and of the agent that it names first', () => {
  const told = '<task-notification>\n<task-id>a56c16908cec90494</task-id>\n<status>failed</status>';
  assert.equal(endedRunOf(`${told}\n<result><task-id>another</task-id></result>`), 'a56c16908cec90494');
  assert.ok(mayConcernTeam(told));
  for (const prompt of [`it says ${told}`, '<task-notification></task-notification>', ''])
    assert.equal(endedRunOf(prompt), null);
});
