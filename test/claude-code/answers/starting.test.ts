// A teammate from its registration to its first sign of life, and what is left when it is gone.

import assert from 'node:assert/strict';
import test from 'node:test';
import { onPostToolUse } from '../../../src/claude-code/answers/on-post-tool-use.ts';
import { onPreToolUse } from '../../../src/claude-code/answers/on-pre-tool-use.ts';
import { onSessionStart } from '../../../src/claude-code/answers/on-session-start.ts';
import { onStop } from '../../../src/claude-code/answers/on-stop.ts';
import { onSubagentStart } from '../../../src/claude-code/answers/on-subagent-start.ts';
import { onTeammateIdle } from '../../../src/claude-code/answers/on-teammate-idle.ts';
import { onUserPrompt } from '../../../src/claude-code/answers/on-user-prompt.ts';
import { HOOK_CODES } from '../../../src/claude-code/rules/hook-codes.ts';
import { LEAD_CODES } from '../../../src/team/rules/codes/lead-codes.ts';
import { WRITES_CODES } from '../../../src/team/rules/codes/writes-codes.ts';
import { codeIn, lineLike, wordsLike, wordsOf } from '../../support/codes.ts';
import { TEAM, TeamWorld } from '../../support/team-world.ts';

const LEAD = 'team-lead';
const WHO = 'backend-dev';
const REGISTRATION = { subagent_type: 'team-backend-dev', team_name: TEAM, name: WHO, prompt: 'Do your tasks' };
const INPUT = { subagent_type: 'team-backend-dev', description: 'its tasks', prompt: 'Do your tasks' };

/** A team with a task for one teammate, who is registered. */
async function registered(world: TeamWorld): Promise<void> {
  await world.call(LEAD, 'TeamCreate', { team_name: TEAM });
  await world.call(LEAD, 'TaskCreate', { subject: 'API', description: 'd', owner: WHO });
  await world.call(LEAD, 'Task', REGISTRATION);
}

function calls(world: TeamWorld, more: Readonly<Record<string, unknown>> = {}) {
  const event = world.event(LEAD, 'PreToolUse', { tool: 'Agent', input: { ...INPUT, ...more } });
  return onPreToolUse(world.context, event);
}

function begins(world: TeamWorld, agentId = `agent-of-${WHO}`) {
  return onSubagentStart(world.context, world.event(WHO, 'SubagentStart', { agentId }));
}

const phase = (world: TeamWorld) => world.state().members.get(WHO)?.phase;

test('who is registered works from the first sign of life on, and is told who it is by its own start', async (t) => {
  const world = new TeamWorld(t);
  await registered(world);
  assert.equal((await calls(world)).kind, 'silent', 'a right call stays as the model wrote it');
  assert.equal(phase(world), 'registered');
  assert.equal(world.state().session, 'created');
  const told = await begins(world);
  assert.ok(told.kind === 'context');
  assert.match(told.text, /^toolcrew: you are backend-dev of team tool-run-spec-auth-001/);
  assert.equal(phase(world), 'working');
  assert.equal(world.state().session, 'spawned');
});

test('a call of its own is a sign of life too, and so is the word of the host that it was started', async (t) => {
  const world = new TeamWorld(t);
  await registered(world);
  await world.call(WHO, 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  assert.equal(phase(world), 'working');
  const other = new TeamWorld(t);
  await registered(other);
  await calls(other);
  await onPostToolUse(other.context, other.event(LEAD, 'PostToolUse', { tool: 'Agent', input: INPUT }));
  assert.equal(phase(other), 'working');
});

test('what would make an agent of another kind is taken out of the call, and nothing else', async (t) => {
  const world = new TeamWorld(t);
  await registered(world);
  const answer = await calls(world, { name: WHO, team_name: TEAM, isolation: 'worktree' });
  assert.deepEqual(answer, { kind: 'rewrite', input: INPUT, grant: false });
});

test('a start that was denied is made again; after a second one the tasks go on without a team', async (t) => {
  const world = new TeamWorld(t);
  await registered(world);
  assert.equal((await calls(world)).kind, 'silent');
  assert.equal((await onStop(world.context, world.event(LEAD, 'Stop'))).kind, 'silent', 'the user may be asked');
  assert.equal((await calls(world)).kind, 'silent');
  const refused = await world.reasonOf(calls(world));
  assert.match(refused, /^toolcrew: backend-dev was called 2 times, /);
  assert.equal(codeIn(refused), 'member_never_started');
  assert.match(refused, /If the user denied it, first ask them/);
  assert.match(refused, /Team mode failed \(a teammate could not be started\)\. Do the open tasks one at a time/);
  assert.equal(world.state().session, 'fallback');
  assert.equal((await calls(world)).kind, 'silent', "from then on it is the lead's own agent");
});

test('a registration anew counts its starts anew', async (t) => {
  const world = new TeamWorld(t);
  await registered(world);
  await calls(world);
  await calls(world);
  world.clock.set(1_000);
  await world.call(LEAD, 'Task', REGISTRATION);
  assert.equal((await calls(world)).kind, 'silent');
  assert.equal(world.state().session, 'created');
});

test('a start that is registered anew before each try is tried no more often', async (t) => {
  const world = new TeamWorld(t);
  await registered(world);
  for (const at of [1_000, 2_000]) {
    assert.equal((await calls(world)).kind, 'silent');
    world.clock.set(at);
    await world.call(LEAD, 'Task', REGISTRATION);
  }
  assert.match(await world.reasonOf(calls(world)), /^toolcrew: backend-dev was called 2 times, /);
  assert.equal(world.state().session, 'fallback');
});

test('who was seen to run may be denied twice again', async (t) => {
  const world = new TeamWorld(t);
  await registered(world);
  await calls(world);
  world.clock.set(1_000);
  await world.call(LEAD, 'Task', REGISTRATION);
  await endsWithout(world, WHO, 1);
  world.clock.set(2_000);
  await world.call(LEAD, 'Task', REGISTRATION);
  assert.equal((await calls(world)).kind, 'silent');
  assert.equal((await calls(world)).kind, 'silent');
  assert.equal(world.state().session, 'spawned');
});

test('one more of a teammate that works is not started; one that starts all the same is nobody', async (t) => {
  const world = new TeamWorld(t);
  await registered(world);
  await calls(world);
  await begins(world);
  const refused = await world.reasonOf(calls(world));
  assert.match(refused, /^toolcrew: backend-dev is at work already, /);
  assert.equal(codeIn(refused), 'agent_already_started');
  const told = await begins(world, 'a-second-one');
  assert.ok(told.kind === 'context');
  assert.match(told.text, new RegExp(`backend-dev of team ${TEAM},`));
  assert.equal(codeIn(told.text), 'member_run_by_other');
  const input = { file_path: 'src/api/users.ts' };
  const write = world.event(WHO, 'PreToolUse', { tool: 'Write', input, agentId: 'a-second-one' });
  assert.match(
    await world.reasonOf(onPreToolUse(world.context, write)),
    lineLike(WRITES_CODES.writer_not_member, { team: TEAM, who: 'a second agent of backend-dev' }),
  );
  assert.equal((await onPreToolUse(world.context, { ...write, agentId: `agent-of-${WHO}` })).kind, 'silent');
});

test('the refusal of a start names a call that works now', async (t) => {
  const world = new TeamWorld(t);
  await world.call(LEAD, 'TeamCreate', { team_name: TEAM });
  await world.call(LEAD, 'TaskCreate', { subject: 'API', description: 'd', owner: WHO });
  const reason = await world.reasonOf(calls(world));
  const [, input = ''] = /Task (\{.*\}), then make the call/.exec(reason) ?? [];
  await world.call(LEAD, 'Task', JSON.parse(input));
  assert.equal((await calls(world)).kind, 'silent');
});

test('an agent that hands its result back has not ended before its task has', async (t) => {
  const world = new TeamWorld(t);
  await registered(world);
  await calls(world);
  await begins(world);
  await world.call(WHO, 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  const end = () =>
    onPreToolUse(
      world.context,
      world.event(WHO, 'PreToolUse', { tool: 'SubagentHandback', input: { message: 'I am done' } }),
    );
  assert.match(await world.reasonOf(end()), /You have not finished task 1 "API"/);
  assert.equal(phase(world), 'working');
  await world.call(WHO, 'TaskUpdate', { taskId: '1', status: 'completed', result: 'it is there' });
  assert.equal((await end()).kind, 'silent');
  assert.equal(phase(world), 'stopped');
  // The host ends it whatever it hears then.
  await world.call(LEAD, 'SendMessage', { recipient: WHO, type: 'progress', content: 'one thing more' });
  assert.equal((await onTeammateIdle(world.context, world.event(WHO, 'SubagentStop'), true)).kind, 'silent');
  assert.equal(world.state().unread.get(WHO)?.length, 1, 'it stays unread');
});

test('no prompt is sent later that would count as the word of the user', async (t) => {
  const world = new TeamWorld(t);
  const judged = (tool: string, input: Readonly<Record<string, unknown>>) =>
    onPreToolUse(world.context, world.event(LEAD, 'PreToolUse', { tool, input }));
  for (const tool of ['CronCreate', 'ScheduleWakeup', 'RemoteTrigger'])
    for (const prompt of ['approve SPEC-AUTH-001', ' Approved. ', 'changes: none'])
      assert.match(await world.reasonOf(judged(tool, { prompt })), /\(approval_word_reserved\)$/, tool);
  assert.equal((await judged('CronCreate', { cron: '* * * * *', prompt: 'look at the tests' })).kind, 'silent');
});

test('one notice may tell of several runs that are over', async (t) => {
  const world = new TeamWorld(t);
  await world.team([WHO, 'frontend-dev']);
  for (const who of [WHO, 'frontend-dev']) {
    await world.call(LEAD, 'TaskCreate', { subject: who, description: 'd', owner: who });
    await onSubagentStart(world.context, world.event(who, 'SubagentStart'));
  }
  const notice = (who: string) =>
    `<task-notification>\n<task-id>agent-of-${who}</task-id>\n<status>killed</status>\n</task-notification>\n`;
  const prompt = `${notice(WHO)}${notice('frontend-dev')}`;
  const answer = await onUserPrompt(world.context, world.event(LEAD, 'UserPromptSubmit', { prompt }));
  assert.ok(answer.kind === 'context');
  for (const who of [WHO, 'frontend-dev']) {
    assert.match(answer.text, wordsLike(HOOK_CODES.run_ended_unreported, { member: who }));
    assert.match(answer.text, new RegExp(`- Task \\{"subagent_type":"team-${who}"`));
    assert.equal(world.state().members.get(who)?.phase, 'stopped');
  }
});

test('a leading session that begins again has no agents, and is told whom to start', async (t) => {
  const world = new TeamWorld(t);
  await registered(world);
  await begins(world);
  await world.call(WHO, 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  const start = (source: string, session = 'session-1') =>
    onSessionStart(world.context, world.event(LEAD, 'SessionStart', { source, session }));
  await start('compact');
  await start('resume', 'another-session');
  assert.equal(phase(world), 'working');
  const answer = await start('resume');
  assert.ok(answer.kind === 'context');
  assert.match(answer.text, /this session started again. backend-dev ended with its previous process/);
  assert.match(answer.text, /- Task \{"subagent_type":"team-backend-dev"/);
  assert.equal(phase(world), 'stopped');
  assert.equal(world.state().tasks.get('1')?.status, 'pending');
  await world.call(LEAD, 'Task', REGISTRATION);
  assert.equal((await calls(world)).kind, 'silent');
});

/** A run of that teammate that begins its task and ends without a word of its own; gives what the lead is told. */
async function endsWithout(world: TeamWorld, who: string, run: number): Promise<string> {
  await world.call(LEAD, 'Task', { ...REGISTRATION, subagent_type: `team-${who}`, name: who });
  const agentId = `agent-${run}-of-${who}`;
  await onSubagentStart(world.context, world.event(who, 'SubagentStart', { agentId }));
  const prompt = `<task-notification>\n<task-id>${agentId}</task-id>\n<status>killed</status>\n</task-notification>\n`;
  const answer = await onUserPrompt(world.context, world.event(LEAD, 'UserPromptSubmit', { prompt }));
  return answer.kind === 'context' ? answer.text : '';
}

const statusOf = (world: TeamWorld, task: string) => world.state().tasks.get(task)?.status;

test('a task that a run and its successor have left is not begun a third time without the user', async (t) => {
  const world = new TeamWorld(t);
  await registered(world);
  assert.match(await endsWithout(world, WHO, 1), /- Task \{"subagent_type":"team-backend-dev"/);
  assert.equal(statusOf(world, '1'), 'pending');
  const told = await endsWithout(world, WHO, 2);
  assert.doesNotMatch(told, /- Task \{/);
  const why = wordsOf(LEAD_CODES.task_given_up, { task: '1', member: 'backend-dev', count: 2 });
  assert.ok(told.includes(`task 1 "API" (${why})`), told);
  assert.match(told, /To try again, call TaskUpdate \{"taskId":"1","status":"pending"\}/);
  assert.equal(statusOf(world, '1'), 'failed');
  await world.call(LEAD, 'TaskUpdate', { taskId: '1', status: 'pending' });
  assert.match(await endsWithout(world, WHO, 3), /- Task \{"subagent_type":"team-backend-dev"/, 'it has its chance');
});

test('after three successors of whomever, the next run that leaves its task is the last one', async (t) => {
  const world = new TeamWorld(t);
  const names = ['backend-dev', 'frontend-dev', 'tester', 'designer'];
  await world.call(LEAD, 'TeamCreate', { team_name: TEAM, pattern: 'design_implementation' });
  for (const [at, owner] of names.entries()) {
    await world.call(LEAD, 'TaskCreate', { subject: owner, description: 'd', owner });
    await endsWithout(world, owner, 1);
    assert.equal(statusOf(world, String(at + 1)), at < 3 ? 'pending' : 'failed');
  }
  const failed = world.state().tasks.get('4')?.result ?? '';
  assert.match(failed, wordsLike(LEAD_CODES.too_many_given_up, { member: 'designer', runs: 4 }));
});

test('that its host ended, or that it was asked to end, is not counted as a run that left its task', async (t) => {
  const world = new TeamWorld(t);
  await registered(world);
  for (let run = 1; run <= 3; run += 1) {
    await world.call(LEAD, 'Task', REGISTRATION);
    await begins(world, `agent-${run}`);
    await onSessionStart(world.context, world.event(LEAD, 'SessionStart', { source: 'resume', session: 'session-1' }));
  }
  assert.equal(statusOf(world, '1'), 'pending');
});

test('after /clear the same host leads on, and its teammates with it; another host does not', async (t) => {
  const world = new TeamWorld(t);
  await registered(world);
  await begins(world);
  const cleared = (session: string) =>
    onSessionStart(world.context, world.event(LEAD, 'SessionStart', { source: 'clear', session }));
  const mine = world.context.hostProcess;
  world.context = { ...world.context, hostProcess: () => '78 1' };
  const other = await cleared('session-9');
  assert.ok(other.kind === 'context');
  assert.match(other.text, /\(team_of_other_session\)$/m);
  world.context = { ...world.context, hostProcess: mine };
  const answer = await cleared('session-2');
  assert.ok(answer.kind === 'context');
  assert.match(answer.text, /^toolcrew: you lead team tool-run-spec-auth-001/);
  assert.equal(world.state().lead.session, 'session-2');
  assert.equal(phase(world), 'working');
  // Killed and resumed, it leads in another process, and /clear there keeps the lead as well.
  world.context = { ...world.context, hostProcess: () => '79 1' };
  await onSessionStart(world.context, world.event(LEAD, 'SessionStart', { source: 'resume', session: 'session-2' }));
  assert.equal(world.state().lead.host, '79 1');
  await cleared('session-3');
  assert.equal(world.state().lead.session, 'session-3');
});
