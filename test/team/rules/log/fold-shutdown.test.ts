import assert from 'node:assert/strict';
import test from 'node:test';
import { LOG_CODES } from '../../../../src/team/rules/codes/log-codes.ts';
import { OPERATIONS_CODES } from '../../../../src/team/rules/codes/operations-codes.ts';
import { MEMBER_LEASE_MS, SHUTDOWN_DEADLINE_MS } from '../../../../src/team/rules/log/state.ts';
import { LEAD, type Story, teamOf, why } from '../../../support/team.ts';

const TWO = ['backend-dev', 'tester'];
const stop = (story: Story, name: string) => story.tell('member_idle', { name, stopped: true });

const FORCED = 'It can be forced 60 s after all were asked to end.';

test('all are asked at once; the session ends with the last of them, and only then may it be deleted', () => {
  const story = teamOf(TWO).askToEnd();
  assert.equal(story.state.session, 'shutting_down');
  assert.equal(story.state.shutdownAt, story.at);
  assert.deepEqual(story.member('tester').shutdown, { askedAt: story.at, readAt: null });
  story.later(5).tell('mail_seen', { member: 'tester', seqs: [1] });
  assert.deepEqual(story.member('tester').shutdown, { askedAt: story.at - 5, readAt: story.at });
  story.refuse(
    why(OPERATIONS_CODES.team_has_live_members, {
      members: ['backend-dev', 'tester'],
      next: 'Ask all to end, and wait.',
    }),
    'deleted',
  );
  stop(story, 'tester');
  assert.deepEqual(
    [story.state.session, ...story.members],
    ['shutting_down', 'backend-dev#1 working', 'tester#1 over: confirmed'],
  );
  story.refuse(
    why(OPERATIONS_CODES.team_has_live_members, { members: ['backend-dev'], next: 'Ask all to end, and wait.' }),
    'deleted',
  );
  story.tell('member_ended');
  assert.equal(story.state.session, 'shut_down');
  story.tell('deleted');
  assert.equal(story.state.session, 'deleted');
});

test('asked one by one: the last request shuts the team down', () => {
  const story = teamOf([...TWO, 'quality']).askToEnd('tester');
  assert.deepEqual([story.state.session, story.state.shutdownAt], ['spawned', null]);
  stop(story, 'tester').later(10).askToEnd('quality');
  assert.deepEqual([story.state.session, story.state.shutdownAt], ['spawned', null]);
  story.later(10).askToEnd('backend-dev');
  assert.deepEqual([story.state.session, story.state.shutdownAt], ['shutting_down', story.at]);
  stop(stop(story, 'quality'), 'backend-dev');
  assert.equal(story.state.session, 'shut_down');
});

test('asked again: the first request counts', () => {
  const story = teamOf(TWO).askToEnd();
  const { at } = story;
  story.later(100).askToEnd();
  assert.equal(story.state.shutdownAt, at);
  assert.equal(story.member('tester').shutdown?.askedAt, at);
});

test('who is stopped, was never started, or is lost ends with the request', () => {
  const story = teamOf([...TWO, 'quality']);
  stop(story, 'tester').tell('member_registered', { name: 'designer' });
  story.later(MEMBER_LEASE_MS + 1).tell('member_seen', { name: 'quality' });
  story.askToEnd();
  assert.deepEqual(story.members, [
    'backend-dev#1 over: lease',
    'tester#1 over: confirmed',
    'quality#1 working',
    'designer#1 over: not_started',
  ]);
  assert.equal(story.state.session, 'shutting_down');
  stop(story, 'quality');
  assert.equal(story.state.session, 'shut_down');
});

test('with nobody there a request shuts down at once', () => {
  const story = teamOf([]).askToEnd();
  assert.equal(story.state.session, 'shut_down');
});

test('who is idle is there still, and so is who gave a sign without a start', () => {
  const story = teamOf(['backend-dev']).tell('member_idle').tell('member_registered', { name: 'tester' });
  story.later(1).tell('member_seen', { name: 'tester' }).askToEnd();
  assert.deepEqual(story.members, ['backend-dev#1 idle', 'tester#1 registered']);
  story.refuse(why(OPERATIONS_CODES.team_has_live_members, { members: ['backend-dev', 'tester'] }), 'deleted');
  stop(stop(story, 'backend-dev'), 'tester').tell('deleted');
});

test('while it shuts down nobody joins', () => {
  const leaving = why(LOG_CODES.team_shutting_down, { team: 'tool-run-spec-auth-001' });
  const story = teamOf(TWO).askToEnd().refuse(leaving, 'member_registered', { name: 'designer' });
  stop(stop(story, 'tester'), 'backend-dev').refuse(leaving, 'member_registered', { name: 'designer' });
});

test('who ended by itself needs no request', () => {
  const story = teamOf(TWO).tell('member_ended', { name: 'tester' }).tell('member_ended');
  assert.equal(story.state.session, 'spawned');
  story.tell('deleted');
  assert.equal(story.state.session, 'deleted');
});

test('a team is not deleted while somebody may be at work; nothing has changed then', () => {
  const story = teamOf(TWO, 1).claim('1', 'backend-dev').tell('member_registered', { name: 'designer' });
  story.refuse(
    why(OPERATIONS_CODES.team_has_live_members, {
      members: ['backend-dev', 'tester'],
      next: 'Ask all to end, and wait.',
    }),
    'deleted',
  );
  assert.equal(story.state.session, 'working');
  story.join('quality');
});

test('a team is deleted when those that are left were never started, or are lost', () => {
  const story = teamOf(['backend-dev'])
    .later(MEMBER_LEASE_MS + 1)
    .tell('member_registered', { name: 'tester' });
  story.tell('deleted');
  assert.deepEqual(story.members, ['backend-dev#1 over: lease', 'tester#1 over: not_started']);
});

test('by force only so long after all were asked', () => {
  const force = { forced: true };
  const story = teamOf(TWO).refuse(
    why(OPERATIONS_CODES.team_has_live_members, { members: ['backend-dev', 'tester'], next: FORCED }),
    'deleted',
    force,
  );
  story
    .askToEnd('tester')
    .later(SHUTDOWN_DEADLINE_MS)
    .refuse(why(OPERATIONS_CODES.team_has_live_members, { next: FORCED }), 'deleted', force);
  story
    .askToEnd('backend-dev')
    .later(SHUTDOWN_DEADLINE_MS - 1)
    .refuse(why(OPERATIONS_CODES.team_has_live_members, { next: FORCED }), 'deleted', force);
  story
    .later(1)
    .refuse(
      why(OPERATIONS_CODES.team_has_live_members, {
        members: ['backend-dev', 'tester'],
        next: 'Ask all to end, and wait.',
      }),
      'deleted',
    )
    .tell('deleted', force);
  assert.deepEqual(story.members, ['backend-dev#1 over: forced', 'tester#1 over: forced']);
  assert.equal(story.state.session, 'deleted');
});

test('a deleted team takes nothing more', () => {
  const story = teamOf([]).tell('deleted');
  for (const type of ['deleted', 'created', 'restarted', 'task_created', 'continued', 'proposed'] as const)
    story.refuse(why(LOG_CODES.team_deleted, { team: 'tool-run-spec-auth-001' }), type);
});

test('what ended members had claimed is free when the team goes on', () => {
  const story = teamOf(TWO, 1).claim('1', 'tester').askToEnd();
  stop(story, 'tester');
  assert.deepEqual(story.tasks, ['1 pending']);
  assert.equal(story.state.messages[0]?.from, LEAD);
});
