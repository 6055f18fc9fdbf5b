import assert from 'node:assert/strict';
import test from 'node:test';
import { LOG_CODES } from '../../../../src/team/rules/codes/log-codes.ts';
import { OPERATIONS_CODES } from '../../../../src/team/rules/codes/operations-codes.ts';
import { LEAD, Story, TEAM, teamOf, why } from '../../../support/team.ts';

test('a proposal may be made again until there is a team; only one creation counts', () => {
  const story = new Story().tell('proposed').tell('proposed', { reasons: ['10 files'], pattern: null });
  assert.deepEqual(Object.keys(story.state.proposal ?? {}).sort(), [
    'drafts',
    'pattern',
    'phase',
    'reasons',
    'roles',
    'subject',
  ]);
  assert.deepEqual([story.state.session, story.state.proposal?.reasons], ['none', ['10 files']]);
  story.later(3).tell('created');
  assert.deepEqual(
    [story.state.team, story.state.session, story.state.createdAt, story.state.approval, story.state.lead],
    [TEAM, 'created', story.at, true, { session: 'session-1', keyHash: 'hash-of-lead' }],
  );
  assert.deepEqual(story.state.purpose, {
    phase: 'run',
    pattern: 'implementation',
    roles: ['backend-dev', 'tester'],
    subject: 'SPEC-AUTH-001',
  });
  const there = why(LOG_CODES.team_exists, { team: TEAM });
  story.refuse(there, 'created', { session: 'session-2' }).refuse(there, 'proposed');
});

test('a team stands with the tasks that it begins with, by one record', () => {
  const part = { description: 'd', files: [] };
  const tasks = [
    { ...part, key: 'api', subject: 'API', owner: 'backend-dev', blockedBy: [] },
    { ...part, key: 'tests', subject: 'Tests', owner: 'tester', blockedBy: ['api'] },
  ];
  const { state } = new Story().tell('created', { tasks });
  assert.equal(state.session, 'assigned');
  assert.deepEqual(
    [...state.tasks.values()].map(({ id, owner, blockedBy, createdBy }) => [id, owner, blockedBy, createdBy]),
    [
      ['1', 'backend-dev', [], 'team-lead'],
      ['2', 'tester', ['1'], 'team-lead'],
    ],
  );
  assert.equal(new Story().tell('created', { tasks: [] }).state.session, 'created');
});

test('a planning team: results, the SPEC, the question, changes, the word', () => {
  const story = new Story()
    .tell('created', { phase: 'plan' })
    .tell('task_created')
    .join('analyst')
    .claim('1', 'analyst');
  const moved = (event: 'spec_generated' | 'approval_asked' | 'approved' | 'changes_asked') => ({ event });
  story.refuse(
    why(LOG_CODES.step_not_possible, { event: 'spec_generated', state: 'working', missing: ['every task completed'] }),
    'moved',
    moved('spec_generated'),
  );
  story.complete('1', 'analyst').tell('moved', moved('spec_generated'));
  story
    .refuse(why(LOG_CODES.step_not_possible, { missing: ['approval not required'] }), 'moved', moved('approved'))
    .tell('moved', moved('approval_asked'));
  story.tell('moved', moved('changes_asked'));
  assert.equal(story.state.session, 'working');
  story.tell('moved', moved('spec_generated')).tell('moved', moved('approval_asked')).tell('moved', moved('approved'));
  assert.equal(story.state.session, 'approved');
  story.refuse(why(LOG_CODES.step_not_possible, { state: 'approved', missing: undefined }), 'moved', {
    event: 'gate_started',
  });
});

test('a planning team that needs no word of the user asks for none', () => {
  const story = new Story().tell('created', { phase: 'plan', approval: false }).join('analyst');
  story
    .tell('moved', { event: 'spec_generated' })
    .refuse(why(LOG_CODES.step_not_possible, { missing: ['approval required'] }), 'moved', { event: 'approval_asked' });
  story.tell('moved', { event: 'approved' });
});

test('a team that builds: files are given out, work, the gate that fails, the gate that passes', () => {
  const story = teamOf([], 1).tell('moved').join('backend-dev').claim('1', 'backend-dev');
  assert.equal(story.state.session, 'working');
  story.refuse(why(LOG_CODES.step_not_possible, { missing: ['every task completed'] }), 'moved', {
    event: 'gate_started',
  });
  story
    .refuse(why(LOG_CODES.step_not_possible, { missing: ['plan phase', 'every task completed'] }), 'moved', {
      event: 'spec_generated',
    })
    .complete('1', 'backend-dev');
  story.tell('moved', { event: 'gate_started' }).tell('moved', { event: 'gate_failed' });
  assert.equal(story.state.session, 'working');
  story.tell('moved', { event: 'gate_started' }).tell('moved', { event: 'gate_passed' });
  assert.equal(story.state.session, 'complete');
});

test('a failed task keeps the gate shut until it is done, or taken for done', () => {
  const story = teamOf(['tester'], 1).claim('1', 'tester').tell('task_updated', { status: 'failed', by: 'tester' });
  story
    .refuse(why(LOG_CODES.step_not_possible, { missing: ['every task completed'] }), 'moved', { event: 'gate_started' })
    .complete('1', LEAD, 0);
  story.tell('moved', { event: 'gate_started' });
});

test('a team that looks for a cause is done when one is proven', () => {
  const story = new Story()
    .tell('created', { phase: 'debug' })
    .join('hypothesis-1')
    .tell('moved', { event: 'cause_proven' });
  assert.equal(story.state.session, 'complete');
  teamOf(['tester']).refuse(why(LOG_CODES.step_not_possible, { missing: ['debug phase'] }), 'moved', {
    event: 'cause_proven',
  });
});

test('a team that fell back keeps its tasks, its messages and what was done', () => {
  const story = teamOf(['tester', 'backend-dev'], 2)
    .claim('1', 'tester')
    .complete('1', 'tester')
    .claim('2', 'backend-dev');
  story.tell('message_sent').tell('fell_back');
  assert.deepEqual(story.state.fallback, { trigger: 'spawn_failed', reason: 'no such agent' });
  assert.deepEqual(
    [story.state.session, ...story.tasks],
    ['fallback', '1 completed tester#1', '2 in_progress backend-dev#1'],
  );
  assert.equal(story.state.messages.length, 1);
  story.refuse(why(LOG_CODES.step_not_possible, { event: 'fell_back', state: 'fallback' }), 'fell_back', {
    trigger: 'other',
  });
  story
    .refuse(why(OPERATIONS_CODES.team_has_live_members, { members: ['tester', 'backend-dev'] }), 'deleted')
    .askToEnd();
  assert.equal(story.state.session, 'fallback');
  story.tell('member_ended').tell('member_idle', { name: 'tester', stopped: true });
  story.claim('2', LEAD, 0).complete('2', LEAD, 0).tell('deleted');
  assert.equal(story.state.session, 'deleted');
});

test('a team falls back from anywhere but from before and after it', () => {
  new Story().refuse(why(LOG_CODES.team_not_created), 'fell_back').tell('created').tell('fell_back');
  const story = teamOf(['tester']).askToEnd().tell('fell_back');
  assert.equal(story.state.session, 'fallback');
  story.tell('restarted');
  assert.deepEqual([story.state.session, story.state.fallback], ['assigned', null]);
});

test('what fell back is a team again by a restart that says so: what was done stays, claims come back', () => {
  const story = new Story()
    .tell('proposed', { alone: 'variable_unset' })
    .tell('created')
    .tell('task_created')
    .tell('task_created')
    .tell('fell_back')
    .claim('1', LEAD, 0)
    .complete('1', LEAD, 0)
    .claim('2', LEAD, 0);
  story.tell('restarted', { alone: true });
  assert.deepEqual([story.state.session, story.state.proposal?.alone], ['fallback', 'variable_unset']);
  story.claim('2', LEAD, 0).tell('restarted');
  assert.deepEqual(
    [story.state.session, story.state.fallback, story.state.proposal?.alone, ...story.tasks],
    ['assigned', null, undefined, '1 completed team-lead#0', '2 pending'],
  );
  story.join('backend-dev').claim('2', 'backend-dev').complete('2', 'backend-dev');
});

test('a restart that is forced goes without setting and variable from there on, and through other restarts', () => {
  const story = new Story().tell('proposed').tell('created');
  assert.equal(story.tell('restarted').state.proposal?.forced, undefined);
  assert.equal(story.tell('restarted', { forced: true }).state.proposal?.forced, true);
  assert.equal(story.tell('restarted').state.proposal?.forced, true);
});

test('texts that came before a restart count as told once a member has started after it', () => {
  const story = new Story().tell('proposed', { words_hash: 'first' }).tell('created').tell('task_created');
  const told = () => story.state.proposal?.wordsHash;
  story.join('tester').tell('restarted', { words_hash: 'second' });
  assert.equal(told(), 'first');
  story.tell('restarted');
  assert.equal(told(), 'first', 'nobody has started since');
  story.join('backend-dev');
  assert.equal(told(), 'second');
  story.tell('restarted').join('tester');
  assert.deepEqual([told(), story.state.proposal?.nextWordsHash], ['second', undefined]);
});

test('a restart: whoever was there is gone, what was done and said stays', () => {
  const story = teamOf(['tester', 'backend-dev'], 3).claim('1', 'tester').complete('1', 'tester');
  story
    .claim('2', 'backend-dev')
    .claim('3', LEAD, 0)
    .tell('message_sent')
    .tell('decision')
    .tell('gate_measured')
    .askToEnd();
  story.later(5).tell('restarted');
  assert.deepEqual(story.members, ['tester#1 over: replaced', 'backend-dev#1 over: replaced']);
  assert.deepEqual(story.tasks, ['1 completed tester#1', '2 pending', '3 pending']);
  assert.deepEqual(
    [story.state.session, story.state.lead, story.state.shutdownAt, story.state.rejections.size],
    ['assigned', { session: 'session-2', keyHash: null, tasksBefore: 3 }, null, 0],
  );
  assert.deepEqual(story.state.unread.get('tester'), [1, 2]);
  assert.equal(story.state.gate?.tree, 'tree-1');
  story.join('tester').claim('2', 'tester', 2);
  assert.deepEqual(story.member('tester').shutdown, null);
});

test('what has failed gets a new chance at a restart, and what waited for it may follow; what is done stays done', () => {
  const story = teamOf(['tester'], 2).claim('1', 'tester').complete('1', 'tester').claim('2', 'tester');
  story.tell('task_updated', { task: '2', status: 'failed', result: 'no such program', by: 'tester' });
  assert.deepEqual(story.tasks, ['1 completed tester#1', '2 failed tester#1']);
  story.tell('restarted');
  assert.deepEqual(story.tasks, ['1 completed tester#1', '2 pending']);
  const { claim, result, startedAt, endedAt } = story.task('2');
  assert.deepEqual([claim, result, startedAt, endedAt], [null, null, null, null]);
  story.join('tester').claim('2', 'tester', 2).complete('2', 'tester', 2);
});

test('what the gate has rejected before a restart counts no more', () => {
  const story = teamOf(['tester'], 1).claim('1', 'tester').complete('1', 'tester');
  const rejected = { task: null, ok: false };
  story.tell('gate_measured', rejected).tell('gate_measured', rejected);
  assert.equal(story.state.gate?.rejected, 2);
  story.tell('restarted');
  assert.deepEqual([story.state.gate?.ok, story.state.gate?.rejected], [false, undefined]);
  assert.equal(story.tell('gate_measured', rejected).state.gate?.rejected, 1);
});

test('a restart from the beginning: every task starts over', () => {
  const story = teamOf(['tester'], 2)
    .claim('1', 'tester')
    .tell('task_updated', { status: 'completed', result: 'r', by: 'tester' });
  story.claim('2', 'tester').tell('gate_measured').tell('restarted', { keep: false });
  for (const id of ['1', '2']) {
    const { status, claim, result, startedAt, endedAt } = story.task(id);
    assert.deepEqual([status, claim, result, startedAt, endedAt], ['pending', null, null, null, null]);
  }
  assert.equal(story.state.gate, null);
});

test('a team that has been shut down can be restarted', () => {
  const story = teamOf([]).askToEnd().tell('restarted').join('tester');
  assert.equal(story.state.session, 'spawned');
});

test('nothing counts behind the end of a file, and a snapshot only at the beginning', () => {
  const story = teamOf([])
    .refuse(why(LOG_CODES.record_not_valid, { type: 'snapshot' }), 'snapshot')
    .tell('continued');
  assert.equal(story.state.continuedIn, 'log.2.jsonl');
  story
    .refuse(why(LOG_CODES.log_continued, { file: 'log.2.jsonl' }), 'task_created')
    .refuse(why(LOG_CODES.log_continued), 'continued', { next: 'log.3.jsonl' });
});
