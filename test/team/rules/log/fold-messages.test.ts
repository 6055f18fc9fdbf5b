import assert from 'node:assert/strict';
import test from 'node:test';
import { LOG_CODES } from '../../../../src/team/rules/codes/log-codes.ts';
import { MESSAGES_CODES } from '../../../../src/team/rules/codes/messages-codes.ts';
import { messageContent } from '../../../../src/team/rules/log/content-line.ts';
import type { TeamState } from '../../../../src/team/rules/log/state.ts';
import { messageLine } from '../../../../src/team/rules/mail.ts';
import { LEAD, type Story, teamOf, why } from '../../../support/team.ts';

const THREE = ['backend-dev', 'frontend-dev', 'tester'];

const unread = (state: TeamState) =>
  [...state.unread].filter(([, seqs]) => seqs.length > 0).map(([name, seqs]) => `${name}: ${seqs.join(',')}`);

const say = (story: Story, by: string, to: string, content = 'words') =>
  story.tell('message_sent', { by, epoch: by === LEAD ? 0 : story.member(by).epoch, to, content });

test('messages are counted in the order in which they were sent, and each recipient has its own to read', () => {
  const story = teamOf(THREE);
  say(story, 'backend-dev', 'frontend-dev', 'one');
  say(story, LEAD, 'all', 'two');
  say(story, 'tester', 'all', 'three');
  say(story, 'tester', LEAD, 'four');
  assert.deepEqual(
    story.state.messages.map(({ seq, from, to, content, receipts }) => [seq, from, to, content, [...receipts.keys()]]),
    [
      [1, 'backend-dev', 'frontend-dev', 'one', ['frontend-dev']],
      [2, LEAD, 'all', 'two', ['backend-dev', 'frontend-dev', 'tester']],
      [3, 'tester', 'all', 'three', ['backend-dev', 'frontend-dev', LEAD]],
      [4, 'tester', LEAD, 'four', [LEAD]],
    ],
  );
  assert.deepEqual(unread(story.state), ['frontend-dev: 1,2,3', 'backend-dev: 2,3', 'tester: 2', 'team-lead: 3,4']);
  assert.equal(new Set(story.state.messages.map(({ id }) => id)).size, 4);
});

test('a message has its content, its type and what it answers to', () => {
  const content = { endpoint: 'POST /login', schema: { name: 'string' } };
  const story = teamOf(THREE)
    .tell('message_sent', { to: 'frontend-dev', kind: 'api_ready', content })
    .tell('message_sent', { by: 'frontend-dev', to: 'backend-dev', in_reply_to: 1 });
  const [first, second] = story.state.messages;
  assert.deepEqual(
    [first?.type, first?.content, first?.inReplyTo, first?.sentAt],
    ['api_ready', content, null, story.at],
  );
  assert.equal(second?.inReplyTo, 1);
  for (const none of [0, -1, 3, 99])
    story.refuse(why(MESSAGES_CODES.message_not_found, { message: none }), 'message_sent', { in_reply_to: none });
});

test('who cannot be written to, who cannot write', () => {
  teamOf(['backend-dev', 'tester', 'quality'])
    .tell('member_ended', { name: 'quality' })
    .refuse(why(LOG_CODES.member_unknown, { member: 'designer' }), 'message_sent', { to: 'designer' })
    .refuse(why(LOG_CODES.member_unknown, { member: 'team-tester' }), 'message_sent', { to: 'team-tester' })
    .refuse(why(LOG_CODES.member_ended, { member: 'quality' }), 'message_sent', { to: 'quality' })
    .refuse(why(LOG_CODES.member_ended, { member: 'quality' }), 'message_sent', { by: 'quality', to: 'tester' })
    .refuse(why(LOG_CODES.member_unknown, { member: 'designer' }), 'message_sent', { by: 'designer', to: 'tester' })
    .refuse(why(LOG_CODES.member_run_over, { run: 2, latest: 1 }), 'message_sent', {
      by: 'tester',
      epoch: 2,
      to: 'backend-dev',
    });
});

test('what is for one to send counts from nobody else', () => {
  const gate = { trust5Score: 1, securityIssues: 0, performanceScore: 'A', recommendation: 'go' };
  const story = teamOf(['backend-dev', 'quality'])
    .refuse(
      why(MESSAGES_CODES.message_type_reserved, { type: 'shutdown_request', senders: ['team-lead'] }),
      'message_sent',
      { to: 'all', kind: 'shutdown_request' },
    )
    .refuse(
      why(MESSAGES_CODES.message_type_reserved, { type: 'quality_gate_passed', senders: ['quality'] }),
      'message_sent',
      {
        to: LEAD,
        kind: 'quality_gate_passed',
        content: gate,
      },
    )
    .tell('message_sent', { by: 'quality', to: LEAD, kind: 'quality_gate_passed', content: gate });
  assert.equal(story.member('backend-dev').shutdown, null);
});

test('everybody is nobody when nobody is there', () => {
  const story = say(teamOf([]), LEAD, 'all');
  assert.deepEqual(unread(story.state), []);
  assert.equal(story.state.messages.length, 1);
});

test('a receipt is queued, delivered, read; only what was read is off the list, and each moment is the first', () => {
  const story = say(say(teamOf(THREE), 'backend-dev', 'tester'), 'backend-dev', 'tester');
  const receipt = () => story.state.messages[0]?.receipts.get('tester');
  assert.deepEqual(receipt(), { deliveredAt: null, readAt: null });
  const start = story.at;
  story.later(1).tell('mail_seen', { how: 'delivered' });
  assert.deepEqual(receipt(), { deliveredAt: start + 1, readAt: null });
  assert.deepEqual(unread(story.state), ['tester: 1,2']);
  story.later(1).tell('mail_seen', { how: 'delivered' }).later(1).tell('mail_seen', { how: 'read' });
  assert.deepEqual(receipt(), { deliveredAt: start + 1, readAt: start + 3 });
  assert.deepEqual(unread(story.state), ['tester: 2']);
  story.later(1).tell('mail_seen', { how: 'read' });
  assert.deepEqual(receipt(), { deliveredAt: start + 1, readAt: start + 3 });
  story.tell('mail_seen', { seqs: [2], how: 'read' });
  assert.deepEqual(unread(story.state), []);
  assert.deepEqual(story.state.messages[1]?.receipts.get('tester'), { deliveredAt: story.at, readAt: story.at });
});

test('nobody reads what was sent to others, or what there is not', () => {
  const story = say(teamOf(THREE), 'backend-dev', 'tester');
  const before = story.state.messages[0];
  story.tell('mail_seen', { member: 'frontend-dev', seqs: [1] }).tell('mail_seen', { seqs: [0, -1, 7] });
  assert.deepEqual(story.state.messages, [before]);
  assert.deepEqual(unread(story.state), ['tester: 1']);
});

test('what a member did not read waits for its successor', () => {
  const story = say(teamOf(THREE), 'backend-dev', 'tester', 'wait');
  story.tell('member_idle', { name: 'tester', stopped: true }).join('tester');
  assert.deepEqual(unread(story.state), ['tester: 1']);
  story.tell('mail_seen');
  assert.deepEqual(unread(story.state), []);
});

test('who is registered and not started gets mail too; who comes later gets none of before', () => {
  const story = teamOf(['backend-dev']).tell('member_registered', { name: 'tester' });
  say(story, 'backend-dev', 'all');
  story.join('designer');
  assert.deepEqual(unread(story.state), ['tester: 1', 'team-lead: 1']);
});

test('a message of a member is a sign of life and of work; of the lead it begins none', () => {
  const story = say(teamOf(THREE).tell('member_idle'), LEAD, 'all');
  assert.equal(story.state.session, 'spawned');
  assert.equal(story.member('backend-dev').phase, 'idle');
  say(story.later(9), 'backend-dev', LEAD);
  assert.equal(story.state.session, 'working');
  assert.deepEqual([story.member('backend-dev').phase, story.member('backend-dev').seenAt], ['working', story.at]);
});

test('a claim that could be held against nothing is known as one, and shown as one', () => {
  const story = teamOf(THREE);
  const content = { coverage: 87, passedTests: 9, failedTests: 0, duration: '1 s' };
  const claim = () => story.tell('message_sent', { by: 'tester', to: 'backend-dev', kind: 'tests_passed', content });
  claim();
  say(story, 'tester', 'backend-dev');
  story.tell('gate_measured');
  claim();
  assert.deepEqual(
    story.state.messages.map(({ isUnmeasured }) => isUnmeasured),
    [true, undefined, undefined],
  );
  const [early, , late] = story.state.messages;
  assert.ok(early !== undefined && late !== undefined);
  assert.match(messageLine(early), /^#1 from tester, tests_passed \(not measured yet\): \{/);
  assert.match(messageLine(late), /^#3 from tester, tests_passed: \{/);
  assert.equal(messageContent(early), 'not measured yet: 9 passed, 0 failed, 87 % covered, 1 s');
});
