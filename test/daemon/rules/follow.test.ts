// Decisions on a followed pull request, by tables.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { FollowState, FollowVerdict, PullRequestSight } from '../../../src/daemon/rules/follow.ts';
import { isCall, judgeFollow, keysOf } from '../../../src/daemon/rules/follow.ts';
import type { FollowMode } from '../../../src/daemon/rules/follow-settings.ts';
import type { Check, Review } from '../../../src/daemon/rules/pull-request-status.ts';

const BEGUN = 1_000_000;
const LATER = BEGUN + 61_000;

const FOLLOW: FollowState = {
  since: BEGUN,
  updatedAt: '',
  rounds: 0,
  handled: [],
  failure: null,
  told: null,
  reviewers: [],
  stopped: null,
};

function sight(
  change: Partial<Omit<PullRequestSight, 'status'>> & Partial<PullRequestSight['status']> = {},
): PullRequestSight {
  const {
    checks = [],
    checksStandMs = 60_000,
    reviews = [],
    threads = [],
    comments = [],
    rivals = [],
    ...status
  } = change;
  return {
    status: { state: 'open', head: 'mine', conflicts: false, updatedAt: '', ...status },
    ...{ checks, checksStandMs, reviews, threads, comments, rivals },
  };
}

function check(state: Check['state'], name = 'build'): Check {
  return { name, state, url: null, run: null, summary: '' };
}

function review(id: number, verdict: Review['verdict'], login = 'ann'): Review {
  return { id, verdict, author: { login, type: 'User' }, body: '' };
}

function judge(
  seen: PullRequestSight,
  {
    until = 'green',
    follow = {},
    now = LATER,
  }: { until?: FollowMode; follow?: Partial<FollowState>; now?: number } = {},
): FollowVerdict {
  return judgeFollow(
    { ...FOLLOW, ...follow },
    { until, maxRounds: 3, answerTimeoutMs: 0 },
    seen,
    ['older', 'mine'],
    'robot',
    now,
  );
}

test('a comment speaks to the agent when it begins with /tool or with the name of its account', () => {
  const says = (body: string, account: string | null = 'robot', type = 'User') =>
    isCall({ body, author: { login: 'ann', type } }, account);
  for (const body of ['/tool do it', ' /tool', '/TOOL x', '@Robot', '\n @robot look', '@robot: look', '/tool\nnext'])
    assert.ok(says(body), body);
  const others = [
    'use /tool',
    '/toolbox',
    '/tool-x',
    '@robots',
    '@robot-two',
    '@robot[bot] x',
    'me@robot',
    '',
    'robot',
  ];
  for (const body of [...others, 'please @robot look', '> @robot do it\n\nno', '`@robot`'])
    assert.ok(!says(body), body);
  assert.ok(!says('@robot', null));
  for (const body of ['@a.b[bot] go', '@a.b go']) assert.ok(says(body, 'a.b[bot]'), body);
  assert.ok(!says('@robot is attempting to deploy a commit', 'robot', 'Bot'), 'bots greet whoever opened it');
  for (const other of ['@a.b-c', '@axb']) assert.ok(!says(other, 'a.b[bot]'), other);
  assert.ok(says('/tool bump', 'robot', 'Bot'));
});

const WAITS: readonly [string, PullRequestSight, Parameters<typeof judge>[1], RegExp][] = [
  ['a check that runs', sight({ checks: [check('passed'), check('pending', 'slow')] }), {}, /^checks run: slow$/],
  ['a failed check beside one that runs', sight({ checks: [check('failed'), check('pending', 'slow')] }), {}, /slow/],
  ['no check in the first minute', sight(), { now: BEGUN + 59_000 }, /no check has begun/],
  ['checks that changed just now', sight({ checks: [check('passed')], checksStandMs: 14_999 }), {}, /further checks/],
  ['a merge that is not worked out', sight({ conflicts: null }), {}, /worked out/],
  [
    'a commit that the service does not show yet',
    sight({ head: 'older', checks: [check('failed')] }),
    {},
    /last commit/,
  ],
  ['no approval', sight(), { until: 'approved' }, /nobody has approved/],
  ['a plain comment for an approval', sight({ reviews: [review(1, 'commented')] }), { until: 'approved' }, /nobody/],
  [
    'one approval against one that wants changes',
    sight({ reviews: [review(1, 'changes_requested', 'bob'), review(2, 'approved')] }),
    { until: 'approved', follow: { handled: ['review:1'] } },
    /^bob asked for changes and has not looked again$/,
  ],
];

for (const [name, seen, with_, why] of WAITS)
  test(`waits: ${name}`, () => {
    const verdict = judge(seen, with_);
    assert.ok(verdict.kind === 'wait', verdict.kind);
    assert.match(verdict.why, why);
  });

test('deliveries tell of the end of some waits; the others end with time', () => {
  const waits: readonly [PullRequestSight, Parameters<typeof judge>[1], boolean][] = [
    [sight({ checks: [check('pending')] }), {}, false],
    [sight(), { until: 'approved' }, false],
    [sight(), { now: BEGUN + 59_000 }, true],
    [sight({ checks: [check('passed')], checksStandMs: 14_999 }), {}, true],
    [sight({ conflicts: null }), {}, true],
    [sight({ head: 'older' }), {}, true],
    [sight({ checks: [check('failed')], checksStandMs: 2_999 }), {}, true],
  ];
  for (const [seen, with_, forTime] of waits) {
    const verdict = judge(seen, with_);
    assert.deepEqual(verdict.kind === 'wait' && verdict.forTime, forTime, JSON.stringify(verdict));
  }
});

test('failed checks are told when they have stood for three seconds, and with them what else happened', () => {
  const comments = [{ id: 1, author: null, body: '/tool again' }];
  const young = judge(sight({ checks: [check('failed')], checksStandMs: 1_000, comments }));
  assert.deepEqual(young, { kind: 'wait', why: 'further checks may begin', forTime: true, againMs: 2_000 });
  const verdict = judge(sight({ checks: [check('failed')], checksStandMs: 3_000, comments }));
  assert.deepEqual(verdict.kind === 'continue' && verdict.events.map(({ kind }) => kind), ['check', 'comment']);
});

const OVER: readonly [string, PullRequestSight, Parameters<typeof judge>[1]][] = [
  ['merged', sight({ state: 'merged', checks: [check('failed')] }), {}],
  ['closed', sight({ state: 'closed' }), { until: 'approved' }],
  ['a commit of somebody else', sight({ head: 'theirs', checks: [check('failed')] }), {}],
  ['a setting that was taken back', sight({ checks: [check('failed')] }), { until: 'open' }],
  ['green without checks', sight(), {}],
  ['green with checks', sight({ checks: [check('passed')], checksStandMs: 15_000 }), { now: BEGUN + 16_000 }],
  ['set back to an older commit', sight({ head: 'older', checks: [check('failed')] }), { now: BEGUN + 600_000 }],
  ['approved', sight({ reviews: [review(1, 'approved')] }), { until: 'approved' }],
  [
    'approved by who wanted changes',
    sight({ reviews: [review(1, 'changes_requested'), review(2, 'approved')] }),
    { until: 'approved' },
  ],
  [
    'a review that was dismissed beside an approval',
    sight({ reviews: [review(1, 'dismissed', 'bob'), review(2, 'approved')] }),
    { until: 'approved' },
  ],
];

for (const [name, seen, with_] of OVER)
  test(`is over: ${name}`, () => {
    assert.equal(judge(seen, with_).kind, 'over');
  });

test('what was told already starts nothing again, and a new word in a thread does', () => {
  const thread = (last: number) => ({
    ...{ id: 5, path: 'a', line: null, isResolved: false },
    comments: [5, last].map((id) => ({ id, author: null, body: '' })),
  });
  const follow = { handled: ['thread:5'] };
  assert.equal(judge(sight({ threads: [thread(5)] }), { follow }).kind, 'over');
  const verdict = judge(sight({ threads: [thread(6)] }), { follow });
  assert.deepEqual(verdict.kind === 'continue' && keysOf(verdict.events), ['thread:6']);
  assert.equal(judge(sight({ threads: [{ ...thread(6), isResolved: true }] }), { follow }).kind, 'over');
});

test('many words are told in several rounds', () => {
  const comments = Array.from({ length: 31 }, (_, id) => ({ id, author: null, body: '/tool x' }));
  const first = judge(sight({ comments }));
  assert.ok(first.kind === 'continue');
  const handled = keysOf(first.events);
  assert.equal(handled.length, 30);
  const second = judge(sight({ comments }), { follow: { handled, rounds: 1 } });
  assert.deepEqual(second.kind === 'continue' && keysOf(second.events), ['comment:30']);
});

test('the same failures of the same commit stop it, other ones go on', () => {
  const first = judge(sight({ checks: [check('failed'), check('failed', 'lint')] }));
  assert.ok(first.kind === 'continue');
  const follow = { failure: first.failure, rounds: 1 };
  assert.equal(judge(sight({ checks: [check('failed', 'lint'), check('failed')] }), { follow }).kind, 'stop');
  assert.equal(judge(sight({ checks: [check('failed')] }), { follow }).kind, 'continue');
  const comments = [{ id: 1, author: null, body: '/tool again' }];
  assert.equal(
    judge(sight({ checks: [check('failed'), check('failed', 'lint')], comments }), { follow }).kind,
    'continue',
  );
});

test('after the last round it stops, and names what is left', () => {
  const verdict = judge(sight({ checks: [check('failed')], conflicts: true }), { follow: { rounds: 3 } });
  assert.ok(verdict.kind === 'stop');
  assert.equal(verdict.why.values?.left, 'check build failed, it conflicts with its base');
});
