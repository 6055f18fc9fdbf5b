import assert from 'node:assert/strict';
import test from 'node:test';
import { HookedProject, specific, TEAM, VERSIONS } from '../../support/hooked.ts';

for (const version of VERSIONS) {
  test(`mail is delivered after a tool, once, to whom it is for, on ${version}`, async (t) => {
    const project = await new HookedProject(t).team('backend-dev', 'tester');
    const after = (who: string, event: string) =>
      project.hook(
        'post-tool-use',
        who,
        event,
        { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_response: {} },
        version,
      );
    await project.call('tester', 'SendMessage', { recipient: 'backend-dev', type: 'progress', content: 'a 😀 "b"' });
    const other = await after('tester', 'PostToolUse');
    assert.deepEqual([other.code, other.stdout, other.stderr], [0, '', '']);
    const mail = await after('backend-dev', 'PostToolUse');
    assert.equal(mail.code, 0, mail.stderr);
    assert.deepEqual(mail.json, {
      hookSpecificOutput: {
        hookEventName: 'PostToolUse',
        additionalContext: 'toolcrew: 1 new message for backend-dev:\n#1 from tester, progress: a 😀 "b"',
      },
    });
    assert.equal((await after('backend-dev', 'PostToolUse')).stdout, '');
    await project.call('tester', 'SendMessage', { recipient: 'team-lead', type: 'progress', content: 'half' });
    const lead = await after('team-lead', 'PostToolUse');
    assert.match(String(specific(lead).additionalContext), /1 new message for team-lead:\n#2 from tester/);
    await project.call('team-lead', 'SendMessage', {
      recipient: 'backend-dev',
      type: 'progress',
      content: 'after a failure',
    });
    const failed = await after('backend-dev', 'PostToolUseFailure');
    assert.equal(failed.code, 0);
    assert.match(String(specific(failed).additionalContext), /after a failure/);
    assert.equal(specific(failed).hookEventName, 'PostToolUseFailure', 'the host wants to hear its own name for it');
  });
}

test('two that look at the same time do not both get it', async (t) => {
  const project = await new HookedProject(t).team('backend-dev');
  await project.call('team-lead', 'SendMessage', { recipient: 'backend-dev', type: 'progress', content: 'once' });
  const runs = await Promise.all(
    Array.from({ length: 6 }, () => project.hook('post-tool-use', 'backend-dev', 'PostToolUse', { tool_name: 'Read' })),
  );
  // At least once, as every delivery is; read by then.
  assert.ok(runs.some(({ stdout }) => stdout.includes('once')));
  assert.ok(runs.every(({ code }) => code === 0));
  assert.deepEqual(project.state().unread.get('backend-dev'), []);
});

for (const source of ['startup', 'resume', 'compact'] as const) {
  test(`where the team stands is told at a beginning: ${source}`, async (t) => {
    const project = await new HookedProject(t).team('backend-dev');
    await project.call('team-lead', 'TaskCreate', { subject: 'Sign in', description: 'd', owner: 'backend-dev' });
    await project.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
    const run = await project.hook('session-start', 'team-lead', 'SessionStart', { source });
    assert.equal(run.code, 0, run.stderr);
    assert.equal(specific(run).hookEventName, 'SessionStart');
    const text = String(specific(run).additionalContext);
    // The agents of a process end with it.
    const isAnew = source === 'startup' || source === 'resume';
    assert.equal(
      /^toolcrew: this session started again. backend-dev ended with its previous process/.test(text),
      isAnew,
    );
    assert.match(
      text,
      isAnew
        ? /^toolcrew: you lead team tool-run-spec-auth-001 \(working\)\. .*\nTeammates: backend-dev: stopped\.\nTasks:\n1\. \[pending\] Sign in \(backend-dev\)\nNext: /m
        : /^toolcrew: you lead team tool-run-spec-auth-001 \(working\)\. .*\nTeammates: backend-dev: working\.\nTasks:\n1\. \[in_progress\] Sign in \(backend-dev\)\nNext: /m,
    );
    const other = await project.hook('session-start', 'team-lead', 'SessionStart', { source, session_id: 'another' });
    const told =
      /^toolcrew: .*\btool-run-spec-auth-001 \(working\).*\/tool:team-restart tool-run-spec-auth-001 .*\(team_of_other_session\)$/;
    assert.match(String(specific(other).additionalContext), told);
    // The user, who may not know that its session is gone, types that.
    assert.match(String(other.json?.systemMessage), told);
    assert.equal(run.json?.systemMessage, undefined);
  });
}

test('without a team nothing is told, and an agent is bound to its member when it starts', async (t) => {
  const project = new HookedProject(t);
  assert.equal((await project.hook('session-start', 'team-lead', 'SessionStart', { source: 'startup' })).stdout, '');
  await project.team('backend-dev');
  assert.deepEqual(project.state().bindings.get('agent-backend-dev'), { name: 'backend-dev', epoch: 1 });
  await project.hook('subagent-start', 'team-lead', 'SubagentStart', { agent_id: 'x', agent_type: '' });
  await project.hook('subagent-start', 'team-lead', 'SubagentStart', { agent_id: 'y', agent_type: 'Explore' });
  assert.equal(project.state().bindings.size, 1);
});

test('what a planning team gives becomes a SPEC, and its lead is told whom to ask', async (t) => {
  const project = new HookedProject(t, { env: { TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS: '1' } });
  project.write('.tool/installed.json', JSON.stringify({ hostVersion: '2.1.177' }));
  const team_name = 'tool-plan-users-can-log-out';
  await project.hook('user-prompt-submit', 'team-lead', 'UserPromptSubmit', {
    prompt: '/tool:1-plan "Users can log out" --team',
  });
  await project.planned(team_name);
  const run = await project.hook('post-tool-use', 'team-lead', 'PostToolUse', { tool_name: 'Read', tool_input: {} });
  assert.match(
    String(specific(run).additionalContext),
    /from toolcrew, progress: SPEC-LOG-OUT-001 has been written from the planners' results\. .*exactly "approve SPEC-LOG-OUT-001", .*You cannot approve it/s,
  );
  assert.match(project.read('.tool/specs/SPEC-LOG-OUT-001/spec.md'), /status: awaiting_approval/);
  assert.equal(project.state(team_name).session, 'awaiting_approval');
  assert.throws(() => project.state(TEAM));
});
