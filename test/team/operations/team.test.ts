import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { refusal, textOf } from '../../../src/base/rules/codes.ts';
import { operate } from '../../../src/team/operations/operations.ts';
import { LOG_CODES } from '../../../src/team/rules/codes/log-codes.ts';
import { MESSAGES_CODES } from '../../../src/team/rules/codes/messages-codes.ts';
import { OPERATIONS_CODES } from '../../../src/team/rules/codes/operations-codes.ts';
import { SPEC_CODES } from '../../../src/team/rules/codes/spec-codes.ts';
import { TASK_CODES } from '../../../src/team/rules/codes/tasks-codes.ts';
import { DEFAULT_TEAM_SETTINGS } from '../../../src/team/rules/default-settings.ts';
import { SHUTDOWN_DEADLINE_MS } from '../../../src/team/rules/log/state.ts';
import { codeIn, failsWith, isOf, isRefusal, wordsLike } from '../../support/codes.ts';
import { problemsOf, TEAM, TeamWorld } from '../../support/team-world.ts';

test('a team is created under a name that tells its phase, and not twice', async (t) => {
  const world = new TeamWorld(t);
  isRefusal(
    await world.refusal('team-lead', 'TeamCreate', { team_name: 'Nice Team' }),
    OPERATIONS_CODES.team_name_invalid,
    { got: 'Nice Team' },
  );
  const answer = await world.call('team-lead', 'TeamCreate', { team_name: TEAM, subject: 'SPEC-AUTH-001' });
  assert.equal(answer.state, 'created');
  assert.equal(world.state(TEAM).writesHeldBy, 'kernel');
  assert.deepEqual(
    (answer.next as { input: { name: string } }[]).map(({ input }) => input.name),
    ['backend-dev', 'frontend-dev', 'tester'],
  );
  isRefusal(await world.refusal('team-lead', 'TeamCreate', { team_name: TEAM }), OPERATIONS_CODES.team_already_active, {
    team: TEAM,
    state: 'created',
  });
  isRefusal(
    await world.refusal('backend-dev', 'TeamCreate', { team_name: 'tool-run-spec-other-001' }),
    OPERATIONS_CODES.main_agent_only,
  );
});

test('without team.enabled no team is made', async (t) => {
  const world = new TeamWorld(t);
  world.settings = DEFAULT_TEAM_SETTINGS;
  isRefusal(await world.refusal('team-lead', 'TeamCreate', { team_name: TEAM }), OPERATIONS_CODES.team_mode_off);
});

test('of a role of the user’s own the answer names the agent that is missing, and where it is there calls it by its name', async (t) => {
  const world = new TeamWorld(t);
  world.settings = { ...world.settings, patterns: { ...world.settings.patterns, docs: ['writer', 'tester'] } };
  await world.team([]);
  const files = new Set<string>();
  const asked = async (role: string, form: 'project' | 'plugin' | null) => {
    const host = form === null ? null : ({ version: '2.1.177', form } as const);
    const context = { ...world.context, host: () => host, hasAgentFile: (agent: string) => files.has(agent) };
    const given = { subagent_type: `team-${role}`, team_name: TEAM, name: role, prompt: 'Do it' };
    const answer = await operate(context, 'Task', given, world.evidence('team-lead'));
    const record = { name: role, epoch: world.epoch(role), how: 'not_started', reason: 'it is none yet' } as const;
    await world.append({ type: 'member_ended', ...record });
    return JSON.stringify(answer);
  };
  for (const form of ['project', 'plugin'] as const) {
    const missing = wordsLike(OPERATIONS_CODES.agent_definition_unusable, { agent: 'team-writer', member: 'writer' });
    assert.match(await asked('writer', form), missing);
    files.add('team-writer');
    const there = await asked('writer', form);
    assert.doesNotMatch(there, missing);
    assert.match(there, /"subagent_type":"team-writer"/);
    files.clear();
  }
  // What the program brings itself is there, and a program that is started by hand needs no file.
  assert.match(await asked('tester', 'plugin'), /"subagent_type":"tool:team-tester".*Make the call in `call` now/);
  assert.match(await asked('writer', null), /Make the call in `call` now/);
});

test('a teammate is registered under its exact name, and the answer is the call that starts it', async (t) => {
  const world = new TeamWorld(t);
  await world.team([]);
  const given = { subagent_type: 'team-backend-dev', team_name: TEAM, name: 'backend-dev', prompt: 'Do it' };
  const answer = await world.call('team-lead', 'Task', given);
  assert.deepEqual(answer.call, {
    tool: 'Agent',
    input: {
      subagent_type: 'team-backend-dev',
      description: `backend-dev of ${TEAM}`,
      prompt: 'Do it',
      run_in_background: true,
    },
  });
  isRefusal(
    await world.refusal('team-lead', 'Task', { ...given, name: 'team-backend-dev' }),
    MESSAGES_CODES.parameter_invalid,
    { field: 'name', expected: "backend-dev, the agent's name without its prefix", got: 'team-backend-dev' },
  );
  isRefusal(
    await world.refusal('team-lead', 'Task', { ...given, subagent_type: 'backend-dev' }),
    MESSAGES_CODES.parameter_invalid,
    { field: 'subagent_type', got: 'backend-dev', near: 'team-backend-dev' },
  );
  isRefusal(
    await world.refusal('team-lead', 'Task', { ...given, team_name: 'tool-run-x' }),
    OPERATIONS_CODES.team_not_active,
    { team: 'tool-run-x', active: [TEAM] },
  );
  assert.deepEqual(problemsOf(await world.refusal('team-lead', 'Task', { name: 'x' })), [
    'parameter_missing subagent_type',
    'parameter_missing team_name',
    'parameter_missing prompt',
  ]);
});

test('no more teammates than max_teammates', async (t) => {
  const world = new TeamWorld(t);
  world.settings = { ...world.settings, maxTeammates: 1 };
  await world.team(['backend-dev']);
  isRefusal(
    await world.refusal('team-lead', 'Task', {
      subagent_type: 'team-tester',
      team_name: TEAM,
      name: 'tester',
      prompt: 'p',
    }),
    LOG_CODES.too_many_members,
    { limit: 1, members: ['backend-dev'] },
  );
});

test('a member is who the host says, and does nothing in the place of another', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'tester']);
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  isRefusal(
    await world.refusal('tester', 'TaskUpdate', { taskId: '1', status: 'completed' }),
    TASK_CODES.task_claimed,
    { task: '1', holder: 'backend-dev' },
  );
  isRefusal(await world.refusal('tester', 'TeamDelete', { team_name: TEAM }), OPERATIONS_CODES.lead_only, {
    does: 'deletes a team',
    who: 'tester',
  });
  isRefusal(
    await world.refusal('tester', 'Task', {
      subagent_type: 'team-designer',
      team_name: TEAM,
      name: 'designer',
      prompt: 'p',
    }),
    OPERATIONS_CODES.lead_only,
    { does: 'starts teammates' },
  );
  isRefusal(
    await world.refusal('tester', 'SendMessage', { recipient: 'all', type: 'shutdown_request', content: 'x' }),
    MESSAGES_CODES.message_type_reserved,
    { senders: ['team-lead'], from: 'tester' },
  );
  await world.call('tester', 'SendMessage', { recipient: 'team-lead', type: 'progress', content: 'half' });
  assert.equal(world.state().messages.at(-1)?.from, 'tester');
  isRefusal(await world.refusal('stranger', 'TaskList'), OPERATIONS_CODES.caller_not_member, {
    who: 'team-stranger (agent-of-stranger)',
    active: [TEAM],
  });
});

test('without identity nothing is done in a name; with the key that was handed over it is', async (t) => {
  const world = new TeamWorld(t);
  const nobody = { kind: 'nothing', why: 'the host does not say' } as const;
  const created = await operate(world.context, 'TeamCreate', { team_name: TEAM }, nobody);
  assert.equal(typeof created.key, 'string');
  await failsWith(operate(world.context, 'TaskList', {}, nobody), OPERATIONS_CODES.caller_unknown, {
    why: 'the host does not say',
  });
  await failsWith(operate(world.context, 'TaskList', { key: 'wrong' }, nobody), OPERATIONS_CODES.caller_not_member, {
    who: 'a caller with a key that no team knows',
  });
  const lead = await operate(world.context, 'TaskList', { key: created.key }, nobody);
  assert.deepEqual(lead, {
    team: TEAM,
    tasks: [],
    counts: { pending: 0, in_progress: 0, completed: 0, failed: 0, blocked: 0 },
  });
  const member = await operate(
    world.context,
    'Task',
    { subagent_type: 'team-tester', team_name: TEAM, name: 'tester', prompt: 'p', key: created.key },
    nobody,
  );
  const [, key] = /Your key is (\S+):/.exec(JSON.stringify(member.call)) ?? [];
  await failsWith(operate(world.context, 'TeamDelete', { team_name: TEAM, key }, nobody), OPERATIONS_CODES.lead_only, {
    ...{ does: 'deletes a team', who: 'tester' },
  });
  await operate(world.context, 'SendMessage', { recipient: 'team-lead', type: 'progress', content: 'hi', key }, nobody);
  assert.equal(world.state().messages.at(-1)?.from, 'tester');
});

test('a team that is refused leaves nothing behind; a pattern is for teams of its phase', async (t) => {
  const world = new TeamWorld(t);
  const team_name = 'tool-run-spec-auth-001';
  isRefusal(
    await world.refusal('team-lead', 'TeamCreate', { team_name, pattern: 'nope' }),
    MESSAGES_CODES.parameter_invalid,
    { field: 'pattern', expected: `one of ${Object.keys(world.settings.patterns).join(', ')}`, got: 'nope' },
  );
  isRefusal(
    await world.refusal('team-lead', 'TeamCreate', { team_name, pattern: 'plan_research' }),
    MESSAGES_CODES.parameter_invalid,
    {
      field: 'pattern',
      expected: 'one of the phase run, like implementation',
      got: 'plan_research, which is of the phase plan',
    },
  );
  world.settings = { ...world.settings, enabled: false };
  isRefusal(await world.refusal('team-lead', 'TeamCreate', { team_name }), OPERATIONS_CODES.team_mode_off);
  const problem = refusal(LOG_CODES.settings_last_hold, { said: 'workflow.yaml has a problem:\n  max_teammates' });
  world.problems = [problem];
  isRefusal(await world.refusal('team-lead', 'TeamCreate', { team_name }), OPERATIONS_CODES.settings_block_team, {
    problem: textOf(problem),
  });
  assert.deepEqual(world.teams.list(), []);
  world.settings = { ...world.settings, enabled: true };
  const { warning } = await world.call('team-lead', 'TeamCreate', { team_name });
  assert.equal(codeIn(String(warning)), 'settings_last_hold', 'what the file said before holds, and that is said');
});

test('a team is deleted when all have ended; before that, those who are missing are named', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'tester']);
  isRefusal(
    await world.refusal('team-lead', 'TeamDelete', { team_name: TEAM }),
    OPERATIONS_CODES.team_has_live_members,
    { team: TEAM, members: ['backend-dev (not asked)', 'tester (not asked)'] },
  );
  await world.call('team-lead', 'SendMessage', { recipient: 'all', type: 'shutdown_request', content: 'done' });
  assert.equal(world.state().session, 'shutting_down');
  await world.append({ type: 'member_idle', name: 'tester', epoch: 1, stopped: true });
  isRefusal(
    await world.refusal('team-lead', 'TeamDelete', { team_name: TEAM }),
    OPERATIONS_CODES.team_has_live_members,
    { members: ['backend-dev (asked, not read)'] },
  );
  isRefusal(
    await world.refusal('team-lead', 'TeamDelete', { team_name: TEAM, force: true }),
    OPERATIONS_CODES.team_has_live_members,
    { force_in: 60 },
  );
  world.clock.set(SHUTDOWN_DEADLINE_MS);
  const answer = await world.call('team-lead', 'TeamDelete', { team_name: TEAM, force: true });
  assert.equal(answer.state, 'deleted');
  assert.equal(existsSync(join(String(answer.archived), 'log.jsonl')), true);
  assert.deepEqual(world.teams.list(), []);
  isRefusal(await world.refusal('team-lead', 'TaskList'), OPERATIONS_CODES.team_not_active, {});
});

test('a lead of two teams has to say which', async (t) => {
  const world = new TeamWorld(t);
  await world.team([]);
  await world.team([], 'tool-run-spec-pay-002');
  isRefusal(await world.refusal('team-lead', 'TaskList'), OPERATIONS_CODES.team_ambiguous, {
    teams: [TEAM, 'tool-run-spec-pay-002'],
  });
  assert.equal((await world.call('team-lead', 'TaskList', { team_name: TEAM })).team, TEAM);
});

test('nobody but the main agent of a session, or a terminal, creates a team', async (t) => {
  const world = new TeamWorld(t);
  await world.team([]);
  const tester = { subagent_type: 'team-tester', team_name: TEAM, name: 'tester', prompt: 'p' };
  await world.call('team-lead', 'Task', tester);
  const other = { team_name: 'tool-run-spec-b-001' };
  const whoever = (teammate: string | null) =>
    operate(world.context, 'TeamCreate', other, { kind: 'environment', team: TEAM, teammate });
  const only = isOf(OPERATIONS_CODES.main_agent_only);
  await assert.rejects(whoever('tester'), only);
  await world.call('team-lead', 'SendMessage', { recipient: 'all', type: 'shutdown_request', content: 'done' });
  await assert.rejects(whoever('tester'), only, 'who has ended');
  await assert.rejects(whoever('ghost'), only, 'whom no team knows');
  const caller = { session: 's', agentId: 'agent-x', agentType: null, toolUseId: null };
  await assert.rejects(operate(world.context, 'TeamCreate', other, { kind: 'stamp', caller }), only);
  assert.deepEqual(world.teams.list(), [TEAM]);
  assert.equal((await whoever(null)).state, 'created');
});

test('a team that builds is made for a SPEC that the user has approved, and for nothing else', async (t) => {
  const world = new TeamWorld(t);
  world.context = {
    ...world.context,
    approval: () => Promise.resolve({ status: 'draft', counts: false, why: 'status: draft' }),
  };
  isRefusal(await world.refusal('team-lead', 'TeamCreate', { team_name: TEAM }), SPEC_CODES.spec_not_approved, {
    spec: 'SPEC-AUTH-001',
    why: 'status: draft',
  });
  isRefusal(
    await world.refusal('team-lead', 'TeamCreate', { team_name: 'tool-run-my-thing' }),
    OPERATIONS_CODES.team_without_spec,
    { team: 'tool-run-my-thing' },
  );
  world.settings = { ...world.settings, requirePlanApproval: false };
  assert.equal((await world.call('team-lead', 'TeamCreate', { team_name: TEAM })).state, 'created');
});
