import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import test from 'node:test';
import { codeIn } from '../../support/codes.ts';
import { ENABLED, HookedProject, type HookRun, specific, TEAM, VERSIONS } from '../../support/hooked.ts';

const REJECTED = 2;

/** The ways in which hosts say that a teammate stops. */
const STOPS = {
  TeammateIdle: (project: HookedProject, who: string, version = VERSIONS[3]): Promise<HookRun> => {
    const named = { teammate_name: who, team_name: TEAM };
    const fields = project.fields(who, 'TeammateIdle', named, version);
    // Only the newest names the agent besides.
    const { agent_id: _, agent_type: __, ...unnamed } = fields;
    return project.raw(
      'teammate-idle',
      JSON.stringify(version === '2.1.331' ? { ...fields, agent_type: who } : unnamed),
    );
  },
  SubagentStop: (project: HookedProject, who: string, version = VERSIONS[3]): Promise<HookRun> =>
    project.hook(
      'subagent-stop',
      who,
      'SubagentStop',
      { stop_hook_active: false, agent_transcript_path: '/nowhere', last_assistant_message: 'done' },
      version,
    ),
} as const;

for (const [event, stop] of Object.entries(STOPS)) {
  for (const version of VERSIONS) {
    test(`${event} on ${version}: work that is left is given by name, and nothing left lets go`, async (t) => {
      const project = await new HookedProject(t).team('backend-dev', 'tester');
      const files = ['src/api/a.ts'];
      await project.call('team-lead', 'TaskCreate', { subject: 'Sign in', description: 'With a password', files });
      const given = await stop(project, 'backend-dev', version);
      assert.equal(given.code, REJECTED, given.stderr);
      assert.equal(codeIn(given.stderr), 'work_unfinished');
      assert.match(
        given.stderr,
        /^toolcrew: [^\n]*TaskUpdate \{"taskId":"1","status":"in_progress"\}[^\n]*With a password/,
      );
      assert.equal(given.exit, REJECTED);
      assert.equal(project.state().tasks.get('1')?.owner, 'backend-dev', 'it is assigned with that');
      const other = await stop(project, 'tester', version);
      assert.deepEqual([other.code, other.stdout, other.stderr], [0, '', '']);
      await project.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
      const open = await stop(project, 'backend-dev', version);
      assert.equal(open.code, REJECTED);
      assert.equal(codeIn(open.stderr), 'work_unfinished');
      assert.match(open.stderr, /TaskUpdate \{"taskId":"1","status":"completed"\}/);
      await project.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'failed', result: 'no way' });
      await project.call('team-lead', 'SendMessage', {
        recipient: 'backend-dev',
        type: 'progress',
        content: 'thank you',
      });
      const mail = await stop(project, 'backend-dev', version);
      assert.equal(mail.code, REJECTED);
      assert.match(mail.stderr, /\(work_unfinished\)\n#1 from team-lead, progress: thank you/);
      const done = await stop(project, 'backend-dev', version);
      assert.deepEqual([done.code, done.stdout, done.stderr], [0, '', '']);
      assert.equal(project.state().members.get('backend-dev')?.phase, event === 'TeammateIdle' ? 'idle' : 'stopped');
    });
  }
}

test('after three rejections without change it is let go as escalated, and the lead has a message', async (t) => {
  const project = await new HookedProject(t).team('backend-dev');
  await project.call('team-lead', 'TaskCreate', { subject: 'Sign in', description: 'd', owner: 'backend-dev' });
  await project.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  const codes: (number | null)[] = [];
  for (let count = 0; count < 4; count++) codes.push((await STOPS.SubagentStop(project, 'backend-dev')).code);
  assert.deepEqual(codes, [2, 2, 2, 0]);
  const { decisions, messages } = project.state();
  assert.equal(decisions.at(-1)?.decision, 'escalated');
  const last = messages.at(-1);
  assert.equal(last?.to, 'team-lead');
  assert.equal(codeIn(String(last?.content)), 'stop_escalated');
  assert.match(String(last?.content), /teammate_idle: backend-dev .* You have not finished task 1/);
  const lead = await project.hook('stop', 'team-lead', 'Stop', { stop_hook_active: false });
  assert.equal(lead.code, REJECTED);
  assert.match(lead.stderr, / \(stop_escalated\)$/m);
});

test('what was let go stays so until something changes, and the lead hears of it once', async (t) => {
  const project = await new HookedProject(t).team('backend-dev');
  await project.call('team-lead', 'TaskCreate', { subject: 'Sign in', description: 'd', owner: 'backend-dev' });
  const codes: (number | null)[] = [];
  for (let count = 0; count < 4; count++) {
    codes.push((await STOPS.SubagentStop(project, 'backend-dev')).code);
    codes.push((await STOPS.TeammateIdle(project, 'backend-dev')).code);
  }
  assert.deepEqual(codes, [2, 2, 2, 0, 0, 0, 0, 0]);
  const told = project.state().messages.filter(({ content }) => codeIn(String(content)) === 'stop_escalated');
  assert.equal(told.length, 1);
  await project.call('team-lead', 'TaskCreate', { subject: 'Sign out', description: 'd', owner: 'backend-dev' });
  await project.call('backend-dev', 'TaskUpdate', { taskId: '2', status: 'in_progress' });
  assert.match((await STOPS.SubagentStop(project, 'backend-dev')).stderr, /You have not finished task 2/);
});

test('what changed between begins the count anew', async (t) => {
  const project = await new HookedProject(t).team('backend-dev');
  await project.call('team-lead', 'TaskCreate', { subject: 'Sign in', description: 'd', owner: 'backend-dev' });
  await project.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  for (let count = 0; count < 3; count++) await STOPS.SubagentStop(project, 'backend-dev');
  await project.call('team-lead', 'SendMessage', { recipient: 'backend-dev', type: 'progress', content: 'go on' });
  assert.equal((await STOPS.SubagentStop(project, 'backend-dev')).code, REJECTED);
  assert.equal((await STOPS.SubagentStop(project, 'backend-dev')).code, REJECTED);
});

test('what it has written between is a change as well', async (t) => {
  const project = await new HookedProject(t).team('backend-dev');
  await project.call('team-lead', 'TaskCreate', { subject: 'Sign in', description: 'd', owner: 'backend-dev' });
  await project.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  const codes: (number | null)[] = [];
  for (let count = 0; count < 7; count++) {
    codes.push((await STOPS.SubagentStop(project, 'backend-dev')).code);
    if (count > 2) continue;
    const write = { tool_name: 'Write', tool_input: { file_path: 'src/api/login.ts' } };
    assert.equal((await project.hook('pre-tool-use', 'backend-dev', 'PreToolUse', write)).code, 0);
  }
  assert.deepEqual(codes, [2, 2, 2, 2, 2, 2, 0]);
  const told = project.state().messages.filter(({ content }) => codeIn(String(content)) === 'stop_escalated');
  assert.equal(told.length, 1);
});

test('a teammate that was asked to end reads that, and ends with its stop', async (t) => {
  const project = await new HookedProject(t).team('backend-dev');
  await project.call('team-lead', 'TaskCreate', { subject: 'Sign in', description: 'd', owner: 'backend-dev' });
  await project.call('team-lead', 'SendMessage', { recipient: 'all', type: 'shutdown_request', content: 'enough' });
  const asked = await STOPS.SubagentStop(project, 'backend-dev');
  assert.equal(asked.code, REJECTED);
  assert.match(asked.stderr, /shutdown_request: enough/);
  assert.equal((await STOPS.SubagentStop(project, 'backend-dev')).code, 0);
  assert.equal(project.state().members.get('backend-dev')?.phase, 'over');
  const deleted = await project.call('team-lead', 'TeamDelete', { team_name: TEAM });
  assert.equal(deleted.state, 'deleted');
});

test('switched off, it only writes down that the teammate stopped', async (t) => {
  const config = `${ENABLED}    hooks:\n      teammate_idle:\n        enabled: false\n`;
  const project = await new HookedProject(t, { config }).team('backend-dev');
  await project.call('team-lead', 'TaskCreate', { subject: 'Sign in', description: 'd', owner: 'backend-dev' });
  const run = await STOPS.SubagentStop(project, 'backend-dev');
  assert.deepEqual([run.code, run.stderr], [0, '']);
  assert.equal(project.state().members.get('backend-dev')?.phase, 'stopped');
});

test('with validate_work off unfinished work is let be, mail is not', async (t) => {
  const config = `${ENABLED}    hooks:\n      teammate_idle:\n        validate_work: false\n`;
  const project = await new HookedProject(t, { config }).team('backend-dev');
  await project.call('team-lead', 'TaskCreate', { subject: 'Sign in', description: 'd', owner: 'backend-dev' });
  await project.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  assert.equal((await STOPS.SubagentStop(project, 'backend-dev')).code, 0);
  await project.call('team-lead', 'SendMessage', { recipient: 'backend-dev', type: 'progress', content: 'go on' });
  // The host wakes it for something else.
  await project.hook('subagent-start', 'backend-dev', 'SubagentStart');
  assert.equal((await STOPS.SubagentStop(project, 'backend-dev')).code, REJECTED);
});

test('agents that are nobody stop when they like', async (t) => {
  const project = await new HookedProject(t).team('backend-dev');
  await project.call('team-lead', 'TaskCreate', { subject: 'Sign in', description: 'd', owner: 'backend-dev' });
  // A fork of the host's own, which has an id and no type.
  const fork = { agent_id: 'a0f0f0f', agent_type: '', stop_hook_active: false };
  for (const more of [
    fork,
    { agent_id: 'x', agent_type: 'general-purpose' },
    { agent_id: 'agent-backend-dev-2', agent_type: 'Explore' },
  ]) {
    const run = await project.hook('subagent-stop', 'team-lead', 'SubagentStop', more);
    assert.deepEqual([run.code, run.stdout, run.stderr], [0, '', ''], JSON.stringify(more));
  }
});

test('the lead goes on while mail or work without anybody waits', async (t) => {
  const project = await new HookedProject(t).team('backend-dev');
  const stop = () => project.hook('stop', 'team-lead', 'Stop', { stop_hook_active: true });
  assert.equal((await stop()).code, 0);
  await project.call('team-lead', 'TaskCreate', { subject: 'Tests', description: 'd', owner: 'tester' });
  const waiting = await stop();
  assert.equal(waiting.code, REJECTED);
  assert.match(waiting.stderr, /^toolcrew: task 1 .*"subagent_type":"team-tester".*\(lead_work_pending\)$/m);
  const other = await project.hook('stop', 'team-lead', 'Stop', { session_id: 'another' });
  assert.equal(other.code, 0);
});

for (const [version, isShownAsError] of [
  ['2.1.33', true],
  ['2.1.100', true],
  ['2.1.177', false],
  ['2.1.331', false],
] as const)
  test(`on ${version} the lead goes on ${isShownAsError ? 'by a rejection' : 'by a text'}`, async (t) => {
    const project = await new HookedProject(t).team('backend-dev');
    await project.call('team-lead', 'TaskCreate', { subject: 'Tests', description: 'd', owner: 'tester' });
    appendFileSync(project.transcript, `${JSON.stringify({ type: 'user', version })}\n`);
    const run = await project.hook('stop', 'team-lead', 'Stop', { stop_hook_active: false }, version);
    assert.equal(run.exit, isShownAsError ? REJECTED : 0);
    const words = isShownAsError ? run.stderr : String(specific(run).additionalContext);
    assert.equal(codeIn(words), 'lead_work_pending');
  });
