// Follow-up tasks of a planning team: corrections of results, and changes that the user asks for.

import assert from 'node:assert/strict';
import test from 'node:test';
import { SPEC_CODES } from '../../../src/team/rules/codes/spec-codes.ts';
import {
  changeInTheWay,
  changeTasks,
  fixRounds,
  fixTasks,
  missingPlanners,
  resultsOf,
  specInChange,
} from '../../../src/team/rules/planning.ts';
import { isRefusal } from '../../support/codes.ts';
import { Story } from '../../support/team.ts';

const ROLES = ['researcher', 'analyst', 'architect'];

test('the last word of each counts', () => {
  const story = new Story().tell('created', { phase: 'plan', session: null, key_hash: null, roles: ROLES });
  for (const owner of ['analyst', 'architect', 'analyst']) story.tell('task_created', { owner, files: [] });
  story.join('analyst', 'architect');
  story.claim('1', 'analyst').tell('task_updated', { task: '1', status: 'completed', by: 'analyst', result: 'first' });
  assert.deepEqual(resultsOf(story.state), { researcher: null, analyst: 'first', architect: null });
  story.claim('3', 'analyst').tell('task_updated', { task: '3', status: 'completed', by: 'analyst', result: 'second' });
  assert.equal(resultsOf(story.state).analyst, 'second');
});

test('who has to mend something is told what, in which form, and the architect for which requirements', () => {
  const results = { researcher: null, analyst: '- R1: The API shall.', architect: null };
  const tasks = fixTasks([{ role: 'architect', words: 'T1: files: ```' }], results);
  assert.deepEqual(
    tasks.map(({ owner, subject }) => [owner, subject]),
    [['architect', 'Correct the result: T1: files: ```']],
  );
  assert.match(tasks[0]?.description ?? '', /^`{4}text\nT1: files: ```\n`{4}$/m);
  assert.match(tasks[0]?.description ?? '', /R1: The API shall\./);
  assert.match(tasks[0]?.description ?? '', /^## T1: /m);
  const both = fixTasks(
    [
      { role: 'architect', words: 'a' },
      { role: 'analyst', words: 'b' },
      { role: 'analyst', words: 'c' },
    ],
    results,
  );
  assert.deepEqual(
    both.map(({ owner }) => owner),
    ['analyst', 'architect'],
  );
  assert.match(both[0]?.description ?? '', /^b\nc$/m);
  assert.match(both[0]?.description ?? '', /^- R1: The API shall\.$/m);
});

test('a change names the SPEC that it is about', () => {
  const story = new Story().tell('created', { phase: 'plan', session: null, key_hash: null, roles: ROLES });
  assert.equal(specInChange(story.state), null);
  const results = { researcher: null, analyst: 'R1: The API shall.', architect: 'The design.' };
  const tasks = changeTasks('SPEC-LOGIN-002', 'without a button', results);
  // Another agent than the author may take the task, so the task quotes the result.
  assert.match(tasks[0]?.description ?? '', /^R1: The API shall\.$/m);
  assert.match(tasks[1]?.description ?? '', /^The design\.$/m);
  for (const task of tasks) story.tell('task_created', { ...task, files: [] });
  assert.equal(specInChange(story.state), 'SPEC-LOGIN-002');
});

test('what is being changed is approved by nobody, and whoever asks is told the ways out', () => {
  const asked = (session: string | null) => {
    const story = new Story().tell('created', { team: 'tool-plan-login', phase: 'plan', session, roles: ROLES });
    return story.tell('task_created', { subject: 'Change SPEC-LOGIN-002: red', owner: 'analyst', files: [] });
  };
  const story = asked(null);
  const change = changeInTheWay([new Story().tell('created').state, story.state], 'SPEC-LOGIN-002');
  const team = 'tool-plan-login';
  isRefusal(change, SPEC_CODES.spec_change_in_progress, { spec: 'SPEC-LOGIN-002', team });
  const commandsIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, command]) => command);
  assert.deepEqual(commandsIn(String(change?.values.again)), [
    `tool team-restart ${team}`,
    `/tool:team-restart ${team}`,
  ]);
  // A terminal cannot take over the team of a host session.
  const inHost = String(changeInTheWay([asked('session-1').state], 'SPEC-LOGIN-002')?.values.again);
  assert.deepEqual(commandsIn(inHost), [`/tool:team-restart ${team}`]);
  assert.equal(changeInTheWay([story.state], 'SPEC-LOGIN-001'), null);
  story.join('analyst').claim('1', 'analyst');
  assert.notEqual(changeInTheWay([story.state], 'SPEC-LOGIN-002'), null);
  story.tell('task_updated', { task: '1', status: 'completed', by: 'analyst' });
  assert.equal(changeInTheWay([story.state], 'SPEC-LOGIN-002'), null);
});

test('rounds of mending count by role, and anew with what the user wants otherwise', () => {
  const story = new Story().tell('created', { phase: 'plan', roles: ROLES });
  const asked = (owner: string, subject: string) => story.tell('task_created', { owner, subject, files: [] });
  assert.equal(fixRounds(story.state), 0);
  asked('analyst', 'Write the requirements');
  asked('analyst', 'Correct the result: line 1');
  asked('architect', 'Correct the result: line 9');
  assert.equal(fixRounds(story.state), 1);
  asked('analyst', 'Correct the result: line 2');
  assert.equal(fixRounds(story.state), 2);
  asked('analyst', 'Change SPEC-A-001: red');
  assert.equal(fixRounds(story.state), 0);
});

test('a SPEC needs both of those whose results it is made of', () => {
  assert.deepEqual(missingPlanners(ROLES), []);
  assert.deepEqual(missingPlanners(['researcher', 'architect']), ['analyst']);
  assert.deepEqual(missingPlanners([]), ['analyst', 'architect']);
});
