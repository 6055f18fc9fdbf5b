// Team failures of the table in docs/troubleshooting.md, and the reaction to each.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Refusal } from '../../../src/base/rules/codes.ts';
import { onPostToolUse } from '../../../src/claude-code/answers/on-post-tool-use.ts';
import { onPreToolUse } from '../../../src/claude-code/answers/on-pre-tool-use.ts';
import { onSubagentStart } from '../../../src/claude-code/answers/on-subagent-start.ts';
import { onTeammateIdle } from '../../../src/claude-code/answers/on-teammate-idle.ts';
import { onUserPrompt } from '../../../src/claude-code/answers/on-user-prompt.ts';
import { HOOK_CODES } from '../../../src/claude-code/rules/hook-codes.ts';
import { LEAD_CODES } from '../../../src/team/rules/codes/lead-codes.ts';
import { OPERATIONS_CODES } from '../../../src/team/rules/codes/operations-codes.ts';
import { WORK_CODES } from '../../../src/team/rules/codes/work-codes.ts';
import { DEFAULT_TEAM_SETTINGS } from '../../../src/team/rules/default-settings.ts';
import { isRefusal, lineLike, wordsLike } from '../../support/codes.ts';
import { TEAM, TeamWorld } from '../../support/team-world.ts';

async function prompted(world: TeamWorld, prompt: string): Promise<string> {
  const answer = await onUserPrompt(world.context, world.event('team-lead', 'UserPromptSubmit', { prompt }));
  assert.equal(answer.kind, 'context');
  return answer.kind === 'context' ? answer.text : '';
}

const UNMET: readonly [string, (world: TeamWorld) => void, RegExp, string][] = [
  [
    'the host is too old',
    (world) => world.pretend({ hostVersion: () => Promise.resolve('2.1.31') }),
    /host version: expected 2\.1\.32 or higher, got 2\.1\.31/,
    'host_version',
  ],
  [
    'the variable is not set',
    (world) => world.pretend({ variable: { value: undefined, source: null } }),
    /variable: expected TOOL_CODE_EXPERIMENTAL_AGENT_TEAMS=1, got nothing/,
    'variable_unset',
  ],
  [
    'team.enabled is not true',
    (world) => {
      world.settings = DEFAULT_TEAM_SETTINGS;
    },
    /enabled: expected workflow\.team\.enabled to be true, got false/,
    'not_enabled',
  ],
];

for (const [what, unmet, words, trigger] of UNMET)
  test(`team mode does not activate: ${what}; it is said, with what mends it, and the work goes on without a team`, async (t) => {
    const world = new TeamWorld(t);
    unmet(world);
    const text = await prompted(world, '/tool:1-plan "sign in with a link" --team');
    assert.match(text, /in sub-agent mode/);
    assert.match(text, words);
    assert.match(text, /mend: /);
    assert.match(text, /1\. team-researcher: /);
    assert.match(world.logged.join('\n'), wordsLike(LEAD_CODES.subagents_instead));
    assert.match(world.logged.join('\n'), /^warn: /);
    const { session, fallback } = world.state('tool-plan-sign-in-with-a-link');
    assert.deepEqual([session, fallback?.trigger], ['fallback', trigger]);
  });

test('team mode does not activate: --force goes without the switches, but never with a host that is too old', async (t) => {
  const world = new TeamWorld(t);
  world.settings = DEFAULT_TEAM_SETTINGS;
  world.pretend({ variable: { value: undefined, source: null } });
  assert.match(
    await prompted(world, '/tool:1-plan "sign in with a link" --force'),
    /in team mode, pattern plan_research/,
  );
  world.pretend({ hostVersion: () => Promise.resolve('2.1.31') });
  assert.match(await prompted(world, '/tool:1-plan "something else" --force'), /in sub-agent mode/);
});

test('team mode does not activate, and fallback.enabled is false: refused, with the trigger', async (t) => {
  const world = new TeamWorld(t);
  world.settings = { ...DEFAULT_TEAM_SETTINGS, fallback: { ...DEFAULT_TEAM_SETTINGS.fallback, enabled: false } };
  const text = await prompted(world, '/tool:1-plan "sign in with a link" --team');
  assert.match(text, /cannot be carried out/);
  assert.match(text, /workflow\.team\.enabled is false .* \(fallback_disabled\)$/m);
});

test('a message is not delivered: names that are not exact are refused with the right one, and a restart goes on', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'frontend-dev']);
  for (const recipient of ['team-frontend-dev', 'frontendDev']) {
    const input = { recipient, type: 'progress', content: 'x' };
    const { of, values } = await world.refusal('backend-dev', 'SendMessage', input);
    assert.equal(of.code, 'input_invalid');
    assert.ok(Array.isArray(values.problems));
    assert.deepEqual(
      values.problems.map((one: Refusal) => [one.of.code, one.values.near]),
      [['recipient_unknown', 'frontend-dev']],
    );
  }
  const input = { recipient: 'all', type: 'progress', content: 'x', team_name: 'tool-run-spec-auth-01' };
  isRefusal(await world.refusal('team-lead', 'SendMessage', input), OPERATIONS_CODES.team_not_active, {
    team: 'tool-run-spec-auth-01',
    active: [TEAM],
  });
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  await world.call('backend-dev', 'SendMessage', { recipient: 'frontend-dev', type: 'progress', content: 'kept' });
  const text = await prompted(world, '/tool:team-restart');
  assert.match(text, new RegExp(`team ${TEAM} was restarted, and you lead it now; what was completed stays completed`));
  await world.start('frontend-dev');
  assert.match(JSON.stringify((await world.call('frontend-dev', 'Inbox')).messages), /kept/);
});

test('a teammate ends without a word: the host tells of it, its task is open again, and another takes its place', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'frontend-dev']);
  for (const owner of ['backend-dev', 'frontend-dev'])
    await onSubagentStart(world.context, world.event(owner, 'SubagentStart'));
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  const over = (agent: string) =>
    `<task-notification>\n<task-id>${agent}</task-id>\n<status>failed</status>\n</task-notification>`;
  const prompt = (words: string) =>
    onUserPrompt(world.context, world.event('team-lead', 'UserPromptSubmit', { prompt: words }));
  assert.equal((await prompt(over('somebody-elses'))).kind, 'silent');
  const text = await prompted(world, over('agent-of-backend-dev'));
  assert.match(text, lineLike(HOOK_CODES.run_ended_unreported, { member: 'backend-dev' }));
  assert.match(text, /- Task \{"subagent_type":"team-backend-dev",/);
  assert.equal(world.state().tasks.get('1')?.status, 'pending');
  assert.equal((await prompt(over('agent-of-backend-dev'))).kind, 'silent', 'it is known by now');
  await world.start('backend-dev');
  assert.equal(world.epoch('backend-dev'), 2);
  assert.equal((await prompt(over('agent-of-backend-dev'))).kind, 'silent', 'another is in its place');
  assert.equal(world.state().members.get('backend-dev')?.phase, 'working');
});

test('a teammate that ends without a word while the team is to end is not registered again', async (t) => {
  const world = new TeamWorld(t);
  const roles = ['backend-dev', 'frontend-dev'];
  await world.team(roles);
  for (const owner of roles) {
    await onSubagentStart(world.context, world.event(owner, 'SubagentStart'));
    await world.call('team-lead', 'TaskCreate', { subject: owner, description: 'd', owner });
  }
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  await world.call('team-lead', 'SendMessage', { recipient: 'all', type: 'shutdown_request', content: 'enough' });
  const over = (name: string) => prompted(world, `<task-notification>\n<task-id>agent-of-${name}</task-id>`);
  assert.match(
    await over('backend-dev'),
    /^Next: wait for frontend-dev to end, then TeamDelete \{"team_name":"tool-run-spec-auth-001"\}\.$/m,
  );
  assert.equal(world.state().tasks.get('1')?.status, 'pending');
  const last = await over('frontend-dev');
  assert.match(last, new RegExp(`^Next: TeamDelete \\{"team_name":"${TEAM}"\\}\\.$`, 'm'));
  assert.doesNotMatch(last, /Task \{/);
});

test('two teammates change the same file: the second is refused with the owner, or with the lease that it needs', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev', 'frontend-dev']);
  const write = (who: string, path: string) =>
    onPreToolUse(world.context, world.event(who, 'PreToolUse', { tool: 'Write', input: { file_path: path } }));
  assert.equal((await write('backend-dev', 'src/api/users.ts')).kind, 'silent');
  assert.match(
    await world.reasonOf(write('frontend-dev', 'src/api/users.ts')),
    /is backend-dev's .*SendMessage \{"recipient":"backend-dev","type":"change_request"/,
  );
  assert.match(await world.reasonOf(write('frontend-dev', 'src/types/user.ts')), /shared .*FileLease/);
  await world.call('frontend-dev', 'FileLease', { path: 'src/types/user.ts' });
  assert.equal((await write('frontend-dev', 'src/types/user.ts')).kind, 'silent');
  assert.match(await world.reasonOf(write('backend-dev', 'src/types/user.ts')), /leased to frontend-dev/);
});

test('a teammate is idle without tasks: a task with it as owner is given to it by name', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  const stop = () => onTeammateIdle(world.context, world.event('backend-dev', 'SubagentStop'), false);
  assert.equal((await stop()).kind, 'silent');
  assert.equal(world.state().members.get('backend-dev')?.phase, 'idle');
  await world.call('team-lead', 'TaskCreate', { subject: 'Users API', description: 'd', owner: 'backend-dev' });
  assert.match(await world.reasonOf(stop()), /^toolcrew: task 1 .*\(work_unfinished\)$/);
});

for (const check of ['tests', 'coverage', 'lint', 'security', 'performance'] as const)
  test(`the gate rejects work: ${check}`, async (t) => {
    const world = new TeamWorld(t);
    await world.team(['tester']);
    await world.call('team-lead', 'TaskCreate', { subject: 'Tests', description: 'd', owner: 'tester' });
    await world.call('tester', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
    world.fails(check);
    const reason = await world.refusal('tester', 'TaskUpdate', { taskId: '1', status: 'completed' });
    isRefusal(reason, WORK_CODES.work_not_accepted, { checks: [check] });
    await world.call('team-lead', 'SendMessage', {
      recipient: 'tester',
      type: 'coverage_required',
      content: { current: 71, required: 80, uncoveredFiles: ['src/api/users.ts'] },
    });
    assert.match(JSON.stringify((await world.call('tester', 'Inbox')).messages), /uncoveredFiles/);
  });

test('a teammate cannot be started: the same tasks go on one at a time, and nothing is lost', async (t) => {
  const world = new TeamWorld(t);
  await world.team(['backend-dev']);
  await world.call('team-lead', 'TaskCreate', { subject: 'API', description: 'd', owner: 'backend-dev' });
  await world.call('team-lead', 'TaskCreate', { subject: 'Form', description: 'd', owner: 'frontend-dev' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'in_progress' });
  await world.call('backend-dev', 'TaskUpdate', { taskId: '1', status: 'completed' });
  await world.start('frontend-dev');
  const answer = await onPostToolUse(
    world.context,
    world.event('team-lead', 'PostToolUse', {
      tool: 'Agent',
      input: { subagent_type: 'team-frontend-dev' },
      failure: 'Agent type not found',
    }),
  );
  assert.equal(answer.kind, 'context');
  assert.match(
    answer.kind === 'context' ? answer.text : '',
    lineLike(HOOK_CODES.agent_not_started, { member: 'frontend-dev', said: 'Agent type not found' }),
  );
  const { session, tasks, fallback } = world.state();
  assert.equal(session, 'fallback');
  assert.equal(fallback?.trigger, 'spawn_failed');
  assert.match(world.logged.join(), wordsLike(LEAD_CODES.fell_back, { team: TEAM, why: /frontend-dev .*/ }));
  assert.deepEqual(
    [...tasks.values()].map(({ status }) => status),
    ['completed', 'pending'],
  );
  // The lead's own agents may write now.
  const write = world.event('stranger', 'PreToolUse', { tool: 'Write', input: { file_path: 'src/components/A.tsx' } });
  assert.equal((await onPreToolUse(world.context, write)).kind, 'silent');
  await world.call('team-lead', 'TaskUpdate', { taskId: '2', status: 'completed' });
});

test('a team cannot be created: it is said why, and what to do without one', async (t) => {
  const world = new TeamWorld(t);
  world.context.teams.begin = () => {
    throw new Error('no space left on device');
  };
  isRefusal(await world.refusal('team-lead', 'TeamCreate', { team_name: TEAM }), OPERATIONS_CODES.team_create_failed, {
    said: 'no space left on device',
    next: 'Do the tasks one at a time, each with one sub-agent',
  });
});
