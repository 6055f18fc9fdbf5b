import assert from 'node:assert/strict';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { type Refusal, refusal, textOf } from '../../../src/base/rules/codes.ts';
import { failure } from '../../../src/base/rules/errors.ts';
import { onPostToolUse } from '../../../src/claude-code/answers/on-post-tool-use.ts';
import { onPreToolUse } from '../../../src/claude-code/answers/on-pre-tool-use.ts';
import { onSubagentStart } from '../../../src/claude-code/answers/on-subagent-start.ts';
import { onTeammateIdle } from '../../../src/claude-code/answers/on-teammate-idle.ts';
import { GATE_CODES } from '../../../src/gate/rules/gate-codes.ts';
import type { CheckResult } from '../../../src/gate/rules/quality.ts';
import { operate } from '../../../src/team/operations/operations.ts';
import { waitingRoles } from '../../../src/team/rules/brief.ts';
import { LOG_CODES } from '../../../src/team/rules/codes/log-codes.ts';
import { MESSAGES_CODES } from '../../../src/team/rules/codes/messages-codes.ts';
import { OPERATIONS_CODES } from '../../../src/team/rules/codes/operations-codes.ts';
import { SPEC_CODES } from '../../../src/team/rules/codes/spec-codes.ts';
import { TASK_CODES } from '../../../src/team/rules/codes/tasks-codes.ts';
import { WORK_CODES } from '../../../src/team/rules/codes/work-codes.ts';
import { WRITES_CODES } from '../../../src/team/rules/codes/writes-codes.ts';
import { DEFAULT_TEAM_SETTINGS } from '../../../src/team/rules/default-settings.ts';
import { judgeIdle, judgeLeadStop } from '../../../src/team/rules/idle.ts';
import { SHUTDOWN_DEADLINE_MS } from '../../../src/team/rules/log/state.ts';
import { checkOf } from '../../support/checks.ts';
import { codeIn, failsWith, isOf, isRefusal } from '../../support/codes.ts';
import { RECORDS, TRUST5 } from '../../support/team.ts';
import { failing, TEAM, TeamWorld } from '../../support/team-world.ts';

/** The problems that a refusal of an input names. */
function problemsIn(refused: Refusal): readonly Refusal[] {
  isRefusal(refused, OPERATIONS_CODES.input_invalid);
  const { problems } = refused.values;
  assert.ok(Array.isArray(problems));
  return problems;
}

function problemsOf(refused: Refusal): readonly string[] {
  return problemsIn(refused).map(({ of, values: { field, near } }) =>
    [of.code, field, ...(near === undefined ? [] : ['near', near])].join(' '),
  );
}

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
    const missing = /There is no \.claude\/agents\/team-writer\.md in the project or in the user's home/;
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

test('a message that claims more than was measured is refused with both figures; what was measured may be said', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'tester', 'quality']);
  const passed = (coverage: number) => ({
    recipient: 'quality',
    type: 'tests_passed',
    content: { coverage, passedTests: 12, failedTests: 0, duration: '1 s' },
  });
  const early = await world.call('tester', 'SendMessage', passed(99));
  assert.deepEqual(early.warnings, ['nothing has been measured yet: the message is delivered as "not measured yet"']);
  const [mail] = (await world.call('quality', 'Inbox')).messages as { note: string }[];
  assert.equal(mail?.note, 'not measured yet');
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
  const before = world.state().messages.length;
  isRefusal(await world.refusal('tester', 'SendMessage', passed(99)), MESSAGES_CODES.claim_not_measured_so, {
    type: 'tests_passed',
    field: 'coverage',
    claimed: 'a coverage of 99 %',
    task: '1',
  });
  assert.equal(world.state().messages.length, before, 'it was not sent');
  assert.equal((await world.call('tester', 'SendMessage', passed(91))).warnings, undefined);

  const gate = (trust5Score: number) => ({
    recipient: 'team-lead',
    type: 'quality_gate_passed',
    content: { trust5Score, securityIssues: 0, performanceScore: 'A', recommendation: 'Merge it.' },
  });
  const scores = { ...TRUST5, securityIssues: 0, ok: true, score: 3.2 };
  await world.append({ ...RECORDS.gate_measured, task: null, trust5: scores });
  isRefusal(await world.refusal('quality', 'SendMessage', gate(4.8)), MESSAGES_CODES.claim_not_measured_so, {
    field: 'trust5Score',
    claimed: 'a trust5Score of 4.8',
  });
  await world.call('quality', 'SendMessage', gate(3.2));
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

test('messages reach exact names, in order, and are read once', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'frontend-dev']);
  const ready = { endpoint: 'POST /api/users', schema: { name: 'string' } };
  const known = ['backend-dev', 'frontend-dev', 'tester', 'team-lead', 'all'];
  for (const [recipient, values] of [
    ['team-frontend-dev', { near: 'frontend-dev' }],
    ['frontendDev', { near: 'frontend-dev' }],
    ['designer', { known, got: '"designer"' }],
  ] as const) {
    const sending = { recipient, type: 'api_ready', content: ready };
    const [problem] = problemsIn(await world.refusal('backend-dev', 'SendMessage', sending));
    isRefusal(problem, MESSAGES_CODES.recipient_unknown, values);
  }
  const sent = await world.call('backend-dev', 'SendMessage', {
    recipient: 'frontend-dev',
    type: 'api_ready',
    content: ready,
  });
  assert.deepEqual(sent, { message: 1, to: 'frontend-dev', recipients: ['frontend-dev'], state: 'queued' });
  await world.call('team-lead', 'SendMessage', {
    recipient: 'all',
    type: 'progress',
    content: 'go on',
    in_reply_to: 1,
  });
  const { messages } = await world.call('frontend-dev', 'Inbox');
  assert.deepEqual(
    (messages as { message: number; type: string }[]).map(({ message, type }) => [message, type]),
    [
      [1, 'api_ready'],
      [2, 'progress'],
    ],
  );
  assert.deepEqual((await world.call('frontend-dev', 'Inbox')).messages, []);
  const wrong = { recipient: 'frontend-dev', type: 'api_ready', content: { endpoint: 'x' } };
  assert.deepEqual(problemsOf(await world.refusal('backend-dev', 'SendMessage', wrong)), [
    'parameter_invalid content.endpoint',
    'parameter_invalid content.schema',
  ]);
});

test('a change_request goes to the owner of the file, and to nobody else', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'frontend-dev', 'tester']);
  const content = { file: 'src/api/users.ts', requested_change: 'Return 404', reason: 'the form shows it' };
  isRefusal(
    await world.refusal('frontend-dev', 'SendMessage', { recipient: 'tester', type: 'change_request', content }),
    MESSAGES_CODES.request_to_wrong_owner,
    { owner: 'backend-dev', to: 'tester' },
  );
  // As hosts name files, and by a way round.
  for (const file of [`${world.root}/src/api/users.ts`, './src/api/users.ts', 'src/pages/../api/users.ts']) {
    const asked = { recipient: 'tester', type: 'change_request', content: { ...content, file } };
    isRefusal(await world.refusal('frontend-dev', 'SendMessage', asked), MESSAGES_CODES.request_to_wrong_owner, {
      owner: 'backend-dev',
    });
  }
  for (const file of ['/etc/hosts', '../users.ts', '.']) {
    const asked = { recipient: 'tester', type: 'change_request', content: { ...content, file } };
    isRefusal(await world.refusal('frontend-dev', 'SendMessage', asked), WORK_CODES.path_outside_project, {
      field: 'content.file',
      path: file,
    });
  }
  await world.call('frontend-dev', 'SendMessage', { recipient: 'backend-dev', type: 'change_request', content });
  assert.deepEqual(world.state().messages.at(-1)?.content, {
    file: 'src/api/users.ts',
    requestedChange: 'Return 404',
    reason: 'the form shows it',
  });
});

test('more than one report of progress a minute is said to be too many, and sent', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['tester']);
  const report = { recipient: 'team-lead', type: 'progress', content: 'half' };
  assert.equal((await world.call('tester', 'SendMessage', report)).warnings, undefined);
  assert.match(String((await world.call('tester', 'SendMessage', report)).warnings), /at most once a minute/);
});

test('the gate stands in TaskUpdate: a failing check keeps a task open, with what failed', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  world.gate = [failing('b'.repeat(40))];
  assert.match(
    await world.refused('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' }),
    /users\.test\.ts: says 404/,
  );
  assert.equal(world.state().tasks.get('1')?.status, 'in_progress');
  world.gate = [{ ...failing('c'.repeat(40)), ok: true, checks: [] }];
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed', result: 'it stands' });
  assert.equal(world.state().tasks.get('1')?.status, 'completed');
});

test('changed source that the coverage report does not name keeps a task open', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  const [good] = world.gate;
  assert.ok(good !== undefined);
  const checks = [
    { ...checkOf(failing('b'.repeat(40), 'coverage'), 'coverage'), outcome: 'passed' as const, details: [] },
  ];
  const unreported = ['src/api/users.ts', 'src/api/old.ts'].map((path) => ({ path, lines: 240 }));
  world.gate = [{ ...good, checks, coverage: 100, reach: { covered: 60, total: 60, unreported, below: [] } }];
  world.changed = ['src/api/users.ts'];
  assert.match(
    await world.refused('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' }),
    /coverage: the tests reach 20 % of the lines, .*\n {2}- src\/api\/users\.ts: not in the coverage report: .*\n {2}Add tests/,
  );
  assert.equal(world.state().gate?.coverage, 20);
  // What was so before is nobody's work now.
  world.changed = [];
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
});

test('a secret in a file of one’s own is rejected where all work in one place; that of another is not one’s own', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'frontend-dev']);
  for (const owner of ['backend-dev', 'frontend-dev'])
    await world.call('team-lead', 'TaskCreate', { subject: `Of ${owner}`, description: 'd', owner });
  const asked: unknown[] = [];
  Object.assign(world.context, {
    newSecrets: async (work: unknown) => {
      asked.push(work);
      return [{ commit: null, path: 'src/api/pay.ts', line: 3, kind: 'a Stripe key' }];
    },
  });
  for (const [name, taskId] of [
    ['backend-dev', '1'],
    ['frontend-dev', '2'],
  ] as const)
    await world.call(name, 'TaskUpdate', { taskId, status: 'in_progress' });
  world.changed = ['src/api/pay.ts'];
  const write = { about: 'Write', reason: 'its own', fingerprint: '', paths: world.changed };
  await world.append({ type: 'decision', hook: 'ownership', decision: 'accept', member: 'backend-dev', ...write });
  isRefusal(
    await world.refusal('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' }),
    WORK_CODES.files_hold_secrets,
    { places: ['src/api/pay.ts:3 (a Stripe key)'] },
  );
  assert.equal(world.measured, 0, 'nothing is measured for it');
  await world.call('frontend-dev', 'TaskUpdate', { taskId: '2', status: 'completed' });
  assert.deepEqual(asked, [{ base: 'tree', head: 'tree' }], 'of whom no file has changed, none is looked through');
});

test('a secret in a file that the lead wrote is rejected; of one that delegates the work tree is not looked at', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  let looks = 0;
  const workTree = {
    ...world.context.workTree,
    tree: async () => {
      looks += 1;
      return 'tree';
    },
  };
  const newSecrets = async () => [{ commit: null, path: 'notes.ts', line: 1, kind: 'a Stripe key' }];
  Object.assign(world.context, { workTree, newSecrets });
  world.settings = {
    ...world.settings,
    hooks: { ...world.settings.hooks, taskCompleted: { enabled: true, requireQualityCheck: false } },
  };
  for (const subject of ['Look at it', 'Write it'])
    await world.call('team-lead', 'TaskCreate', { subject, description: 'd' });
  world.changed = ['notes.ts'];
  await world.call('team-lead', 'TaskUpdate', { taskId: '1', status: 'completed' });
  assert.equal(looks, 0);
  const write = { about: 'Write', reason: 'its own', fingerprint: '', paths: world.changed };
  await world.append({ type: 'decision', hook: 'ownership', decision: 'accept', member: 'team-lead', ...write });
  isRefusal(
    await world.refusal('team-lead', 'TaskUpdate', { taskId: '2', status: 'completed' }),
    WORK_CODES.files_hold_secrets,
    { places: ['notes.ts:1 (a Stripe key)'] },
  );
});

test('where several build in one tree, a builder is held to what no test loads of its own, and told its own files first', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'frontend-dev']);
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  const [good] = world.gate;
  assert.ok(good !== undefined);
  const gate = (covered: number, outcome: 'passed' | 'failed') => {
    const files = Array.from({ length: 30 }, (_, index) => `src/pages/${index}.ts`);
    const below = [...files, 'src/api/users.ts', 'src/lib/words.ts'].map((path) => ({
      ...{ path, percent: 0, covered: 0, total: 10 },
    }));
    const unreported = ['src/pages/home.ts', 'src/api/log.ts'].map((path) => ({ path, lines: 100 }));
    const details = files.slice(0, 20).map((path) => `${path}: 0 % (0 of 10 lines)`);
    const check = { ...checkOf(failing('b'.repeat(40), 'coverage'), 'coverage'), outcome, details, figure: '1 %' };
    const reach = { covered, total: 900, unreported, below };
    return { ...good, ok: outcome === 'passed', checks: [check], coverage: (100 * covered) / 900, reach };
  };
  const write = { about: 'Write', reason: 'leased', fingerprint: '', paths: ['src/lib/words.ts'] };
  await world.append({ type: 'decision', hook: 'ownership', decision: 'accept', member: 'backend-dev', ...write });
  world.changed = ['src/pages/home.ts'];
  await world.append({
    ...{ type: 'decision', hook: 'ownership', decision: 'accept', member: 'frontend-dev' },
    ...{ about: 'Write', reason: 'its own', fingerprint: '', paths: world.changed },
  });
  const complete = { taskId: '1', status: 'completed' };

  world.gate = [gate(100, 'failed')];
  const told = await world.refused('backend-dev', 'TaskUpdate', complete);
  assert.match(told, /\n {2}- src\/api\/users\.ts: .*\n {2}- src\/lib\/words\.ts: .*\n {2}- src\/pages\/0\.ts: /);
  assert.doesNotMatch(told, /home\.ts/);

  world.gate = [gate(720, 'passed')];
  world.changed.push('src/api/log.ts');
  const own = await world.refused('backend-dev', 'TaskUpdate', complete);
  assert.match(
    own,
    /the tests reach 72 % of the lines, those of a changed file that the report does not name among them/,
  );
  assert.match(own, /\n {2}- src\/api\/log\.ts: not in the coverage report/);
  world.changed.pop();
  await world.call('backend-dev', 'TaskUpdate', complete);
});

test('after three rejections without change a completion is let through, and the lead is told', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  world.gate = [failing('b'.repeat(40))];
  for (let count = 0; count < 3; count++)
    await world.refused('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
  const answer = await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
  assert.match(String(answer.checks), /^Accepted after 3 rejections without change; the lead was told: /);
  const mail = await world.call('team-lead', 'Inbox');
  assert.match(JSON.stringify(mail.messages), /escalated by task_completed/);
});

test('where the checks of others take too long a completion is asked for again, and nothing counts as rejected', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  world.whyNot = failure(GATE_CODES.checks_busy, {});
  for (let count = 0; count < 4; count++)
    assert.match(
      await world.refused('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' }),
      /Not measured: other checks of this repository ran first\. Nothing is wrong with your work: complete again\./,
    );
  assert.equal(world.state().rejections.size, 0);
  world.whyNot = null;
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed', result: 'it stands' });
  assert.equal(world.state().tasks.get('1')?.status, 'completed');
});

test('missing coverage waits for the tester, where one has tasks of its own', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'tester']);
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  await world.call('team-lead', 'TaskCreate', { subject: 'Tests', description: 'd', owner: 'tester' });
  const bad = failing('b'.repeat(40), 'coverage');
  const complete = { taskId: '1', status: 'completed' };
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  world.gate = [{ ...bad, coverage: 80 }];
  const enough = await world.refused('backend-dev', 'TaskUpdate', complete);
  assert.match(enough, /coverage failed/, 'enough is reached: the command fails for something else');
  world.gate = [{ ...bad, coverage: 79.9 }];
  await world.call('backend-dev', 'TaskUpdate', complete);
  await world.call('tester', 'TaskUpdate', { taskId: '2', status: 'in_progress' });
  assert.match(await world.refused('tester', 'TaskUpdate', { taskId: '2', status: 'completed' }), /coverage/);
});

test('where there is no test yet, nobody but the tester is kept from completing for that, while one has tasks of its own', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'tester']);
  for (const owner of ['backend-dev', 'backend-dev', 'tester'])
    await world.call('team-lead', 'TaskCreate', { subject: 'Some', description: 'd', owner });
  const [coverage] = failing('b'.repeat(40), 'coverage').checks;
  const gateOf = (more: Partial<CheckResult>) => {
    const gate = failing('b'.repeat(40));
    const [tests] = gate.checks;
    if (tests === undefined || coverage === undefined) throw new Error('expected a check');
    return { ...gate, checks: [{ ...tests, ...more }, coverage], coverage: null };
  };
  const complete = { taskId: '1', status: 'completed' };
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  world.gate = [gateOf({ reason: '1 test fails: x' })];
  assert.match(await world.refused('backend-dev', 'TaskUpdate', complete), /1 test fails: x/);
  world.gate = [gateOf({ reason: 'no tests ran' })];
  await world.call('backend-dev', 'TaskUpdate', complete);
  await world.call('backend-dev', 'TaskUpdate', { taskId: '2', status: 'in_progress' });
  world.gate = [gateOf({ reason: 'package.json has no script "test"', command: null })];
  await world.call('backend-dev', 'TaskUpdate', { ...complete, taskId: '2' });
  await world.call('tester', 'TaskUpdate', { taskId: '3', status: 'in_progress' });
  assert.match(await world.refused('tester', 'TaskUpdate', { ...complete, taskId: '3' }), /has no script "test"/);
});

test('a file of somebody else that changed without a decision is asked about once, then told to the lead', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'frontend-dev']);
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  world.changed = ['src/api/users.ts', 'src/components/Form.tsx'];
  world.passing = ['src/components/Form.tsx.tmp.1'];
  isRefusal(
    await world.refusal('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' }),
    WORK_CODES.foreign_files_changed,
    { files: ['src/components/Form.tsx'], owners: ["src/components/Form.tsx (frontend-dev's)"] },
  );
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
  assert.match(JSON.stringify((await world.call('team-lead', 'Inbox')).messages), /with no recorded decision/);
});

test('a completion says which files were changed that decide what is measured, accepted or not', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  world.changed = ['.c8rc.json', 'package.json'];
  const words = /changed in this work, and decides what is measured: \.c8rc\.json, package\.json/;
  const [good] = world.gate;
  world.gate = [failing('b'.repeat(40))];
  assert.match(await world.refused('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' }), words);
  world.gate = good === undefined ? [] : [good];
  const { checks } = await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
  assert.match(String(checks), words);
});

test('the switches of the gate: require_quality_check and enabled', async (t) => {
  for (const taskCompleted of [
    { enabled: true, requireQualityCheck: false },
    { enabled: false, requireQualityCheck: true },
  ]) {
    const world = new TeamWorld(t);
    world.settings = { ...world.settings, hooks: { ...world.settings.hooks, taskCompleted } };
    world.gate = [failing('b'.repeat(40))];
    await world.team(['backend-dev']);
    await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
    await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
    const answer = await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
    assert.match(String(answer.checks), /^unchecked: /);
    assert.equal(world.measured, 0);
    assert.equal(world.state().decisions.at(-1)?.decision, 'accept');
  }
});

test('tasks wait for those before them; whoever has nothing running is named to the lead when its task is free', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  await world.call('team-lead', 'TaskCreate', {
    subject: 'Form',
    description: 'd',
    owner: 'frontend-dev',
    blocked_by: ['1'],
  });
  const { tasks } = await world.call('backend-dev', 'TaskList');
  assert.deepEqual(
    (tasks as { status: string }[]).map(({ status }) => status),
    ['pending', 'blocked'],
  );
  isRefusal(
    await world.refusal('backend-dev', 'TaskUpdate', { taskId: '2', status: 'in_progress' }),
    TASK_CODES.task_meant_for_other,
    { task: '2', owner: 'frontend-dev', member: 'backend-dev' },
  );
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  const done = await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
  assert.deepEqual(
    (done.can_begin_now as { taskId: string }[]).map(({ taskId }) => taskId),
    ['2'],
  );
  assert.match(
    JSON.stringify((await world.call('team-lead', 'Inbox')).messages),
    /task 2 for frontend-dev can begin now, and nobody is at work on it. Start frontend-dev with Task/,
  );
});

test('what is announced as ready can begin, and who has stopped before its end is started again for it', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'frontend-dev']);
  const add = (subject: string, owner: string, blocked_by: readonly string[]) =>
    world.call('team-lead', 'TaskCreate', { subject, description: 'd', owner, blocked_by });
  await add('API', 'backend-dev', []);
  await add('Form', 'frontend-dev', ['1']);
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  const content = { endpoint: 'POST /login', schema: { name: 'string' } };
  const said = await world.call('backend-dev', 'SendMessage', {
    recipient: 'frontend-dev',
    type: 'api_ready',
    content,
  });
  assert.deepEqual(
    (said.can_begin_now as { taskId: string; status: string }[]).map(({ taskId, status }) => [taskId, status]),
    [['2', 'pending']],
  );
  await world.call('frontend-dev', 'TaskUpdate', { taskId: '2', status: 'in_progress' });
  await world.append({ type: 'member_idle', name: 'frontend-dev', epoch: 1, stopped: true });
  assert.deepEqual(waitingRoles(world.state()), [], 'it has done what it could');
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
  assert.match(
    JSON.stringify((await world.call('team-lead', 'Inbox')).messages),
    /task 2 for frontend-dev can begin now, and nobody is at work on it. Start frontend-dev with Task/,
  );
  const state = world.state();
  assert.deepEqual(waitingRoles(state), ['frontend-dev']);
  const stop = judgeLeadStop(state, world.settings);
  assert.match(stop.reason, /task 2 "Form" can begin, and nobody works on it. Start frontend-dev with Task/);
});

test('what is nobody’s and waits for what was announced is there for whoever it was announced to, by its files', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'frontend-dev', 'tester']);
  const add = (subject: string, more: object) =>
    world.call('team-lead', 'TaskCreate', { subject, description: 'd', ...more });
  await add('API', { owner: 'backend-dev' });
  await add('Tests', { blocked_by: ['1'], files: ['tests/form.test.ts'] });
  await add('Form', { blocked_by: ['1'], files: ['src/components/Form.tsx'] });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  const idle = () => {
    const member = world.state().members.get('frontend-dev');
    assert.ok(member !== undefined);
    return judgeIdle(world.state(), member, world.settings);
  };
  assert.equal(idle().accept, true);
  const content = { endpoint: 'POST /login', schema: { name: 'string' } };
  await world.call('backend-dev', 'SendMessage', { recipient: 'frontend-dev', type: 'api_ready', content });
  const statuses = async (name: string) =>
    ((await world.call(name, 'TaskList')).tasks as { status: string }[]).map(({ status }) => status);
  assert.deepEqual(await statuses('frontend-dev'), ['in_progress', 'pending', 'pending']);
  assert.deepEqual(await statuses('tester'), ['in_progress', 'blocked', 'blocked']);
  assert.equal((await world.call('frontend-dev', 'TaskGet', { taskId: '3' })).status, 'pending');
  assert.match(
    idle().reason,
    /task 3 "Form" is yours now: .* You can complete it only after task 1: until then end your turn; you are resumed/,
  );
  const begin = (name: string, taskId: string) => world.refusal(name, 'TaskUpdate', { taskId, status: 'in_progress' });
  isRefusal(await begin('frontend-dev', '2'), TASK_CODES.task_does_not_fit, { task: '2', member: 'frontend-dev' });
  isRefusal(await begin('tester', '2'), TASK_CODES.task_blocked, { task: '2', before: ['task 1'] });
  await world.call('frontend-dev', 'TaskUpdate', { taskId: '3', status: 'in_progress' });
  isRefusal(
    await world.refusal('frontend-dev', 'TaskUpdate', { taskId: '3', status: 'completed' }),
    TASK_CODES.task_waits,
    { task: '3', before: ['task 1 "API"'] },
  );
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
  await world.call('frontend-dev', 'TaskUpdate', { taskId: '3', status: 'completed' });
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

test('a task is for somebody there is, and touches nothing of others', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  const task = { subject: 'API', description: 'd' };
  isRefusal(
    await world.refusal('team-lead', 'TaskCreate', { ...task, owner: 'backend' }),
    MESSAGES_CODES.parameter_invalid,
    { field: 'owner', got: 'backend', near: 'backend-dev' },
  );
  isRefusal(
    await world.refusal('team-lead', 'TaskCreate', { ...task, owner: 'team-tester' }),
    MESSAGES_CODES.parameter_invalid,
    { field: 'owner', got: 'team-tester', near: 'tester' },
  );
  const both = { ...task, files: ['src/api/a.ts', 'src/api/b.ts', 'src/pages/a.tsx', 'package.json'] };
  isRefusal(await world.refusal('team-lead', 'TaskCreate', both), TASK_CODES.task_files_of_others, {
    files: both.files,
    owners: ['backend-dev', 'frontend-dev'],
    each: "src/api/a.ts, src/api/b.ts are backend-dev's; src/pages/a.tsx is frontend-dev's",
  });
  isRefusal(
    await world.refusal('team-lead', 'TaskCreate', { ...task, owner: 'backend-dev', files: ['src/pages/a.tsx'] }),
    TASK_CODES.task_file_of_other,
    { file: 'src/pages/a.tsx', owner: 'frontend-dev' },
  );
  isRefusal(await world.refusal('team-lead', 'TaskCreate', { ...task, blocked_by: ['9'] }), TASK_CODES.task_not_found, {
    field: 'blocked_by',
    task: '9',
  });
  isRefusal(await world.refusal('team-lead', 'TaskGet', { taskId: '1' }), TASK_CODES.task_not_found, {
    field: 'taskId',
    task: '1',
    count: 0,
  });
});

test('a lease ends with the last task that its holder is at', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'frontend-dev']);
  const make = (subject: string) =>
    world.call('team-lead', 'TaskCreate', { subject, description: 'd', owner: 'backend-dev' });
  const set = (taskId: string, status: string) => world.call('backend-dev', 'TaskUpdate', { taskId, status });
  for (const subject of ['API', 'More', 'Last']) await make(subject);
  for (const id of ['1', '2']) await set(id, 'in_progress');
  const lease = { path: 'package.json' };
  await world.call('backend-dev', 'FileLease', lease);
  assert.equal((await set('1', 'completed')).leases_given_back, undefined, 'it is at another');
  isRefusal(await world.refusal('frontend-dev', 'FileLease', lease), WRITES_CODES.lease_not_free, {
    path: 'package.json',
    holder: 'backend-dev',
    call: 'FileLease {"path":"package.json","release":true}',
  });
  assert.deepEqual((await set('2', 'completed')).leases_given_back, ['package.json']);
  assert.equal((await world.call('backend-dev', 'FileLease', { ...lease, release: true })).state, 'released');
  assert.equal((await world.call('frontend-dev', 'FileLease', lease)).state, 'leased');
  await set('3', 'in_progress');
  assert.equal((await set('3', 'failed')).leases_given_back, undefined, 'what another holds stays');
  assert.equal(world.state().leases.get('package.json')?.member, 'frontend-dev');
});

test('leases: for shared and unowned paths, to one at a time, for a while', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'frontend-dev']);
  assert.equal((await world.call('backend-dev', 'FileLease', { path: 'package.json', minutes: 5 })).state, 'leased');
  isRefusal(await world.refusal('frontend-dev', 'FileLease', { path: './package.json' }), WRITES_CODES.lease_not_free, {
    path: 'package.json',
    holder: 'backend-dev',
  });
  isRefusal(
    await world.refusal('frontend-dev', 'FileLease', { path: 'src/api/a.ts' }),
    WRITES_CODES.lease_of_owned_path,
    { path: 'src/api/a.ts', owner: 'backend-dev', ask: 'Send backend-dev' },
  );
  isRefusal(await world.refusal('frontend-dev', 'FileLease', { path: '../x' }), WORK_CODES.path_outside_project, {
    field: 'path',
    path: '../x',
  });
  isRefusal(
    await world.refusal('frontend-dev', 'FileLease', { path: `${world.root}/package.json` }),
    WRITES_CODES.lease_not_free,
    { path: 'package.json', holder: 'backend-dev' },
  );
  const made = { subject: 'Both', description: 'd', owner: 'frontend-dev' };
  for (const file of ['src/pages/../api/a.ts', `${world.root}/src/api/a.ts`])
    isRefusal(
      await world.refusal('team-lead', 'TaskCreate', { ...made, files: [file] }),
      TASK_CODES.task_file_of_other,
      { file: 'src/api/a.ts', owner: 'backend-dev' },
    );
  isRefusal(
    await world.refusal('frontend-dev', 'FileLease', { path: '.tool/config/workflow.yaml' }),
    WRITES_CODES.path_protected,
    { path: '.tool/config/workflow.yaml', what: '.tool' },
  );
  for (const path of ['src/types/', 'src/types/**'])
    isRefusal(await world.refusal('frontend-dev', 'FileLease', { path }), MESSAGES_CODES.parameter_invalid, {
      field: 'path',
      got: path,
    });
  isRefusal(
    await world.refusal('frontend-dev', 'FileLease', { path: 'src/types/a.ts', minutes: 500 }),
    MESSAGES_CODES.parameter_invalid,
    { field: 'minutes', expected: '1 to 120', got: '500' },
  );
  assert.equal((await world.call('backend-dev', 'FileLease', { path: 'src/api/a.ts' })).state, 'own');
  isRefusal(
    await world.refusal('team-lead', 'FileLease', { path: 'package-lock.json' }),
    WRITES_CODES.lead_takes_no_lease,
    { path: 'package-lock.json' },
  );
  world.clock.set(6 * 60_000);
  assert.equal((await world.call('frontend-dev', 'FileLease', { path: 'package.json' })).state, 'leased');
  assert.equal(
    (await world.call('frontend-dev', 'FileLease', { path: 'package.json', release: true })).state,
    'released',
  );
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

test('what an operation does not take is named, with what it takes', async (t) => {
  const world = new TeamWorld(t);
  await world.team([]);
  const refused = await world.refusal('team-lead', 'TaskGet', { task_id: '1' });
  assert.deepEqual(problemsOf(refused), ['parameter_unknown task_id near taskId', 'parameter_missing taskId']);
  assert.match(
    textOf(refused),
    /task_id: TaskGet takes no such parameter\. Did you mean taskId\?.*\n.*TaskGet needs it/,
  );
  const [status] = problemsIn(await world.refusal('team-lead', 'TaskUpdate', { taskId: '1', status: 'done' }));
  isRefusal(status, MESSAGES_CODES.parameter_invalid, {
    ...{ field: 'status', expected: 'one of pending, in_progress, completed, failed', got: '"done"' },
  });
  isRefusal(await world.refusal('team-lead', 'TeamCreat'), OPERATIONS_CODES.operation_unknown, {
    name: 'TeamCreat',
    near: 'TeamCreate',
  });
});

test("nothing is checked for the completion of somebody else's task", async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'tester']);
  await world.call('team-lead', 'TaskCreate', { subject: 'Orders', description: 'All', owner: 'backend-dev' });
  const complete = { taskId: '1', status: 'completed' };
  isRefusal(await world.refusal('tester', 'TaskUpdate', complete), TASK_CODES.task_not_claimed, {
    task: '1',
    member: 'tester',
  });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  isRefusal(await world.refusal('tester', 'TaskUpdate', complete), TASK_CODES.task_claimed, {
    task: '1',
    holder: 'backend-dev',
  });
  assert.equal(world.state().gate, null);
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

test('a completion that is refused changes nothing, whom the task is for included', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'frontend-dev']);
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'frontend-dev' });
  const complete = { taskId: '1', status: 'completed', owner: 'backend-dev' };
  world.fails('tests');
  isRefusal(await world.refusal('team-lead', 'TaskUpdate', complete), TASK_CODES.task_not_begun, {
    task: '1',
    owner: 'frontend-dev',
    another: 'backend-dev',
  });
  assert.equal(world.state().tasks.get('1')?.owner, 'frontend-dev');
  await world.call('frontend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  for (const status of ['completed', 'pending'])
    assert.match(
      await world.refused('team-lead', 'TaskUpdate', { ...complete, status }),
      /says 404|claimed by frontend-dev/,
    );
  assert.equal(world.state().tasks.get('1')?.owner, 'frontend-dev');
  assert.match(await world.refused('frontend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' }), /says 404/);
  assert.equal(world.state().tasks.get('1')?.status, 'in_progress');
});

test('a lease is for what is written: no directory, and no link to another place', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  const lease = (path: string) => world.refusal('backend-dev', 'FileLease', { path });
  mkdirSync(join(world.root, 'src', 'types'), { recursive: true });
  mkdirSync(join(world.root, 'src', 'pages'));
  writeFileSync(join(world.root, 'src', 'types', 'real.ts'), '');
  for (const [name, target] of [
    ['out.ts', '/etc/passwd'],
    ['theirs.ts', '../pages/new.ts'],
    ['ours.ts', 'real.ts'],
  ] as const)
    symlinkSync(target, join(world.root, 'src', 'types', name));
  symlinkSync('..', join(world.root, 'src', 'types', 'up'));
  isRefusal(await lease('src/types'), WRITES_CODES.directory_not_leasable, { path: 'src/types' });
  isRefusal(await lease('src/types/up'), WRITES_CODES.directory_not_leasable, { path: 'src/types/up' });
  isRefusal(await lease('src/types/out.ts'), OPERATIONS_CODES.path_leads_outside, {
    path: 'src/types/out.ts',
    target: '/etc/passwd',
  });
  isRefusal(await lease('src/types/theirs.ts'), OPERATIONS_CODES.path_is_link, {
    target: 'src/pages/new.ts',
    call: 'FileLease {"path":"src/pages/new.ts"}',
  });
  isRefusal(await lease('src/types/ours.ts'), OPERATIONS_CODES.path_is_link, { target: 'src/types/real.ts' });
  const leased = await world.call('backend-dev', 'FileLease', { path: 'src/types/real.ts' });
  assert.equal(leased.state, 'leased');
});

test('mail is queued, delivered and read, each with its time; what could not be shown stays unread', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['tester']);
  const sent = { recipient: 'tester', type: 'progress', content: 'go on' };
  const queued = world.clock.now();
  await world.call('team-lead', 'SendMessage', sent);
  world.clock.set(1_000);
  const delivered = world.clock.now();
  const evidence = world.evidence('tester');
  const inbox = (show: () => Promise<void>) => operate(world.context, 'Inbox', {}, evidence, show);
  await assert.rejects(
    inbox(() => Promise.reject(new Error('no space'))),
    /no space/,
  );
  const receipt = () => world.state().messages[0]?.receipts.get('tester');
  assert.deepEqual(receipt(), { deliveredAt: delivered, readAt: null });
  world.clock.set(2_000);
  const { messages } = await inbox(() => Promise.resolve());
  const [message] = messages as Readonly<Record<string, unknown>>[];
  assert.deepEqual(
    [message?.queued_at, message?.delivered_at, message?.read_at],
    [new Date(queued).toISOString(), new Date(delivered).toISOString(), null],
  );
  assert.deepEqual(receipt(), { deliveredAt: delivered, readAt: world.clock.now() });
  assert.deepEqual((await world.call('tester', 'Inbox')).messages, []);
});

test('a task for somebody whose run is over says that it is to be started', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  const task = { subject: 'API', description: 'd', owner: 'backend-dev' };
  assert.equal((await world.call('team-lead', 'TaskCreate', task)).note, undefined);
  await world.append({ type: 'member_ended', name: 'backend-dev', epoch: 1, how: 'confirmed', reason: 'done' });
  assert.match(
    String((await world.call('team-lead', 'TaskCreate', task)).note),
    /^backend-dev is not at work\. Start backend-dev with Task/,
  );
});

test('a request to somebody who has stopped reaches the lead, who starts it under whatever name the agent is called by', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'tester']);
  await onTeammateIdle(world.context, world.event('backend-dev', 'SubagentStop'), true);
  const content = { test: 'sign in', expected: '200', actual: '500' };
  const sent = await world.call('tester', 'SendMessage', { recipient: 'backend-dev', type: 'bug_report', content });
  assert.match(String(sent.note), /backend-dev has stopped: .*\. team-lead was told$/);
  const mail = JSON.stringify(await world.call('team-lead', 'Inbox'));
  assert.match(mail, /backend-dev has stopped and has an unread bug_report from tester: start it again with Task/);
  const registered = { subagent_type: 'team-backend-dev', team_name: TEAM, name: 'backend-dev', prompt: 'p' };
  await world.call('team-lead', 'Task', registered);
  const input = { subagent_type: 'backend-dev', prompt: 'p' };
  const spawned = await onPreToolUse(world.context, world.event('team-lead', 'PreToolUse', { tool: 'Agent', input }));
  assert.equal(spawned.kind === 'rewrite' && spawned.input.subagent_type, 'team-backend-dev');
  const begun = world.event('backend-dev', 'SubagentStart', { agentId: 'its-successor' });
  assert.match(JSON.stringify(await onSubagentStart(world.context, begun)), /#1 from tester, bug_report/);
});

test('what a teammate is started with is delivered, and read when it was shown as mail', async (t) => {
  const world = new TeamWorld(t);
  await world.team([]);
  const registered = { subagent_type: 'team-tester', team_name: TEAM, name: 'tester', prompt: 'p' };
  await world.call('team-lead', 'Task', registered);
  await world.call('team-lead', 'SendMessage', { recipient: 'tester', type: 'progress', content: 'go on' });
  const begun = await onSubagentStart(world.context, world.event('tester', 'SubagentStart'));
  assert.match(JSON.stringify(begun), /#1 from team-lead, progress: go on/);
  const receipt = () => world.state().messages[0]?.receipts.get('tester');
  assert.notEqual(receipt()?.deliveredAt, null);
  assert.equal(receipt()?.readAt, null);
  await onPostToolUse(world.context, world.event('tester', 'PostToolUse', { tool: 'Read' }));
  assert.notEqual(receipt()?.readAt, null);
});

test('for the files of a role that is not in the team it is said how it comes in', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'frontend-dev']);
  const add = (more: object) =>
    world.refusal('team-lead', 'TaskCreate', { subject: 'Colours', description: 'd', ...more });
  const files = ['design/colours.css'];
  isRefusal(await add({ owner: 'frontend-dev', files }), TASK_CODES.task_file_of_other, {
    file: 'design/colours.css',
    owner: 'designer',
    where: 'not in this team yet',
  });
  isRefusal(await add({ owner: 'designer', files }), TASK_CODES.task_owner_not_started, { owner: 'designer' });
  const lease = { path: 'design/colours.css', reason: 'colours' };
  isRefusal(await world.refusal('frontend-dev', 'FileLease', lease), WRITES_CODES.lease_of_owned_path, {
    owner: 'designer',
    ask: 'designer is not in this team: send team-lead',
  });
});

test('what the checks have rejected is measured whoever completes it', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'quality']);
  for (const [subject, owner] of [
    ['API', 'backend-dev'],
    ['Judge', 'quality'],
  ])
    await world.call('team-lead', 'TaskCreate', { subject, description: 'd', owner });
  world.gate = [failing('b'.repeat(40))];
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  await world.refused('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'pending' });
  await world.call('team-lead', 'TaskUpdate', { taskId: '1', status: 'pending', owner: 'quality' });
  for (const taskId of ['1', '2']) await world.call('quality', 'TaskUpdate', { taskId, status: 'in_progress' });
  assert.match(
    await world.refused('quality', 'TaskUpdate', { taskId: '1', status: 'completed' }),
    /users\.test\.ts: says 404/,
  );
  await world.call('quality', 'TaskUpdate', { taskId: '2', status: 'completed' });
});

test('who judges is shown what was measured last with its task; nobody else is', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'quality']);
  await world.call('team-lead', 'TaskCreate', { subject: 's', description: 'd', owner: 'quality' });
  const measured = async (who: string) => (await world.call(who, 'TaskGet', { taskId: '1' })).measured;
  assert.equal(await measured('quality'), undefined, 'nothing was measured yet');
  const { tree, ok, checks, coverage } = failing('a'.repeat(40));
  await world.append({ type: 'gate_measured', task: null, tree, ok, checks, coverage });
  assert.deepEqual(await measured('quality'), ['The gate measured all work:', '- tests failed: it failed']);
  assert.equal(await measured('backend-dev'), undefined);
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

test('a lead does not complete what a teammate has not begun', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  const completed = { taskId: '1', status: 'completed', result: 'done' };
  isRefusal(await world.refusal('team-lead', 'TaskUpdate', completed), TASK_CODES.task_not_begun, {
    task: '1',
    owner: 'backend-dev',
    next: 'backend-dev completes it.',
  });
  await world.call('team-lead', 'TaskUpdate', { taskId: '1', status: 'failed', result: 'not needed' });
  assert.equal(world.state().tasks.get('1')?.status, 'failed');
});

test('mail to a role of the pattern waits until somebody plays it', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  const bug = { test: 'a', expected: 'b', actual: 'c' };
  const sent = await world.call('backend-dev', 'SendMessage', {
    recipient: 'tester',
    type: 'bug_report',
    content: bug,
  });
  assert.match(
    String(sent.note),
    /tester is not started yet: it reads this after the lead starts it with Task\. team-lead was told/,
  );
  const told = world.state().messages.at(-1);
  assert.equal(
    told?.content,
    'tester is not started yet and has an unread bug_report from backend-dev: start it with Task',
  );
  const unknown = { recipient: 'designer', type: 'bug_report', content: bug };
  const [problem] = problemsIn(await world.refusal('backend-dev', 'SendMessage', unknown));
  isRefusal(problem, MESSAGES_CODES.recipient_unknown, {
    ...{ known: ['backend-dev', 'frontend-dev', 'tester', 'team-lead', 'all'], got: '"designer"' },
  });
  await world.call('team-lead', 'Task', { subagent_type: 'team-tester', team_name: TEAM, name: 'tester', prompt: 'p' });
  const { messages } = await world.call('tester', 'Inbox', {});
  assert.equal(Array.isArray(messages) && messages.length, 1);
});
