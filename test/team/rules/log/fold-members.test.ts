import assert from 'node:assert/strict';
import test from 'node:test';
import { LOG_CODES } from '../../../../src/team/rules/codes/log-codes.ts';
import { isActive, isLive, isLost, MEMBER_LEASE_MS } from '../../../../src/team/rules/log/state.ts';
import { LEAD, Story, teamOf, type Why, why } from '../../../support/team.ts';

const LOST = MEMBER_LEASE_MS + 1;

test('a member is registered, started, seen, idle, stopped, over', () => {
  const story = new Story().tell('created').tell('member_registered', { model: 'haiku', read_only: true });
  const steps: string[] = [];
  const note = () => steps.push(`${story.member('backend-dev').phase} ${isLive(story.member('backend-dev'))}`);
  note();
  story.later(5).tell('member_spawned', { key_hash: 'k', pid: 9 });
  note();
  assert.equal(story.state.session, 'spawned');
  const { agent, readOnly, model, keyHash, pid, registeredAt, seenAt } = story.member('backend-dev');
  assert.deepEqual(
    [agent, readOnly, model, keyHash, pid, seenAt - registeredAt],
    ['team-backend-dev', true, 'haiku', 'k', 9, 5],
  );
  for (const next of ['member_idle', 'member_seen'] as const) {
    story.tell(next);
    note();
  }
  story.tell('member_idle', { stopped: true });
  note();
  story.tell('member_ended');
  note();
  assert.deepEqual(steps, [
    'registered false',
    'working true',
    'idle true',
    'working true',
    'stopped true',
    'over false',
  ]);
});

test('each record about a member: a stranger, another run, an ended one, the lead', () => {
  const story = teamOf(['backend-dev', 'tester']).tell('member_ended', { reason: 'killed' });
  for (const type of ['member_spawned', 'member_bound', 'member_seen', 'member_idle', 'member_ended'] as const) {
    story.refuse(why(LOG_CODES.member_unknown, { member: 'designer' }), type, { name: 'designer' });
    story.refuse(why(LOG_CODES.member_run_over, { member: 'tester', run: 2, latest: 1 }), type, {
      name: 'tester',
      epoch: 2,
    });
    story.refuse(why(LOG_CODES.member_ended, { member: 'backend-dev', reason: 'killed' }), type, {
      name: 'backend-dev',
    });
    story.refuse(why(LOG_CODES.member_unknown, { member: 'team-lead' }), type, { name: LEAD, epoch: 0 });
  }
});

test('names that mean others are no names of teammates', () => {
  const story = new Story().tell('created');
  for (const name of [LEAD, 'all'])
    story.refuse(why(LOG_CODES.member_name_reserved, { name }), 'member_registered', { name });
});

test('no more than max_teammates at once: those that ended or are lost do not count', () => {
  const story = new Story().tell('created');
  const join = { max: 2 } as const;
  for (const name of ['backend-dev', 'tester']) story.tell('member_registered', { ...join, name });
  story.refuse(
    why(LOG_CODES.too_many_members, { count: 2, limit: 2, members: ['backend-dev', 'tester'] }),
    'member_registered',
    {
      ...join,
      name: 'designer',
    },
  );
  story.tell('member_ended', { name: 'tester' }).tell('member_registered', { ...join, name: 'designer' });
  assert.deepEqual(story.members, ['backend-dev#1 registered', 'tester#1 over: confirmed', 'designer#1 registered']);
  story.tell('member_spawned', { name: 'backend-dev' }).later(LOST).tell('member_seen', { name: 'designer' });
  story.tell('member_registered', { ...join, name: 'quality' });
  assert.deepEqual(
    story.members,
    ['backend-dev#1 over: lease', 'tester#1 over: confirmed', 'designer#1 registered', 'quality#1 registered'],
    'whose place was needed cannot come back',
  );
});

test('a limit that is not reached ends nobody', () => {
  const story = teamOf(['backend-dev']).later(LOST).tell('member_registered', { name: 'tester' });
  assert.deepEqual(story.members, ['backend-dev#1 working', 'tester#1 registered']);
  story.tell('member_seen');
});

test('another takes the place of one that is not at work', () => {
  const atWork = why(LOG_CODES.member_already_working, { member: 'backend-dev' });
  const cases: readonly [string, (story: Story) => unknown, Why | null][] = [
    ['registered', () => {}, null],
    ['registered, and seen at work', (story) => story.later(1).tell('member_seen'), atWork],
    ['registered, seen once and lost', (story) => story.later(1).tell('member_seen').later(LOST), null],
    ['working', (story) => story.tell('member_spawned'), atWork],
    ['working, lost', (story) => story.tell('member_spawned').later(LOST), null],
    ['idle', (story) => story.tell('member_spawned').tell('member_idle'), null],
    ['stopped', (story) => story.tell('member_spawned').tell('member_idle', { stopped: true }), null],
  ];
  for (const [name, before, how] of cases) {
    const story = new Story().tell('created').tell('member_registered');
    before(story);
    if (how !== null) {
      story.refuse(how, 'member_registered');
      continue;
    }
    story.tell('member_registered', { prompt: 'the next' });
    const { epoch, phase, prompt, ended, pid, shutdown } = story.member('backend-dev');
    assert.deepEqual(
      [epoch, phase, prompt, ended, pid, shutdown],
      [2, 'registered', 'the next', null, null, null],
      name,
    );
  }
});

test('who ends gives back its claims and its leases', () => {
  const story = teamOf(['backend-dev', 'tester'], 2).claim('1', 'backend-dev').claim('2', 'tester');
  story.tell('lease_taken', { by: 'backend-dev', path: 'a' }).tell('lease_taken', { by: 'tester', path: 'b' });
  story.tell('member_ended');
  assert.deepEqual(story.tasks, ['1 pending', '2 in_progress tester#1']);
  assert.deepEqual([...story.state.leases.keys()], ['b']);
});

test('a member is started once in each run', () => {
  const story = teamOf(['tester']).refuse(
    why(LOG_CODES.record_not_valid, { type: 'member_spawned', why: 'tester has been started already' }),
    'member_spawned',
    { name: 'tester' },
  );
  story
    .tell('member_idle', { name: 'tester' })
    .refuse(why(LOG_CODES.record_not_valid, { type: 'member_spawned' }), 'member_spawned', { name: 'tester' });
  story
    .join('tester')
    .refuse(why(LOG_CODES.member_run_over, { run: 1, latest: 2 }), 'member_spawned', { name: 'tester', epoch: 1 });
});

test('a start that is told after the first act still tells the process', () => {
  const story = new Story().tell('created').tell('task_created').tell('member_registered');
  story.later(3).claim('1', 'backend-dev').tell('member_bound').tell('member_spawned', { pid: 4711 });
  assert.deepEqual([story.member('backend-dev').pid, story.member('backend-dev').phase], [4711, 'working']);
});

test('an id of the host belongs to one run of one member; a run may have many', () => {
  const story = teamOf(['backend-dev', 'tester'])
    .tell('member_bound', { agent_id: 'a1' })
    .tell('member_bound', { agent_id: 'a1' })
    .tell('member_bound', { agent_id: 'a2' })
    .refuse(
      why(LOG_CODES.record_not_valid, { type: 'member_bound', why: 'agent a1 is backend-dev already, its run 1' }),
      'member_bound',
      { name: 'tester', agent_id: 'a1' },
    )
    .tell('member_idle', { stopped: true })
    .join('backend-dev')
    .refuse(
      why(LOG_CODES.record_not_valid, { type: 'member_bound', why: 'agent a2 is backend-dev already, its run 1' }),
      'member_bound',
      { epoch: 2, agent_id: 'a2' },
    )
    .tell('member_bound', { epoch: 2, agent_id: 'a3' });
  assert.deepEqual(
    [...story.state.bindings].map(([id, { name, epoch }]) => `${id} ${name}#${epoch}`),
    ['a1 backend-dev#1', 'a2 backend-dev#1', 'a3 backend-dev#2'],
  );
});

test('who is seen again is not lost; who is not seen for too long can be ended for that', () => {
  const story = teamOf(['backend-dev']).later(MEMBER_LEASE_MS);
  assert.equal(isLost(story.member('backend-dev'), story.at), false);
  story.refuse(
    why(LOG_CODES.record_not_valid, { type: 'member_ended', why: 'backend-dev has been seen since' }),
    'member_ended',
    { how: 'lease' },
  );
  story.later(1);
  assert.equal(isLost(story.member('backend-dev'), story.at), true);
  story.tell('member_seen');
  assert.equal(isLost(story.member('backend-dev'), story.at), false);
  story.later(LOST).tell('member_ended', { how: 'lease' });
  assert.deepEqual(story.members, ['backend-dev#1 over: lease']);
  assert.equal(isLost(story.member('backend-dev'), story.at + LOST), false, 'who has ended is not lost');
});

test('a clock that was set back takes no sign of life away', () => {
  const story = teamOf(['backend-dev']);
  const { seenAt } = story.member('backend-dev');
  story.later(-5000).tell('member_seen').tell('member_idle').tell('decision');
  assert.equal(story.member('backend-dev').seenAt, seenAt);
});

test('before there is a team, and after it, no record of its life counts', () => {
  const story = new Story();
  story
    .refuse(why(LOG_CODES.team_not_created), 'member_registered')
    .refuse(why(LOG_CODES.team_not_created), 'task_created');
  assert.equal(isActive(story.state), false);
  story.tell('created').tell('deleted');
  assert.equal(isActive(story.state), false);
  story.refuse(why(LOG_CODES.team_deleted), 'member_registered').refuse(why(LOG_CODES.team_deleted), 'created');
});
