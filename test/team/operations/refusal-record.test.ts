// An operation that is refused stands in the team's log, once, whoever asks again and again.

import assert from 'node:assert/strict';
import test from 'node:test';
import { OPERATIONS_CODES } from '../../../src/team/rules/codes/operations-codes.ts';
import { TASK_CODES } from '../../../src/team/rules/codes/tasks-codes.ts';
import { isRefusal, joined, wordsLike } from '../../support/codes.ts';
import { TEAM, TeamWorld } from '../../support/team-world.ts';
import type { Cleanup } from '../../support/temp.ts';

async function worldOf(t: Cleanup): Promise<TeamWorld> {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'tester']);
  await world.call('team-lead', 'TaskCreate', { subject: 'Test it', description: 'd', owner: 'tester' });
  return world;
}

function noted(world: TeamWorld): readonly string[] {
  const { decisions } = world.state();
  return decisions.flatMap(({ hook, member, about, reason }) =>
    hook === 'operation' ? [`${member}: ${about}: ${reason}`] : [],
  );
}

test('whoever is refused is named with what was asked for and why', async (t) => {
  const world = await worldOf(t);
  await world.refused('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  await world.refused('backend-dev', 'TeamDelete', { team_name: TEAM });
  await world.refused('team-lead', 'Task', {
    ...{ subagent_type: 'team-backend', team_name: TEAM, name: 'backend', prompt: 'p' },
  });
  await world.refused('tester', 'TeamCreate', { team_name: 'tool-debug-other' });
  await world.refused('tester', 'SendMessage', { recipient: 'backendDev', type: 'progress', content: 'x' });
  const lines = noted(world);
  for (const [index, line] of [
    joined(
      /^backend-dev: TaskUpdate 1 in_progress: /,
      wordsLike(TASK_CODES.task_meant_for_other, { task: '1', owner: 'tester', member: 'backend-dev' }),
    ),
    joined(
      /^backend-dev: TeamDelete tool-run-spec-auth-001: /,
      wordsLike(OPERATIONS_CODES.lead_only, { does: 'deletes a team', who: 'backend-dev' }),
    ),
    /^team-lead: Task team-backend: subagent_type: expected one of .* Did you mean team-backend-dev\?$/,
    joined(/^tester: TeamCreate tool-debug-other: /, wordsLike(OPERATIONS_CODES.main_agent_only)),
    /^tester: SendMessage progress to backendDev: SendMessage: .*\n {2}recipient: /,
  ].entries())
    assert.match(lines[index] ?? '', line);
  assert.equal(lines.length, 5);
  assert.equal(world.state().rejections.size, 0, 'no work was rejected');
});

test('what is asked for in a loop is noted once, and so often as its reason changes at most once a minute', async (t) => {
  const world = await worldOf(t);
  for (let tries = 0; tries < 20; tries++)
    await world.refused('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  assert.equal(noted(world).length, 1);
  await world.call('team-lead', 'TaskUpdate', { taskId: '1', status: 'in_progress', owner: 'tester' });
  for (let tries = 0; tries < 3; tries++)
    await world.refused('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
  assert.equal(noted(world).length, 2);
});

test('what the log tells by itself is not told twice, and where no team stands there is nothing to tell', async (t) => {
  const world = new TeamWorld(t);
  await world.refused('team-lead', 'TeamDelete', { team_name: TEAM });
  await world.refused('team-lead', 'TeamCreate', { team_name: 'no name' });
  assert.deepEqual(world.teams.list(), []);
  await world.team(['backend-dev']);
  // A record that does not count.
  isRefusal(
    await world.refusal('team-lead', 'TeamDelete', { team_name: TEAM }),
    OPERATIONS_CODES.team_has_live_members,
    {
      members: ['backend-dev (not asked)'],
    },
  );
  await world.call('team-lead', 'TaskCreate', { subject: 'Build it', description: 'd', owner: 'backend-dev' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  world.fails('tests');
  await world.refused('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
  assert.deepEqual(noted(world), []);
});
