import assert from 'node:assert/strict';
import test from 'node:test';
import { waitingRoles } from '../../../src/team/rules/brief.ts';
import { MESSAGES_CODES } from '../../../src/team/rules/codes/messages-codes.ts';
import { OPERATIONS_CODES } from '../../../src/team/rules/codes/operations-codes.ts';
import { TASK_CODES } from '../../../src/team/rules/codes/tasks-codes.ts';
import { WRITES_CODES } from '../../../src/team/rules/codes/writes-codes.ts';
import { judgeIdle, judgeLeadStop } from '../../../src/team/rules/idle.ts';
import { isRefusal, wordsOf } from '../../support/codes.ts';
import { failing, problemsIn, problemsOf, TeamWorld } from '../../support/team-world.ts';

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

test('what an operation does not take is named, with what it takes', async (t) => {
  const world = new TeamWorld(t);
  await world.team([]);
  const refused = await world.refusal('team-lead', 'TaskGet', { task_id: '1' });
  assert.deepEqual(problemsOf(refused), ['parameter_unknown task_id near taskId', 'parameter_missing taskId']);
  assert.deepEqual(
    problemsIn(refused).map(({ of, values }) => [of.code, values.operation]),
    [
      ['parameter_unknown', 'TaskGet'],
      ['parameter_missing', 'TaskGet'],
    ],
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

test('a task for somebody whose run is over says that it is to be started', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  const task = { subject: 'API', description: 'd', owner: 'backend-dev' };
  assert.equal((await world.call('team-lead', 'TaskCreate', task)).note, undefined);
  await world.append({ type: 'member_ended', name: 'backend-dev', epoch: 1, how: 'confirmed', reason: 'done' });
  assert.match(
    String((await world.call('team-lead', 'TaskCreate', task)).note),
    new RegExp(
      `^${wordsOf(TASK_CODES.owner_not_at_work, { member: 'backend-dev', start: '' })} .*backend-dev with Task`,
    ),
  );
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

test('a lead does not complete what a teammate has not begun', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  const completed = { taskId: '1', status: 'completed', result: 'done' };
  const refused = await world.refusal('team-lead', 'TaskUpdate', completed);
  isRefusal(refused, TASK_CODES.task_not_begun, { task: '1', owner: 'backend-dev' });
  assert.match(String(refused.values.next), /^backend-dev /, 'it is at work already');
  await world.call('team-lead', 'TaskUpdate', { taskId: '1', status: 'failed', result: 'not needed' });
  assert.equal(world.state().tasks.get('1')?.status, 'failed');
});
