// A team in short, and that the line which carries it to the daemon loses nothing.

import assert from 'node:assert/strict';
import test from 'node:test';
import { summaryOf, TASKS_SHOWN } from '../../../src/daemon/rules/team-summary.ts';
import { readTeamLine } from '../../../src/daemon/runners/team-wire.ts';
import { LEAD, teamOf } from '../../support/team.ts';

test('who does what, what was said and what it cost', () => {
  const story = teamOf(['backend-dev', 'tester'], 2).claim('1', 'backend-dev');
  story.tell('message_sent', { to: 'all', by: LEAD, epoch: 0, content: 'hello\nyou' });
  story.tell('member_used', { name: 'backend-dev', task: '1', cost_usd: 0.25 });
  const summary = summaryOf(story.state, story.at + 3_000);
  assert.deepEqual(
    summary.members.map(({ name, task, cost_usd }) => [name, task, cost_usd]),
    [
      ['backend-dev', '1', 0.25],
      ['tester', null, 0],
    ],
  );
  assert.deepEqual(
    summary.tasks.map(({ id, status, owner, started_at, seconds }) => [
      id,
      status,
      owner,
      started_at !== null,
      seconds,
    ]),
    [
      ['1', 'in_progress', 'backend-dev', true, null],
      ['2', 'pending', null, false, null],
    ],
  );
  assert.equal(summary.messages.count, 1);
  assert.deepEqual(
    summary.messages.last.map(({ from, to, content }) => [from, to, content]),
    [['team-lead', 'all', 'hello; you']],
  );
  assert.equal(summary.cost_usd, 0.25);
});

test('a line of the leading process carries it as it is, whatever it holds', () => {
  const story = teamOf(['backend-dev'], TASKS_SHOWN + 20);
  story.tell('message_sent', { to: 'all', by: LEAD, epoch: 0, content: 'x'.repeat(60_000) });
  const team = summaryOf(story.state, story.at);
  assert.equal(team.tasks.length, TASKS_SHOWN);
  assert.deepEqual(readTeamLine(JSON.stringify({ type: 'team', team })), { type: 'team', team });
});

test('what is no such line is none', () => {
  const team = summaryOf(teamOf([], 0).state, 0);
  for (const line of [
    'words of a program',
    '{"type":"team"}',
    JSON.stringify({ type: 'team', team: { ...team, subject: 'x'.repeat(500) } }),
    JSON.stringify({ type: 'team', team: { ...team, cost_usd: -1 } }),
    `${JSON.stringify({ type: 'said', who: 'lead', text: 'x' })}${' '.repeat(600_000)}`,
  ])
    assert.equal(readTeamLine(line), null, line.slice(0, 100));
});
