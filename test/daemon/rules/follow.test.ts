// Decisions on a followed pull request, by tables.

import assert from 'node:assert/strict';
import test from 'node:test';
import { type FollowState, type FollowVerdict, judgeFollow, NEW_FOLLOW } from '../../../src/daemon/rules/follow.ts';
import { isCall, keysOf, type PullRequestSight } from '../../../src/daemon/rules/follow-events.ts';
import type { FollowMode } from '../../../src/daemon/rules/follow-settings.ts';
import type { Check, Review } from '../../../src/daemon/rules/pull-request-status.ts';

const BEGUN = 1_000_000;
const LATER = BEGUN + 61_000;

const FOLLOW: FollowState = { ...NEW_FOLLOW, since: BEGUN, updatedAt: '', told: null, reviewers: [], stopped: null };

function sight(
  change: Partial<Omit<PullRequestSight, 'status'>> & Partial<PullRequestSight['status']> = {},
): PullRequestSight {
  const {
    checks = [],
    checksStandMs = 60_000,
    redMs = checksStandMs,
    unread = [],
    reviews = [],
    threads = [],
    comments = [],
    rivals = [],
    ...status
  } = change;
  return {
    status: {
      ...{ state: 'open', head: 'mine', conflicts: false, merge: 'clean', draft: false, awaited: [], updatedAt: '' },
      ...status,
    },
    ...{ checks, unread, checksStandMs, redMs, reviews, threads, comments, rivals },
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
  [
    'a failed check beside one that runs, in the first minute',
    sight({ checks: [check('failed'), check('pending', 'slow')], redMs: 59_999 }),
    {},
    /^checks failed: build; others run: slow$/,
  ],
  [
    'a check that was cancelled lately',
    sight({ checks: [check('cancelled')] }),
    {},
    /cancelled, and .* not begun: build/,
  ],
  ['a check that the service counts, and nobody sees', sight({ merge: 'unstable' }), {}, /a check has not passed/],
  [
    'rules of the branch, with an approval',
    sight({ merge: 'blocked', awaited: ['bob'], reviews: [review(1, 'approved')] }),
    { until: 'approved' },
    /want more, .*: approved by ann; reviews are asked of bob$/,
  ],
  ['no check in the first minute', sight(), { now: BEGUN + 59_000 }, /no check has begun/],
  ['checks that changed just now', sight({ checks: [check('passed')], checksStandMs: 14_999 }), {}, /further checks/],
  ['a merge that is not worked out', sight({ conflicts: null }), {}, /worked out/],
  ['a commit that the service shows later', sight({ head: 'older', checks: [check('failed')] }), {}, /last commit/],
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
  assert.deepEqual(young, {
    kind: 'wait',
    why: 'further checks may begin (waits 3 s)',
    forTime: true,
    againMs: 2_000,
  });
  const verdict = judge(sight({ checks: [check('failed')], checksStandMs: 3_000, comments }));
  assert.deepEqual(verdict.kind === 'continue' && verdict.events.map(({ kind }) => kind), ['check', 'comment']);
});

const ENDS: readonly [string, PullRequestSight, Parameters<typeof judge>[1], FollowVerdict['kind']][] = [
  ['merged', sight({ state: 'merged', checks: [check('failed')] }), {}, 'over'],
  ['closed', sight({ state: 'closed' }), { until: 'approved' }, 'over'],
  ['a setting that was taken back', sight({ checks: [check('failed')] }), { until: 'open' }, 'over'],
  ['a commit of somebody else', sight({ head: 'theirs', checks: [check('failed')] }), {}, 'pushed'],
  [
    'a commit of somebody else that was taken in',
    sight({ head: 'theirs', checks: [check('failed')] }),
    { follow: { others: ['theirs'], tip: 'theirs' } },
    'continue',
  ],
  ['set back to an older commit', sight({ head: 'older' }), { now: BEGUN + 600_000 }, 'stop'],
  ['behind its base', sight({ merge: 'behind' }), {}, 'update'],
  [
    'behind its base, which brought nothing',
    sight({ merge: 'behind' }),
    { follow: { updatedFrom: 'mine' } },
    'continue',
  ],
  ['behind, and nobody has approved', sight({ merge: 'behind' }), { until: 'approved' }, 'wait'],
];

for (const [name, seen, with_, kind] of ENDS)
  test(`what follows: ${name}`, () => {
    assert.equal(judge(seen, with_).kind, kind);
  });

const thread = (last: number, more: Partial<PullRequestSight['threads'][number]> = {}) => ({
  ...{ id: 5, path: 'src/a.ts', line: null, isResolved: false },
  comments: [5, last].map((id) => ({ id, author: null, body: '' })),
  ...more,
});

const PERSON: readonly [string, PullRequestSight, Parameters<typeof judge>[1], string, RegExp | null][] = [
  ['green without checks', sight(), {}, 'merge', null],
  [
    'green with checks',
    sight({ checks: [check('passed')], checksStandMs: 15_000 }),
    { now: BEGUN + 16_000 },
    'merge',
    null,
  ],
  ['approved', sight({ reviews: [review(1, 'approved')] }), { until: 'approved' }, 'merge', null],
  [
    'approved by who wanted changes',
    sight({ reviews: [review(1, 'changes_requested'), review(2, 'approved')] }),
    { until: 'approved' },
    'merge',
    null,
  ],
  [
    'a review that was dismissed beside an approval',
    sight({ reviews: [review(1, 'dismissed', 'bob'), review(2, 'approved')] }),
    { until: 'approved' },
    'merge',
    null,
  ],
  [
    'a thread that has no answer after two rounds',
    sight({ threads: [thread(6)] }),
    { follow: { handled: ['thread:6', 'thread:6:again'] } },
    'merge',
    /^1 review thread is open: src\/a\.ts$/,
  ],
  [
    'a draft that nobody has approved',
    sight({ draft: true, merge: 'blocked' }),
    { until: 'approved' },
    'draft',
    /still a draft/,
  ],
  [
    'rules of the branch',
    sight({ merge: 'blocked', awaited: ['bob'] }),
    {},
    'blocked',
    /nobody has approved it; reviews/,
  ],
  ['a check that a person has to release', sight({ checks: [check('waiting')] }), {}, 'check', /lets them run: build/],
  [
    'a check that was cancelled and has no successor',
    sight({ checks: [check('cancelled')], checksStandMs: 600_000 }),
    {},
    'check',
    /nothing has taken their place: build/,
  ],
  [
    'checks that the token may not read',
    sight({ unread: ['Checks'] }),
    {},
    'check',
    /lacks the permission "Checks: read"/,
  ],
];

for (const [name, seen, with_, cause, note] of PERSON)
  test(`waits for a person: ${name}`, () => {
    const verdict = judge(seen, with_);
    assert.ok(verdict.kind === 'person', JSON.stringify(verdict));
    assert.equal(verdict.cause, cause);
    if (note === null) assert.equal(verdict.note, null);
    else assert.match(verdict.note ?? '', note);
  });

test('a red check goes back after a minute though others run, and at once with what else happened', () => {
  const checks = [check('failed'), check('pending', 'slow')];
  const soon = judge(sight({ checks, redMs: 20_000 }));
  assert.deepEqual(soon.kind === 'wait' && [soon.forTime, soon.againMs], [true, 40_000]);
  for (const seen of [
    sight({ checks, redMs: 60_000 }),
    sight({ checks, redMs: 5_000, comments: [{ id: 1, author: null, body: '/tool x' }] }),
  ]) {
    const verdict = judge(seen);
    assert.ok(verdict.kind === 'continue');
    assert.deepEqual(
      verdict.events.flatMap((event) => (event.kind === 'check' ? [event.check.name] : [])),
      ['build'],
    );
  }
});

test('checks that cannot be read hold back no failed one, and nothing else is called green', () => {
  assert.equal(judge(sight({ unread: ['Checks'], checks: [check('failed')] })).kind, 'continue');
  const all = sight({ unread: ['Checks', 'Commit statuses'], reviews: [review(1, 'approved')] });
  assert.notEqual(judge(all, { until: 'approved' }).kind, 'continue');
  const verdict = judge(all, { until: 'approved' });
  assert.ok(verdict.kind === 'person' && verdict.cause === 'check');
});

test('a thread without an answer is told once more, and a new word in it starts anew', () => {
  const again = judge(sight({ threads: [thread(5)] }), { follow: { handled: ['thread:5'], rounds: 1 } });
  assert.deepEqual(again.kind === 'continue' && keysOf(again.events), ['thread:5:again']);
  assert.equal(judge(sight({ threads: [thread(5)] }), { follow: { handled: ['thread:5'], rounds: 3 } }).kind, 'person');
  const follow = { handled: ['thread:5', 'thread:5:again'] };
  assert.equal(judge(sight({ threads: [thread(5)] }), { follow }).kind, 'person');
  for (const more of [{ isResolved: true }, { isAnswered: true }])
    assert.equal(judge(sight({ threads: [thread(6, more)] }), { follow }).kind, 'person');
  const verdict = judge(sight({ threads: [thread(6)] }), { follow });
  assert.deepEqual(verdict.kind === 'continue' && keysOf(verdict.events), ['thread:6']);
});

test('a review that begins with /tool speaks to the agent, whatever it says beside', () => {
  for (const verdict of ['commented', 'approved'] as const) {
    const asked = judge(sight({ reviews: [{ ...review(3, verdict), body: '/tool rename x' }] }), { until: 'approved' });
    assert.deepEqual(asked.kind === 'continue' && keysOf(asked.events), ['review:3']);
  }
  const twice = judge(sight({ reviews: [{ ...review(3, 'changes_requested'), body: '/tool x' }] }));
  assert.deepEqual(twice.kind === 'continue' && keysOf(twice.events), ['review:3']);
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

test('failures that were told of the same commit stop it, one that is new goes on, and a flapping one ends', () => {
  const [build, lint] = [check('failed'), check('failed', 'lint')];
  const first = judge(sight({ checks: [build] }));
  assert.ok(first.kind === 'continue');
  const kindOf = (failure: string | null, checks: readonly Check[], more = {}) =>
    judge(sight({ checks, ...more }), { follow: { failure, rounds: 1 } }).kind;
  assert.equal(kindOf(first.failure, [build]), 'stop');
  const second = judge(sight({ checks: [build, lint] }), { follow: { failure: first.failure, rounds: 1 } });
  assert.ok(second.kind === 'continue');
  for (const checks of [[lint, build], [build], [lint]]) assert.equal(kindOf(second.failure, checks), 'stop');
  // Green in between changes nothing.
  assert.equal(kindOf(first.failure, [check('passed')]), 'person');
  assert.equal(kindOf(first.failure, [build]), 'stop');
  const next = judge(sight({ checks: [build], head: 'next' }), {
    follow: { others: ['next'], tip: 'next', failure: second.failure },
  });
  assert.equal(next.kind, 'continue');
  assert.equal(
    kindOf(second.failure, [build], { comments: [{ id: 1, author: null, body: '/tool again' }] }),
    'continue',
  );
});

test('after the last round it stops, and names what is left', () => {
  const verdict = judge(sight({ checks: [check('failed')], conflicts: true }), { follow: { rounds: 3 } });
  assert.ok(verdict.kind === 'stop');
  assert.equal(verdict.why.values?.left, 'check build failed, it conflicts with its base');
});
