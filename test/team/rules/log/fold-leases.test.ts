import assert from 'node:assert/strict';
import test from 'node:test';
import { LOG_CODES } from '../../../../src/team/rules/codes/log-codes.ts';
import { WRITES_CODES } from '../../../../src/team/rules/codes/writes-codes.ts';
import { LEAD, type Story, TRUST5, teamOf, why } from '../../../support/team.ts';

const TWO = ['backend-dev', 'tester'];

test('a lease keeps others away until it ends, is given back or its holder is gone', () => {
  const story = teamOf(TWO);
  const until = story.at + 100;
  const take = (by: string, end = until) => ({ by, until: end, epoch: by === LEAD ? 0 : 1 });
  story.tell('lease_taken', take('tester'));
  assert.deepEqual(story.state.leases.get('package.json'), {
    path: 'package.json',
    member: 'tester',
    epoch: 1,
    takenAt: story.at,
    until,
    reason: 'a dependency',
  });
  const held = why(WRITES_CODES.lease_held, { path: 'package.json', holder: 'tester', until });
  story.refuse(held, 'lease_taken', take('backend-dev')).refuse(held, 'lease_taken', take(LEAD));
  story
    .tell('lease_taken', take('tester', until + 50))
    .later(149)
    .refuse(why(WRITES_CODES.lease_held), 'lease_taken', take(LEAD, until + 900));
  story.later(1).tell('lease_taken', take('backend-dev', until + 900));
  story
    .refuse(why(WRITES_CODES.lease_held, { holder: 'backend-dev' }), 'lease_released')
    .tell('lease_released', { by: 'backend-dev' });
  story.refuse(why(WRITES_CODES.lease_missing), 'lease_released', { by: 'backend-dev' });
  story.tell('lease_taken', take('tester', until + 900)).tell('member_ended', { name: 'tester' });
  story.tell('lease_taken', take(LEAD, until + 900));
});

test('other paths are free', () => {
  teamOf(TWO).tell('lease_taken').tell('lease_taken', { by: 'backend-dev', path: 'README.md' });
});

test('who is nobody takes no lease and gives none back; nor does a former run', () => {
  const story = teamOf(TWO).refuse(why(LOG_CODES.member_unknown, { member: 'designer' }), 'lease_taken', {
    by: 'designer',
  });
  story.tell('lease_taken').tell('member_idle', { name: 'tester', stopped: true }).join('tester');
  story
    .tell('lease_taken', { epoch: 2 })
    .refuse(why(LOG_CODES.member_run_over, { run: 1, latest: 2 }), 'lease_released', { epoch: 1 });
  story.tell('lease_released', { epoch: 2 });
});

test('a lease that has ended is given back by nobody, and none begins at its end', () => {
  const story = teamOf(TWO)
    .tell('lease_taken', { until: 1_000_001 })
    .later(1)
    .refuse(why(WRITES_CODES.lease_missing), 'lease_released');
  story.refuse(why(LOG_CODES.record_not_valid, { type: 'lease_taken' }), 'lease_taken', { until: story.at });
});

type Judged = readonly [Parameters<Story['tell']>[1], string];

test('rejections of completions are counted for each task, and all of them as well', () => {
  const story = teamOf(TWO);
  const tell = (about: string, fingerprint: string, decision: 'reject' | 'accept' = 'reject') =>
    story.tell('decision', { hook: 'task_completed', about, fingerprint, decision });
  tell('task 1', 'a');
  tell('task 2', 'b');
  tell('task 1', 'a');
  tell('task 1', 'c');
  tell('task 2', '', 'accept');
  assert.deepEqual(
    [...story.state.rejections],
    [['task_completed:backend-dev:task 1', { fingerprint: 'c', count: 1, total: 3 }]],
  );
});

test('rejections of the same work in a row are counted; change, or a word of another kind, begins anew', () => {
  const steps: readonly Judged[] = [
    [{}, 'tree-1 1'],
    [{}, 'tree-1 2'],
    [{ hook: 'TeammateIdle', fingerprint: 'x' }, 'tree-1 2'],
    [{ member: 'tester' }, 'tree-1 2'],
    [{ fingerprint: 'tree-2' }, 'tree-2 1'],
    [{ fingerprint: 'tree-2' }, 'tree-2 2'],
    [{ fingerprint: '', decision: 'accept' }, 'none'],
    [{ fingerprint: 'tree-2' }, 'tree-2 1'],
    [{ fingerprint: 'tree-2', decision: 'escalated' }, 'tree-2 2'],
    [{ fingerprint: 'tree-2', decision: 'accept' }, 'tree-2 2'],
    [{ fingerprint: '', decision: 'accept' }, 'none'],
    [{}, 'tree-1 1'],
    [{ fingerprint: 'tree-2', decision: 'escalated' }, 'none'],
    [{}, 'tree-1 1'],
    [{ decision: 'failed' }, 'none'],
    [{ fingerprint: '' }, ' 1'],
    [{ fingerprint: '', decision: 'accept' }, 'none'],
  ];
  const story = teamOf(TWO);
  for (const [decision, count] of steps) {
    story.tell('decision', decision);
    const found = story.state.rejections.get('TaskCompleted:backend-dev');
    assert.equal(found === undefined ? 'none' : `${found.fingerprint} ${found.count}`, count, JSON.stringify(decision));
  }
  assert.equal(story.state.rejections.get('TeammateIdle:backend-dev')?.count, 1);
  assert.equal(story.state.rejections.get('TaskCompleted:tester')?.count, 1);
  assert.equal(story.state.decisions.length, steps.length);
});

test('the last 200 decisions are in the state', () => {
  const story = teamOf(TWO);
  for (let count = 1; count <= 203; count++) story.tell('decision', { about: `task ${count}`, member: null });
  assert.equal(story.state.decisions.length, 200);
  assert.deepEqual([story.state.decisions[0]?.about, story.state.decisions[199]?.about], ['task 4', 'task 203']);
});

test('who was let write a path is known, each once; who was refused is not', () => {
  const story = teamOf(TWO);
  const wrote = (member: string | null, decision: 'accept' | 'reject', ...paths: string[]) =>
    story.tell('decision', { hook: 'guard', member, decision, paths });
  wrote('backend-dev', 'accept', 'a', 'b');
  wrote('tester', 'accept', 'b');
  wrote('tester', 'accept', 'b');
  wrote('tester', 'reject', 'c');
  wrote(null, 'accept', 'd');
  assert.deepEqual(Object.fromEntries(story.state.writers), { a: ['backend-dev'], b: ['backend-dev', 'tester'] });
});

test('who writes is at work; another judgement leaves it as idle as it was', () => {
  const story = teamOf(['backend-dev']).tell('member_idle').later(5).tell('decision', { hook: 'TeammateIdle' });
  assert.deepEqual([story.member('backend-dev').phase, story.member('backend-dev').seenAt], ['idle', story.at]);
  story.later(5).tell('decision', { hook: 'guard', decision: 'accept', paths: ['a'] });
  assert.deepEqual([story.member('backend-dev').phase, story.member('backend-dev').seenAt], ['working', story.at]);
});

test('a judgement of a spawn is no sign of life, and one of somebody unknown changes nobody', () => {
  const story = teamOf([]).tell('member_registered').later(5).tell('decision', { hook: 'spawn', decision: 'accept' });
  assert.equal(story.member('backend-dev').seenAt, story.member('backend-dev').registeredAt);
  story.tell('decision', { member: 'stranger', paths: ['a'], decision: 'accept' });
  assert.deepEqual(story.members, ['backend-dev#1 registered']);
});

test('what the gate measured last is known', () => {
  const story = teamOf(TWO)
    .tell('gate_measured')
    .later(1)
    .tell('gate_measured', { ok: false, tree: 'tree-2', coverage: null });
  const { at, tree, ok, coverage, task } = story.state.gate ?? assert.fail('no gate');
  assert.deepEqual([at, tree, ok, coverage, task], [story.at, 'tree-2', false, null, '1']);
});

test('scores stay while checks alone measure the same tree, and go with another one', () => {
  const scores = (story: Story) => story.state.gate?.trust5?.score;
  const story = teamOf(['tester']).tell('gate_measured');
  assert.equal(scores(story), undefined);
  assert.equal(scores(story.tell('gate_measured', { trust5: TRUST5 })), 4);
  assert.equal(scores(story.tell('gate_measured')), 4);
  assert.equal(scores(story.tell('gate_measured', { trust5: { ...TRUST5, score: 4.5 } })), 4.5);
  assert.equal(scores(story.tell('gate_measured', { tree: 'tree-2' })), undefined);
});

test('how often in a row the work of all was not found good', () => {
  const story = teamOf(['tester']);
  const after = (more: object) => story.tell('gate_measured', { task: null, ...more }).state.gate?.rejected;
  assert.equal(after({ ok: false }), 1);
  assert.equal(after({ ok: false, task: '1' }), 1);
  assert.equal(after({ ok: true, task: '1' }), 1);
  assert.equal(after({ ok: false }), 2);
  assert.equal(after({ ok: true }), undefined);
});
