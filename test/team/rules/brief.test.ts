import assert from 'node:assert/strict';
import test from 'node:test';
import {
  leadBrief,
  memberBrief,
  nextStepText,
  roleNamed,
  rolesToStart,
  taskLine,
} from '../../../src/team/rules/brief.ts';
import { spawnParameters } from '../../../src/team/rules/calls.ts';
import { DEFAULT_TEAM_SETTINGS } from '../../../src/team/rules/default-settings.ts';
import { ROLES } from '../../../src/team/rules/role.ts';
import { LEAD, Story, TEAM, teamOf } from '../../support/team.ts';

const SETTINGS = DEFAULT_TEAM_SETTINGS;

test('a member is told who it is, whom it reaches, what it owns and what it has to do', () => {
  const story = teamOf(['backend-dev', 'tester'])
    .tell('task_created', { owner: 'backend-dev' })
    .tell('task_created', { owner: 'tester', subject: 'Tests', blocked_by: ['1'] })
    .tell('message_sent', { to: 'backend-dev', by: LEAD, epoch: 0, content: 'two\nlines' });
  const text = memberBrief(story.state, story.member('backend-dev'), SETTINGS, null);
  assert.match(
    text,
    /^toolcrew: you are backend-dev of team tool-run-spec-auth-001 \(API, services, business logic\)\. It works on: SPEC-AUTH-001$/m,
  );
  assert.match(text, /^You can send messages to: tester, team-lead\.$/m);
  assert.match(
    text,
    /^You own src\/api\/\*\*, .*ask their owner with a change_request\. Shared files need FileLease first\. The first writer of a file without an owner holds it until its task ends\.$/m,
  );
  assert.match(text, /^Your tasks:\n1\. \[pending\] Sign in \(backend-dev\)$/m);
  assert.doesNotMatch(text, /Tests|key/);
  assert.match(text, /^Unread:\n#1 from team-lead, progress: two lines$/m);
});

test('a member without tasks is told where they are, one that only reads that it does', () => {
  const story = teamOf([])
    .tell('member_registered', { name: 'quality', agent: 'team-quality', read_only: true })
    .tell('member_spawned', { name: 'quality' });
  const text = memberBrief(story.state, story.member('quality'), SETTINGS, 'k-1');
  assert.match(text, /^Your role is read-only: every write is refused\.$/m);
  assert.match(text, /^You have no task yet: call TaskList \{\} and claim one that fits your role\.$/m);
  assert.match(text, /^Your key is k-1: pass it as "key" with each of these calls\. Keep it secret\.$/m);
  assert.match(text, /^You can send messages to: team-lead\.$/m);
});

test('a role that only the project knows has a brief as well', () => {
  const story = teamOf(['db-admin']);
  assert.equal(roleNamed('db-admin'), undefined);
  assert.equal(roleNamed('toString'), undefined);
  assert.equal(roleNamed('tester'), ROLES.tester);
  const text = memberBrief(story.state, story.member('db-admin'), SETTINGS, null);
  assert.match(text, /^toolcrew: you are db-admin of team \S+\. /);
  assert.match(text, /^You own no files\. /m);
});

test('a task in one line', () => {
  const story = teamOf(['backend-dev'])
    .tell('task_created')
    .tell('task_created', { owner: 'tester', blocked_by: ['1'] })
    .tell('task_created');
  assert.deepEqual(
    ['1', '2'].map((id) => taskLine(story.task(id), story.state)),
    ['1. [pending] Sign in', '2. [blocked after 1] Sign in (tester)'],
  );
  story.claim('1', 'backend-dev');
  assert.equal(taskLine(story.task('1'), story.state), '1. [in_progress] Sign in (backend-dev)');
  story.complete('1', 'backend-dev');
  assert.equal(taskLine(story.task('2'), story.state), '2. [pending] Sign in (tester)');
});

test('the lead is told where the team stands, and what comes next', () => {
  const empty = new Story().tell('created');
  assert.equal(
    leadBrief(empty.state),
    [
      `toolcrew: you lead team ${TEAM} (created). It works on: SPEC-AUTH-001`,
      'Teammates: none yet.',
      'No tasks yet.',
      'Next: start backend-dev, tester with Task {"subagent_type":"team-backend-dev","team_name":"tool-run-spec-auth-001","name":"backend-dev","prompt":"Do the tasks that are meant for backend-dev."}, one call each, then make the calls that they return, all in one message.',
    ].join('\n'),
  );
  const story = teamOf(['backend-dev']).tell('task_created').tell('message_sent', { to: LEAD });
  const text = leadBrief(story.state);
  assert.match(text, /^Teammates: backend-dev: working\.$/m);
  assert.match(text, /^Tasks:\n1\. \[pending\] Sign in$/m);
  assert.match(text, /^Unread:\n#1 from backend-dev, progress: half done$/m);
  assert.match(text, /^Next: wait for your teammates/m);
});

test('the roles to start have something to do and nobody who plays them', () => {
  const story = new Story().tell('created');
  assert.deepEqual(rolesToStart(story.state), ['backend-dev', 'tester']);
  story.tell('task_created', { owner: 'tester', files: [] });
  assert.deepEqual(rolesToStart(story.state), ['tester']);
  story.tell('member_registered', { name: 'tester', agent: 'team-tester' });
  assert.deepEqual(rolesToStart(story.state), ['tester'], 'registered, and never started');
  story.tell('member_spawned', { name: 'tester' });
  assert.deepEqual(rolesToStart(story.state), []);
  story.tell('member_ended', { name: 'tester' });
  assert.deepEqual(rolesToStart(story.state), ['tester']);
  assert.deepEqual(spawnParameters(TEAM, 'tester', 'Do it'), {
    subagent_type: 'team-tester',
    team_name: TEAM,
    name: 'tester',
    prompt: 'Do it',
  });
});

const plan = () =>
  new Story()
    .tell('created', { phase: 'plan', roles: ['analyst'], pattern: 'plan_research' })
    .join('analyst')
    .tell('task_created', { owner: 'analyst', files: [] })
    .claim('1', 'analyst')
    .complete('1', 'analyst');
/** A task that has failed, and others of the tester that wait for these. */
const failedIn = (others: readonly string[], blocked_by: readonly string[] = []) => {
  const story = teamOf(['backend-dev', 'tester'], 1).claim('1', 'backend-dev');
  for (const subject of others) story.tell('task_created', { owner: 'tester', subject, blocked_by });
  return story.tell('task_updated', { status: 'failed', result: 'no\ndatabase' });
};
const NOT_WITHOUT =
  /^Next: tell the user that the work cannot continue without task 1 "Task 1" \(no database\)\. To try again, call TaskUpdate \{"taskId":"1","status":"pending"\}\. /;
const STEPS: readonly [string, () => Story, RegExp][] = [
  ['none', () => new Story(), /^The team is deleted\. Nothing is left to do\.$/],
  ['created', () => new Story().tell('created'), /^Next: start backend-dev, tester with Task/],
  ['assigned', () => new Story().tell('created').tell('moved'), /^Next: start/],
  ['spawned', () => teamOf(['backend-dev'], 1), /^Next: wait for your teammates/],
  [
    'working',
    () => teamOf(['backend-dev'], 1).claim('1', 'backend-dev').complete('1', 'backend-dev'),
    /^Next: call TaskList\. It runs the final gate if that is pending, and tells you the outcome/,
  ],
  [
    'assigned',
    () => teamOf(['backend-dev'], 1).claim('1', 'backend-dev').complete('1', 'backend-dev').tell('restarted'),
    /^Next: call TaskList\. It runs the final gate if that is pending, and tells you the outcome/,
  ],
  [
    'working',
    () =>
      new Story()
        .tell('created', { session: null, key_hash: null })
        .join('backend-dev')
        .tell('task_created')
        .claim('1', 'backend-dev')
        .complete('1', 'backend-dev'),
    /^Next: SendMessage {"recipient":"all","type":"shutdown_request"/,
  ],
  ['working', () => failedIn(['2']), /^Next: wait for your teammates/],
  ['working', () => failedIn(['2']).claim('2', 'tester').complete('2', 'tester'), NOT_WITHOUT],
  ['working', () => failedIn(['2'], ['1']), NOT_WITHOUT],
  [
    'working',
    () => failedIn([]).tell('task_updated', { status: 'pending', by: LEAD, epoch: 0 }),
    /^Next: wait for your teammates/,
  ],
  [
    'working',
    () =>
      teamOf(['quality'])
        .tell('task_created', { owner: 'quality', files: [] })
        .claim('1', 'quality')
        .complete('1', 'quality'),
    /^Next: call TaskList\. .* asks quality for quality_gate_passed, which is missing\.$/,
  ],
  ['spawned', () => teamOf(['backend-dev']), /^Next: call TaskCreate for each teammate/],
  ['working', plan, /^Next: call TaskList\. It builds the SPEC from the results/],
  [
    'spec_generated',
    () => plan().tell('moved', { event: 'spec_generated' }),
    /^Next: ask the user to reply with exactly "approve" and the id of the SPEC/,
  ],
  [
    'awaiting_approval',
    () => plan().tell('moved', { event: 'spec_generated' }).tell('moved', { event: 'approval_asked' }),
    /^Next: ask the user to reply with exactly "approve" and the id of the SPEC/,
  ],
  [
    'approved',
    () =>
      plan()
        .tell('moved', { event: 'spec_generated' })
        .tell('moved', { event: 'approval_asked' })
        .tell('moved', { event: 'approved' }),
    /^Next: SendMessage \{"recipient":"all","type":"shutdown_request","content":"The work is done."\}, then TeamDelete \{"team_name":"tool-run-spec-auth-001"\}\.$/,
  ],
  [
    'gate',
    () =>
      teamOf(['backend-dev'], 1)
        .claim('1', 'backend-dev')
        .complete('1', 'backend-dev')
        .tell('moved', { event: 'gate_started' }),
    /^Next: wait for quality_gate_passed/,
  ],
  [
    'shutting_down',
    () => teamOf(['backend-dev']).askToEnd(),
    /^Next: wait for backend-dev to end, then TeamDelete \{"team_name":"tool-run-spec-auth-001"\}\.$/,
  ],
  ['shut_down', () => teamOf(['backend-dev']).askToEnd().tell('member_ended'), /^Next: TeamDelete \{"team_name":/],
  [
    'fallback',
    () => teamOf(['backend-dev']).tell('fell_back'),
    /^Team mode failed \(a teammate could not be started\)\. Do the work with sub-agents, one at a time\. At the end call TeamDelete \{/,
  ],
  [
    'fallback',
    () => teamOf(['backend-dev']).tell('fell_back', { trigger: 'solo', reason: '--solo' }),
    /^No team was wanted \(--solo\)\. Do the work with sub-agents/,
  ],
  ['deleted', () => new Story().tell('created').askToEnd().tell('deleted'), /^The team is deleted/],
];

for (const [state, make, words] of STEPS) {
  test(`the next step in state ${state}: ${words.source.slice(1, 40)}`, () => {
    const story = make();
    assert.equal(story.state.session, state);
    assert.match(nextStepText(story.state), words);
  });
}
