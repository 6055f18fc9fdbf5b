import assert from 'node:assert/strict';
import test from 'node:test';
import { onPostToolUse } from '../../../src/claude-code/answers/on-post-tool-use.ts';
import { onPreToolUse } from '../../../src/claude-code/answers/on-pre-tool-use.ts';
import { onSubagentStart } from '../../../src/claude-code/answers/on-subagent-start.ts';
import { onTeammateIdle } from '../../../src/claude-code/answers/on-teammate-idle.ts';
import { operate } from '../../../src/team/operations/operations.ts';
import { MESSAGES_CODES } from '../../../src/team/rules/codes/messages-codes.ts';
import { OPERATIONS_CODES } from '../../../src/team/rules/codes/operations-codes.ts';
import { WORK_CODES } from '../../../src/team/rules/codes/work-codes.ts';
import { isRefusal, wordsLike } from '../../support/codes.ts';
import { RECORDS, TRUST5 } from '../../support/team.ts';
import { problemsIn, problemsOf, TEAM, TeamWorld } from '../../support/team-world.ts';

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
  assert.match(
    String((await world.call('tester', 'SendMessage', report)).warnings),
    wordsLike(OPERATIONS_CODES.progress_too_frequent),
  );
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
