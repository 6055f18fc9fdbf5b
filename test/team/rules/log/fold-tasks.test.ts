import assert from 'node:assert/strict';
import test from 'node:test';
import { LOG_CODES } from '../../../../src/team/rules/codes/log-codes.ts';
import { TASK_CODES } from '../../../../src/team/rules/codes/tasks-codes.ts';
import { LEAD, Story, teamOf, type Why, why } from '../../../support/team.ts';

const TWO = ['backend-dev', 'tester'];

test('tasks are counted from 1, and wait only for older ones', () => {
  const story = teamOf([], 2)
    .tell('task_created', { blocked_by: ['1', '2'] })
    .refuse(why(TASK_CODES.task_not_found, { task: '4' }), 'task_created', { blocked_by: ['1', '4'] })
    .refuse(why(TASK_CODES.task_not_found, { task: 'x' }), 'task_created', { blocked_by: ['x'] });
  assert.deepEqual([...story.state.tasks.keys()], ['1', '2', '3']);
  assert.deepEqual(story.task('3').blockedBy, ['1', '2']);
});

test('a younger task may hold up one that was begun: it cannot be completed before', () => {
  const story = teamOf(TWO, 1)
    .claim('1', 'backend-dev')
    .refuse(why(TASK_CODES.task_not_found, { field: 'holds_up', task: '7' }), 'task_created', { holds_up: '7' })
    .refuse(why(TASK_CODES.task_holds_up_none), 'task_created', { holds_up: '1', blocked_by: ['1'] })
    .tell('task_created', { holds_up: '1' });
  assert.deepEqual([story.task('2').holdsUp, story.task('1').blockedBy], ['1', ['2']]);
  story
    .refuse(why(TASK_CODES.task_blocked, { task: '1', before: ['task 2'] }), 'task_updated', { status: 'completed' })
    .claim('2', 'backend-dev')
    .complete('2', 'backend-dev')
    .complete('1', 'backend-dev');
  assert.equal(story.task('1').status, 'completed');
});

test('the first claim wins, whoever comes after is told by whom, and the winner may say it twice', () => {
  const story = teamOf(TWO, 1)
    .claim('1', 'backend-dev')
    .refuse(why(TASK_CODES.task_claimed, { task: '1', holder: 'backend-dev' }), 'task_updated', { by: 'tester' })
    .refuse(why(TASK_CODES.task_claimed, { task: '1', holder: 'backend-dev' }), 'task_updated', { by: LEAD, epoch: 0 });
  const { claim, startedAt } = story.task('1');
  story.later(50).claim('1', 'backend-dev');
  assert.deepEqual(story.task('1').claim, claim);
  assert.equal(story.task('1').startedAt, startedAt);
});

/** What leads to the update, who makes it, and what comes of it: the tasks, or the refusal. */
type Case = readonly [string, (story: Story) => unknown, Parameters<Story['tell']>[1], string | Why];

const owned = (story: Story) => story.tell('task_assigned', { owner: 'tester' });
const claimed = (story: Story) => story.claim('1', 'backend-dev');
const completed = (story: Story) => claimed(story).complete('1', 'backend-dev');
const failed = (story: Story) => claimed(story).tell('task_updated', { status: 'failed', result: 'no server' });
const blocked = (story: Story) => story.tell('task_created', { blocked_by: ['1'], owner: 'tester' });
const reopenedBefore = (story: Story) => {
  blocked(story);
  completed(story);
  return story.complete('2', 'tester').tell('task_updated', { status: 'pending', by: LEAD, epoch: 0 });
};
const ownClaim = (story: Story) => story.claim('1', LEAD, 0);

const CASES: readonly Case[] = [
  // claims
  ['a stranger', () => {}, { by: 'designer' }, why(LOG_CODES.member_unknown, { member: 'designer' })],
  ['no such task', () => {}, { task: '9' }, why(TASK_CODES.task_not_found, { task: '9' })],
  ['unowned', () => {}, {}, '1 in_progress backend-dev#1'],
  ['meant for another', owned, {}, why(TASK_CODES.task_meant_for_other, { task: '1', owner: 'tester' })],
  ['meant for itself', owned, { by: 'tester' }, '1 in_progress tester#1'],
  [
    'meant for another, the lead',
    owned,
    { by: LEAD, epoch: 0 },
    why(TASK_CODES.task_meant_for_other, { task: '1', owner: 'tester' }),
  ],
  ['blocked', blocked, { task: '2', by: 'tester' }, why(TASK_CODES.task_blocked, { task: '2', before: ['task 1'] })],
  ['failed, by another', failed, { by: 'tester' }, '1 in_progress tester#1'],
  [
    'done, by another',
    completed,
    { by: 'tester' },
    why(TASK_CODES.task_completed_already, { task: '1', holder: 'backend-dev' }),
  ],
  ['done, by itself', completed, {}, '1 in_progress backend-dev#1'],
  ['done, by the lead', completed, { by: LEAD, epoch: 0 }, '1 in_progress team-lead#0'],
  [
    'done, and what it waits for is open again',
    reopenedBefore,
    { task: '2', by: 'tester' },
    why(TASK_CODES.task_blocked, { before: ['task 1'] }),
  ],
  // completions
  [
    'not claimed',
    () => {},
    { status: 'completed' },
    why(TASK_CODES.task_not_claimed, { task: '1', member: 'backend-dev' }),
  ],
  ['meant for it, not claimed', owned, { status: 'completed', by: 'tester' }, '1 completed tester#1'],
  [
    'meant for it, blocked',
    blocked,
    { task: '2', status: 'completed', by: 'tester' },
    why(TASK_CODES.task_blocked, { before: ['task 1'] }),
  ],
  [
    "another's",
    claimed,
    { status: 'completed', by: 'tester' },
    why(TASK_CODES.task_claimed, { task: '1', holder: 'backend-dev' }),
  ],
  [
    "another's, done",
    completed,
    { status: 'completed', by: 'tester' },
    why(TASK_CODES.task_not_claimed, { member: 'tester' }),
  ],
  ['its own', claimed, { status: 'completed' }, '1 completed backend-dev#1'],
  ['its own, failed', claimed, { status: 'failed' }, '1 failed backend-dev#1'],
  ['its own, given back', claimed, { status: 'pending' }, '1 pending'],
  [
    'its own, with another epoch',
    claimed,
    { status: 'completed', epoch: 2 },
    why(LOG_CODES.member_run_over, { run: 2, latest: 1 }),
  ],
  [
    "another's, failed",
    claimed,
    { status: 'failed', by: 'tester' },
    why(TASK_CODES.task_claimed, { task: '1', holder: 'backend-dev' }),
  ],
  [
    "another's, put back",
    claimed,
    { status: 'pending', by: 'tester' },
    why(TASK_CODES.task_claimed, { task: '1', holder: 'backend-dev' }),
  ],
  // the lead
  ['lead: nobody claims it', () => {}, { status: 'completed', by: LEAD, epoch: 0 }, '1 completed'],
  [
    'lead: somebody works',
    claimed,
    { status: 'completed', by: LEAD, epoch: 0 },
    why(TASK_CODES.task_held_by_worker, { task: '1', holder: 'backend-dev' }),
  ],
  ['lead: taken away', claimed, { status: 'pending', by: LEAD, epoch: 0 }, '1 pending'],
  ['lead: given up', claimed, { status: 'failed', by: LEAD, epoch: 0 }, '1 failed backend-dev#1'],
  ['lead: failed, done elsewhere', failed, { status: 'completed', by: LEAD, epoch: 0 }, '1 completed backend-dev#1'],
  ['lead: its own', ownClaim, { status: 'completed', by: LEAD, epoch: 0 }, '1 completed team-lead#0'],
  [
    'lead: its own, from another session',
    ownClaim,
    { status: 'completed', by: LEAD, epoch: 7 },
    '1 completed team-lead#0',
  ],
  [
    "lead's, by a member",
    ownClaim,
    { status: 'completed' },
    why(TASK_CODES.task_claimed, { task: '1', holder: 'team-lead' }),
  ],
  ['lead: reopened', completed, { status: 'pending', by: LEAD, epoch: 0 }, '1 pending'],
];

for (const [name, before, update, after] of CASES)
  test(`an update: ${name}`, () => {
    const story = teamOf(TWO, 1);
    before(story);
    if (typeof after !== 'string') story.refuse(after, 'task_updated', update);
    else assert.equal(story.tell('task_updated', update).tasks[0], after);
  });

test('the lead completes what somebody claimed who has not been seen for too long', () => {
  const story = teamOf(TWO, 1)
    .claim('1', 'backend-dev')
    .later(16 * 60_000);
  story.complete('1', LEAD, 0);
  assert.deepEqual(story.tasks, ['1 completed backend-dev#1']);
});

test('what a dead member claimed can be claimed again, and what it did stays done', () => {
  const story = teamOf(TWO, 2).claim('1', 'backend-dev').complete('1', 'backend-dev').claim('2', 'backend-dev');
  story.tell('member_ended', { how: 'confirmed', reason: 'killed' });
  assert.deepEqual(story.tasks, ['1 completed backend-dev#1', '2 pending']);
  assert.equal(story.task('2').startedAt, null);
  story.refuse(why(LOG_CODES.member_ended, { member: 'backend-dev', reason: 'killed' }), 'task_updated', { task: '2' });
  story.later(5).claim('2', 'tester');
  assert.deepEqual(story.tasks[1], '2 in_progress tester#1');
  assert.equal(story.task('2').startedAt, story.at);
});

test('a successor has none of the claims, and its predecessor can complete nothing', () => {
  const story = teamOf(TWO, 1)
    .claim('1', 'backend-dev')
    .tell('member_idle', { stopped: true })
    .join('backend-dev')
    .refuse(why(LOG_CODES.member_run_over, { run: 1, latest: 2 }), 'task_updated', { status: 'completed', epoch: 1 })
    .refuse(why(TASK_CODES.task_not_claimed, { member: 'backend-dev' }), 'task_updated', {
      status: 'completed',
      epoch: 2,
    });
  assert.deepEqual(story.tasks, ['1 pending']);
  story.claim('1', 'backend-dev', 2).complete('1', 'backend-dev', 2);
  assert.deepEqual(story.tasks, ['1 completed backend-dev#2']);
});

test('times and results: begun, ended, begun again; the last result stays', () => {
  const story = teamOf(TWO, 1).later(10).claim('1', 'backend-dev');
  const began = story.at;
  story.later(10).tell('task_updated', { status: 'failed', result: 'no server' });
  assert.deepEqual(
    [story.task('1').startedAt, story.task('1').endedAt, story.task('1').result],
    [began, began + 10, 'no server'],
  );
  story.later(10).claim('1', 'backend-dev');
  assert.deepEqual([story.task('1').startedAt, story.task('1').endedAt], [began + 20, null]);
  story.later(10).complete('1', 'backend-dev');
  assert.deepEqual([story.task('1').endedAt, story.task('1').result], [began + 30, 'no server']);
  story.later(10).tell('task_updated', { status: 'completed', result: 'better words' });
  assert.deepEqual([story.task('1').endedAt, story.task('1').result], [began + 30, 'better words']);
});

test('a task is meant for another once nobody works on it', () => {
  const story = teamOf(TWO, 1)
    .refuse(why(TASK_CODES.task_not_found, { task: '9' }), 'task_assigned', { task: '9' })
    .claim('1', 'backend-dev')
    .tell('task_assigned', { owner: 'backend-dev' })
    .refuse(why(TASK_CODES.task_claimed, { task: '1', holder: 'backend-dev' }), 'task_assigned', { owner: 'tester' })
    .tell('task_updated', { status: 'failed' })
    .tell('task_assigned', { owner: 'tester' })
    .claim('1', 'tester');
  assert.deepEqual(story.tasks, ['1 in_progress tester#1']);
});

test('work begins with the first claim or completion of a member, not of the lead', () => {
  const story = teamOf(TWO, 2).complete('1', LEAD, 0);
  assert.equal(story.state.session, 'spawned');
  story.claim('2', 'tester');
  assert.equal(story.state.session, 'working');
});

test('of two who are given a task at once the first gets it; the lead may take it from anybody', () => {
  const story = teamOf(['backend-dev', 'tester'], 1);
  story.tell('task_assigned', { task: '1', owner: 'tester', by: 'teammate_idle' });
  story.refuse(why(TASK_CODES.task_meant_for_other, { task: '1', owner: 'tester' }), 'task_assigned', {
    task: '1',
    owner: 'backend-dev',
    by: 'teammate_idle',
  });
  story.tell('task_assigned', { task: '1', owner: 'backend-dev', by: LEAD });
  assert.equal(story.task('1').owner, 'backend-dev');
});

test('whose run is over works on nothing any more: its task is free again', () => {
  const story = teamOf(['backend-dev'], 1).claim('1', 'backend-dev');
  story.tell('member_idle', { name: 'backend-dev', epoch: 1, stopped: true });
  assert.deepEqual(story.tasks, ['1 pending']);
});

const API = { endpoint: 'POST /login', schema: { name: 'string' } };
const COMPONENT = { component: 'form', path: 'src/components/form.ts', testable: true, props: [] };

/** The server, the screens and their tests, each waiting for the one before. */
function chain() {
  return new Story()
    .tell('created')
    .join('backend-dev', 'frontend-dev', 'tester')
    .tell('task_created', { owner: 'backend-dev', files: [] })
    .tell('task_created', { owner: 'frontend-dev', files: [], blocked_by: ['1'] })
    .tell('task_created', { owner: 'tester', files: [], blocked_by: ['2'] });
}

test('what is announced as ready lets the task that waits for it begin, and not be completed before', () => {
  const story = chain().claim('1', 'backend-dev');
  story.refuse(why(TASK_CODES.task_blocked, { task: '2', before: ['task 1'] }), 'task_updated', {
    task: '2',
    by: 'frontend-dev',
  });
  story.tell('message_sent', { to: 'frontend-dev', kind: 'api_ready', content: API }).claim('2', 'frontend-dev');
  story.refuse(why(TASK_CODES.task_blocked, { task: '2', before: ['task 1'] }), 'task_updated', {
    task: '2',
    by: 'frontend-dev',
    status: 'completed',
  });
  story.tell('message_sent', { by: 'frontend-dev', to: 'all', kind: 'component_ready', content: COMPONENT });
  story.claim('3', 'tester').complete('1', 'backend-dev').complete('2', 'frontend-dev').complete('3', 'tester');
});

test('what is nobody’s begins on an announcement for whom it was made, and for nobody else', () => {
  const story = teamOf(['backend-dev', 'frontend-dev', 'tester'], 1);
  story.tell('task_created', { owner: null, files: [], blocked_by: ['1'] }).claim('1', 'backend-dev');
  const early = [
    why(TASK_CODES.task_blocked, { task: '2', before: ['task 1'] }),
    'task_updated',
    { task: '2', by: 'frontend-dev' },
  ] as const;
  story.refuse(...early).tell('message_sent', { to: 'frontend-dev', kind: 'api_ready', content: API });
  for (const by of ['tester', 'backend-dev', LEAD]) story.refuse(early[0], 'task_updated', { task: '2', by });
  story.claim('2', 'frontend-dev');
  story.refuse(early[0], 'task_updated', { task: '2', by: 'frontend-dev', status: 'completed' });
  story.tell('task_updated', { task: '2', by: 'frontend-dev', status: 'pending' }).refuse(...early);
  story.complete('1', 'backend-dev').claim('2', 'tester').complete('2', 'tester');
});

test('an announcement by another, to another, before the work or of a run that is gone lets nothing begin', () => {
  const early = { to: 'frontend-dev', kind: 'api_ready', content: API } as const;
  const blocked = [
    why(TASK_CODES.task_blocked, { task: '2', before: ['task 1'] }),
    'task_updated',
    { task: '2', by: 'frontend-dev' },
  ] as const;
  chain()
    .tell('message_sent', early)
    .claim('1', 'backend-dev')
    .refuse(...blocked);
  chain()
    .claim('1', 'backend-dev')
    .tell('message_sent', { ...early, to: 'tester' })
    .refuse(...blocked);
  chain()
    .claim('1', 'backend-dev')
    .tell('message_sent', { ...early, by: 'tester' })
    .refuse(...blocked);
  const again = chain().claim('1', 'backend-dev').tell('message_sent', early);
  again
    .tell('task_updated', { task: '1', by: 'backend-dev', status: 'pending' })
    .claim('1', 'backend-dev')
    .refuse(...blocked);
});

test('that nothing was changed is known of a completion until the task is taken up again', () => {
  const story = teamOf(TWO, 1).claim('1', 'backend-dev');
  story.tell('task_updated', { status: 'completed', changed_nothing: true });
  assert.equal(story.task('1').changedNothing, true);
  story.claim('1', 'backend-dev');
  assert.equal(story.task('1').changedNothing, undefined);
  story.tell('task_updated', { status: 'completed' });
  assert.equal(story.task('1').changedNothing, undefined);
});
