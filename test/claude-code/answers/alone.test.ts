// Permissions in sub-agent mode: teammates that still run keep to their own files, read-only roles write nothing.

import assert from 'node:assert/strict';
import test from 'node:test';
import { onPostToolUse } from '../../../src/claude-code/answers/on-post-tool-use.ts';
import { onPreToolUse } from '../../../src/claude-code/answers/on-pre-tool-use.ts';
import { onSubagentStart } from '../../../src/claude-code/answers/on-subagent-start.ts';
import { onUserPrompt } from '../../../src/claude-code/answers/on-user-prompt.ts';
import { HOOK_CODES } from '../../../src/claude-code/rules/hook-codes.ts';
import { OPERATIONS_CODES } from '../../../src/team/rules/codes/operations-codes.ts';
import { WRITES_CODES } from '../../../src/team/rules/codes/writes-codes.ts';
import { codeIn, isRefusal, lineLike } from '../../support/codes.ts';
import { TEAM, TeamWorld } from '../../support/team-world.ts';
import type { Cleanup } from '../../support/temp.ts';

function writes(who: string, path: string, world: TeamWorld, agentId = `agent-of-${who}`) {
  return onPreToolUse(
    world.context,
    world.event(who, 'PreToolUse', { tool: 'Write', input: { file_path: path }, agentId }),
  );
}

/** The hook's answer to the lead after a failed agent call. */
async function fails(world: TeamWorld, role: string, failure: string): Promise<string> {
  const input = { subagent_type: `team-${role}` };
  const answer = await onPostToolUse(
    world.context,
    world.event('team-lead', 'PostToolUse', { tool: 'Agent', input, failure }),
  );
  return answer.kind === 'context' ? answer.text : answer.kind;
}

/** Backend-dev is at work when the tester cannot be started. */
async function halfStarted(t: Cleanup): Promise<{ readonly world: TeamWorld; readonly told: string }> {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'tester']);
  await onSubagentStart(world.context, world.event('backend-dev', 'SubagentStart'));
  const told = await fails(world, 'tester', "Agent type 'team-tester' not found");
  assert.equal(world.state().session, 'fallback');
  return { world, told };
}

test('a teammate that still runs when team mode fails is held to its own files, and waited for', async (t) => {
  const { world, told } = await halfStarted(t);
  assert.match(
    told,
    lineLike(HOOK_CODES.agent_not_started, {
      member: 'tester',
      said: /.*Wait for backend-dev, still at work as a teammate, to end\. Do the work.*/,
    }),
  );
  assert.match(await world.reasonOf(writes('backend-dev', 'tests/a.test.ts', world)), /tests\/a\.test\.ts is tester's/);
  assert.equal((await writes('backend-dev', 'src/api/a.ts', world)).kind, 'silent');
  const spawn = world.event('backend-dev', 'PreToolUse', { tool: 'Agent', input: { subagent_type: 'team-tester' } });
  assert.equal(codeIn(await world.reasonOf(onPreToolUse(world.context, spawn))), 'agents_for_lead_only');
  assert.deepEqual(
    world.state().decisions.map(({ member, decision, about }) => [member, decision, about]),
    [
      ['backend-dev', 'reject', 'Write tests/a.test.ts'],
      ['backend-dev', 'accept', 'Write src/api/a.ts'],
      ['backend-dev', 'reject', 'Agent team-tester'],
    ],
  );
});

test('an agent of the same role that the lead starts afterwards is the lead’s own', async (t) => {
  const { world } = await halfStarted(t);
  const second = 'the-second';
  await onSubagentStart(world.context, world.event('backend-dev', 'SubagentStart', { agentId: second }));
  assert.equal(world.state().bindings.has(second), false);
  assert.equal((await writes('backend-dev', 'tests/a.test.ts', world, second)).kind, 'silent');
  const [last] = world.state().decisions.slice(-1);
  assert.deepEqual([last?.member, last?.decision, last?.about], ['team-lead', 'accept', 'Write tests/a.test.ts']);
});

for (const isSpawned of [false, true])
  test(`nor is it the teammate that was ${isSpawned ? 'called for' : 'registered'} and never seen`, async (t) => {
    const world = new TeamWorld(t);
    await world.team(isSpawned ? ['backend-dev', 'tester'] : ['tester']);
    if (!isSpawned)
      await world.call('team-lead', 'Task', {
        subagent_type: 'team-backend-dev',
        team_name: TEAM,
        name: 'backend-dev',
        prompt: 'p',
      });
    await fails(world, 'tester', 'not found');
    const input = { subagent_type: 'team-backend-dev' };
    const spawn = world.event('team-lead', 'PreToolUse', { tool: 'Agent', input });
    assert.equal((await onPreToolUse(world.context, spawn)).kind, 'silent');
    await onSubagentStart(world.context, world.event('backend-dev', 'SubagentStart'));
    assert.equal((await writes('backend-dev', 'tests/a.test.ts', world)).kind, 'silent');
    assert.equal(world.state().members.get('backend-dev')?.phase, 'over');
  });

test('one whose start is seen only after team mode has failed is the teammate that was called for', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'tester']);
  await fails(world, 'tester', 'not found');
  await onSubagentStart(world.context, world.event('backend-dev', 'SubagentStart'));
  assert.match(await world.reasonOf(writes('backend-dev', 'tests/a.test.ts', world)), /is tester's/);
});

for (const role of ['hypothesis-1', 'quality', 'researcher'])
  test(`${role} writes nothing in sub-agent mode either, and it is seen that it tried`, async (t) => {
    const world = new TeamWorld(t);
    await onUserPrompt(
      world.context,
      world.event('team-lead', 'UserPromptSubmit', { prompt: '/tool:build-fix "orders fail" --solo' }),
    );
    assert.match(
      await world.reasonOf(writes(role, 'src/api/orders.ts', world)),
      lineLike(WRITES_CODES.member_read_only, { member: role }),
    );
    const { decisions, session } = world.state('tool-debug-orders-fail');
    assert.deepEqual(
      [session, decisions.map(({ member, decision, about }) => [member, decision, about])],
      ['fallback', [[role, 'reject', 'Write src/api/orders.ts']]],
    );
    assert.equal((await writes('general-purpose', 'src/api/orders.ts', world)).kind, 'silent');
  });

test('in sub-agent mode nobody is registered, and an agent that asks for a task or a lease is told that it needs none', async (t) => {
  const { world } = await halfStarted(t);
  const call = { subagent_type: 'team-tester', team_name: TEAM, name: 'tester', prompt: 'p' };
  isRefusal(await world.refusal('team-lead', 'Task', call), OPERATIONS_CODES.team_without_members, { team: TEAM });
  for (const [name, input] of [
    ['TaskGet', { taskId: '1' }],
    ['FileLease', { path: 'package.json', reason: 'r' }],
  ] as const)
    isRefusal(await world.refusal('frontend-dev', name, input), OPERATIONS_CODES.subagent_mode, {
      team: TEAM,
      who: 'team-frontend-dev (agent-of-frontend-dev)',
    });
});

test('agents are called as the form of the plugin has them, and told what does not hold', async (t) => {
  const world = new TeamWorld(t);
  const prompt = { prompt: '/tool:build-fix "orders fail" --solo' };
  const context = { ...world.context, host: () => ({ version: '2.1.331', form: 'plugin' }) as const };
  const answer = await onUserPrompt(context, world.event('team-lead', 'UserPromptSubmit', prompt));
  const text = answer.kind === 'context' ? answer.text : '';
  assert.match(text, /^1\. tool:team-hypothesis-1: /m);
  assert.match(text, /In sub-agent mode, agents must not claim tasks, take leases \(FileLease\) or send messages/);
});

test('a teammate whose run ends with an error while its lead waits for it leaves its work to a successor', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  await onSubagentStart(world.context, world.event('backend-dev', 'SubagentStart'));
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  const told = await fails(world, 'backend-dev', 'Agent terminated early due to an API error');
  assert.match(told, lineLike(HOOK_CODES.run_ended_unreported, { member: 'backend-dev' }));
  const { session, tasks, members } = world.state();
  assert.deepEqual(
    [session, tasks.get('1')?.status, members.get('backend-dev')?.phase],
    ['working', 'pending', 'stopped'],
  );
  await world.start('backend-dev');
  assert.equal(world.epoch('backend-dev'), 2);
});
