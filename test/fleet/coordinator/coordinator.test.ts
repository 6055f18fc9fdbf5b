// The fence of the coordinator: one worker for each attempt, and nothing from any other. What it asks another coordinator.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { AgentEvent, RunHooks } from '../../../src/agents/ports.ts';
import { refusal, textOf } from '../../../src/base/rules/codes.ts';
import { ToolError } from '../../../src/base/rules/errors.ts';
import { FIRST_PAGE, type Page } from '../../../src/daemon/view-page.ts';
import type { AttemptQueue } from '../../../src/fleet/coordinator/attempt-queue.ts';
import { Coordinator } from '../../../src/fleet/coordinator/coordinator.ts';
import { RemoteAttempt } from '../../../src/fleet/coordinator/remote-attempt.ts';
import { jobProof, orderProof, takeProof } from '../../../src/fleet/proofs.ts';
import { FLEET_CODES } from '../../../src/fleet/rules/fleet-codes.ts';
import { attemptId, type FleetJob } from '../../../src/fleet/rules/job.ts';
import type { Order, WorkCommits } from '../../../src/fleet/wire.ts';
import type { Evidence } from '../../../src/gate/rules/evidence.ts';
import { failsWith } from '../../support/codes.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { NO_ROWS, NOTHING_KEPT, openPair } from '../../support/fleet-coordinator.ts';
import { viewWith } from '../../support/view.ts';
import { evidenceOf } from '../../support/world.ts';

const KEY = 'a-key-of-sixteen-or-more';

const job = (attempt: number): FleetJob => ({
  ...{ coordinator: 'http://localhost:1', insecure: false, repository: 'h/o/r', issue: 1, life: 1, attempt, fence: 1 },
  ...{ labels: [], version: '1.0.0', lease_ms: 1_000 },
});

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof ToolError) return error.code;
    throw error;
  }
  return 'done';
}

function setUp() {
  const clock = new FakeClock();
  // No rule of the coordinator's asks the queue.
  const queue = {} as AttemptQueue;
  const settings = { queue, key: KEY, version: '1.0.0', leaseMs: 1_000, maxBundleBytes: 1, insecure: false };
  const coordinator = new Coordinator({ ...settings, address: () => '' });
  coordinator.keeps('h/o/r', NOTHING_KEPT);
  const events: AgentEvent[] = [];
  const adopted: WorkCommits[] = [];
  const evidence: Evidence[] = [];
  const hooks: RunHooks = {
    onStarted: async () => undefined,
    onEvent: (event) => events.push(event),
    output: () => undefined,
    nextTurn: async () => 'the next prompt',
    signal: new AbortController().signal,
  };
  const attempt = (number: number) =>
    new RemoteAttempt({
      ...{ job: job(number), order: {} as Order, bundle: '', hooks, handler: null, clock },
      adopt: async (_, work) => void adopted.push(work),
      onEvidence: async (one) => {
        await clock.settle();
        evidence.push(one);
      },
    });
  const take = (
    id: string,
    nonce = 'n',
    worker = 'w',
    change: { readonly key?: string; readonly version?: string } = {},
  ) => {
    const proof = takeProof(change.key ?? KEY, id, nonce, worker);
    return coordinator.take({ id, nonce, worker, version: change.version ?? '1.0.0', proof });
  };
  return { clock, coordinator, attempt, take, events, adopted, evidence };
}

test('a worker gets an attempt with the key and the version, once; a repetition gets the same answer', () => {
  const { coordinator, attempt, take } = setUp();
  const one = attempt(1);
  coordinator.add(one);
  assert.equal(
    codeOf(() => take(one.id, 'n', 'w', { key: 'another-key-of-sixteen' })),
    'fleet_key_wrong',
  );
  assert.equal(
    codeOf(() => take(one.id, 'n', 'w', { version: '0.9.0' })),
    'worker_version_wrong',
  );
  assert.equal(one.worker, null);
  const { token } = take(one.id);
  assert.equal(take(one.id).token, token);
  assert.equal(
    codeOf(() => take(one.id, 'other', 'v')),
    'attempt_taken',
  );
  assert.equal(one.worker, 'w');
});

test('nothing counts of an attempt that is lost or over, nor of another token', async () => {
  const { coordinator, attempt, take, adopted } = setUp();
  const [one, two] = [attempt(1), attempt(2)];
  coordinator.add(one);
  const old = take(one.id).token;
  assert.equal(
    codeOf(() => coordinator.admit(one.id, old)),
    'done',
  );
  await one.lose();
  assert.deepEqual(await one.ended.then((end) => !end.ok && end.cutOff), { kind: 'lost', worker: 'w' });
  assert.equal(
    codeOf(() => coordinator.admit(one.id, old)),
    'attempt_superseded',
  );
  await assert.rejects(one.work(null, { head: 'a', files: null }), /not the one at work/);
  coordinator.remove(one);
  coordinator.add(two);
  assert.equal(
    codeOf(() => coordinator.admit(one.id, old)),
    'attempt_superseded',
  );
  assert.equal(
    codeOf(() => coordinator.admit(two.id, old)),
    'attempt_superseded',
  );
  assert.equal(
    codeOf(() => take(one.id)),
    'attempt_superseded',
  );
  assert.deepEqual(adopted, []);
});

test('an end that was taken is known when it is reported again; its evidence is written down before', async () => {
  const { coordinator, attempt, take, evidence } = setUp();
  const one = attempt(1);
  coordinator.add(one);
  const { token } = take(one.id);
  assert.equal(coordinator.hasEnded(one.id, token), false);
  const written = one.ended.then(() => evidence.map(({ commit }) => commit));
  await one.end({ end: { ok: true, words: 'well' }, returned: false, evidence: evidenceOf('sha') });
  coordinator.remove(one);
  assert.deepEqual(await one.ended, { ok: true, words: 'well' });
  assert.deepEqual(await written, ['sha']);
  assert.equal(coordinator.hasEnded(one.id, token), true);
  assert.equal(coordinator.hasEnded(one.id, 'other'), false);
});

test('a worker that hands its work back ends the attempt without fault', async () => {
  const { coordinator, attempt, take } = setUp();
  const one = attempt(1);
  coordinator.add(one);
  take(one.id);
  const end = { ok: false, words: 'ended', fault: 'agent', resumable: true } as const;
  await one.end({ end, returned: true, evidence: null });
  assert.deepEqual(await one.ended.then((ended) => !ended.ok && ended.cutOff), { kind: 'returned', worker: 'w' });
});

test('a call that comes again is made once, and a stop is told with the next beat', async () => {
  const { coordinator, attempt, take, events, clock } = setUp();
  const one = attempt(1);
  coordinator.add(one);
  const { token } = take(one.id);
  let made = 0;
  const call = () => one.once('ask', 'call', async () => ++made);
  assert.deepEqual(await Promise.all([call(), call()]), [1, 1]);
  const beat = { events: [{ type: 'activity', name: 'x' } as const], output: '', heard: [], wants: false };
  assert.deepEqual(one.beat(beat), { stop: false, words: null });
  assert.deepEqual(events.at(-1), { type: 'activity', name: 'x' });
  assert.deepEqual(await one.turn(), { prompt: 'the next prompt' });
  one.stop();
  assert.equal(one.beat(beat).stop, true);
  assert.deepEqual(await one.turn(), { prompt: null });
  clock.stop(700);
  assert.equal(one.silentMs, 700);
  coordinator.admit(one.id, token);
  assert.equal(one.silentMs, 0);
});

test('signs of life of several attempts say which are to end, and which are over', async () => {
  const { coordinator, attempt, take, clock } = setUp();
  const [one, two, lost] = [attempt(1), attempt(2), attempt(3)];
  for (const each of [one, two, lost]) coordinator.add(each);
  const signs = [one, two, lost].map(({ id }) => ({ id, token: take(id).token }));
  two.stop();
  await lost.lose();
  clock.stop(700);
  assert.deepEqual(coordinator.hear([...signs, { id: one.id, token: 'another' }]), {
    ...{ stop: [two.id], over: [lost.id, one.id] },
  });
  assert.deepEqual([one.silentMs, two.silentMs, lost.silentMs], [0, 0, 700]);
});

test('of a repository that is not open here, or not yet, no attempt is over', async () => {
  const { coordinator } = setUp();
  for (const [repository, code] of [
    ['h/o/r', FLEET_CODES.attempt_superseded],
    ['h/o/r_1', FLEET_CODES.attempt_not_begun],
    ['h/o/other', FLEET_CODES.attempt_not_begun],
  ] as const) {
    const id = attemptId({ repository, issue: 1, life: 1, attempt: 1, fence: 1 });
    await failsWith(() => coordinator.admit(id, 'a token'), code);
    const over = code === FLEET_CODES.attempt_superseded ? [id] : [];
    assert.deepEqual(coordinator.hear([{ id, token: 'a token' }]), { stop: [], over });
  }
});

test('a worker has one bundle on its way: a later one ends it, and the end of the attempt ends both', async () => {
  const one = setUp().attempt(1);
  const [first, second] = [one.receive(), one.receive()];
  assert.deepEqual([first.aborted, second.aborted], [true, false]);
  await one.lose();
  assert.deepEqual([second.aborted, one.receive().aborted], [true, true]);
});

test('a call without an answer yet is never made twice, however many beats and calls came since', async () => {
  const one = setUp().attempt(1);
  let made = 0;
  let resolve: (answer: string) => void = () => undefined;
  const promise = new Promise<string>((settle) => {
    resolve = settle;
  });
  const slow = () =>
    one.once('ask', 'slow', () => {
      made += 1;
      return promise;
    });
  const first = slow();
  await one.once('turn', 'early', async () => 'early');
  for (let number = 0; number < 500; number++) await one.once('beat', `${number}`, async () => number);
  assert.equal(await one.once('turn', 'early', async () => 'again'), 'early');
  // The last beat alone is answered as before.
  assert.equal(await one.once('beat', '499', async () => -1), 499);
  assert.equal(await one.once('beat', '0', async () => -1), -1);
  for (let number = 0; number < 500; number++) await one.once('ask', `${number}`, async () => number);
  assert.equal(await one.once('turn', 'early', async () => 'again'), 'again');
  const second = slow();
  resolve('answer');
  assert.deepEqual(await Promise.all([first, second]), ['answer', 'answer']);
  assert.equal(made, 1);
});

test('a proof is of all that it names', () => {
  const changes = [
    { coordinator: 'http://evil' },
    { insecure: true },
    { labels: ['a'] },
    { lease_ms: 2 },
    { attempt: 9 },
  ];
  const proofs = [job(1), ...changes.map((change) => ({ ...job(1), ...change }))].map((one) => jobProof(KEY, one));
  assert.equal(new Set(proofs).size, proofs.length);
  assert.notEqual(orderProof(KEY, 'id', 'n', 'a'), orderProof(KEY, 'id', 'n', 'b'));
  assert.notEqual(takeProof(KEY, 'a', 'bc', 'd'), takeProof(KEY, 'ab', 'c', 'd'));
});

const BEHIND: Page = { limit: 7, after: { list: 'completed', place: [5, 1] } };

test('another coordinator is asked below the path of its address, for pages as for all else', async (t) => {
  const { front, others, world } = await openPair(t);
  assert.equal(await (await fetch(`${front}/issues/1?a=b`)).text(), 'the page /issues/1?a=b');
  await others.steer('pause', 1, 'h/o/b');
  assert.deepEqual(world.orders, ['pause h/o/b#1']);
});

test('a page behind the first one is the one that was asked for, or none', async (t) => {
  const { asked, changed, clock, others, world } = await openPair(t);
  const slots = async (page: Page) => (await others.read(page)).views.map(({ view }) => view.slots);
  assert.deepEqual([await slots(FIRST_PAGE), await slots(BEHIND)], [[100], [7]]);

  t.mock.timers.enable({ apis: ['setTimeout'] });
  let release: () => void = () => undefined;
  world.held.push(new Promise<void>((resolve) => (release = resolve)));
  const coming = asked();
  const late = slots(BEHIND);
  await coming;
  t.mock.timers.tick(1_500);
  // Another look ends, which sees something new.
  world.view = (limit) => ({ view: viewWith({ ...NO_ROWS, slots: limit + 1 }), places: NO_ROWS });
  const looked = changed();
  await clock.pass(2_000);
  await looked;
  release();
  assert.deepEqual(await late, [8]);

  world.isSilent = true;
  const { rows, repositories, views } = await others.read(BEHIND);
  assert.deepEqual([repositories, views, rows.length], [[], [], 1]);
  assert.notEqual(rows[0]?.problem, null);
  assert.deepEqual(await slots(FIRST_PAGE), [101], 'the next look says that it is gone');
  assert.equal(others.shown().rows[0]?.problem, null);
  assert.deepEqual(await slots({ limit: 20, after: null }), [101], 'its first rows are among those that are known');
});

test('an order reaches a coordinator that was started anew, and is repeated for no other', async (t) => {
  const { others, restart, world } = await openPair(t);
  await others.steer('pause', 1, 'h/o/b');
  restart();
  await others.steer('resume', 1, 'h/o/b');
  restart();
  await others.tell(1, 'in French', 'h/o/b');
  assert.deepEqual(world.orders, ['pause h/o/b#1', 'resume h/o/b#1', 'tell #1 in French']);
  world.losesAnswers = true;
  await failsWith(others.steer('pause', 2, 'h/o/b'), FLEET_CODES.coordinator_unasked);
  assert.equal(world.orders.length, 4, 'it was carried out there');
});

test('a view of another shape is a problem of its coordinator', async (t) => {
  const { changed, clock, others, world } = await openPair(t);
  world.view = () => ({ view: { ...viewWith(), more: undefined }, places: NO_ROWS });
  const looked = changed();
  await clock.pass(15_000);
  await looked;
  const { rows, views } = others.shown();
  assert.deepEqual(
    [rows[0]?.problem, views],
    [textOf(refusal(FLEET_CODES.coordinator_answer_unread, { status: 200 })), []],
  );
});

test('a coordinator with a token shows nothing on one without', async (t) => {
  const open = await openPair(t, { needsToken: true, hasToken: false });
  const { rows, views } = open.others.shown();
  assert.deepEqual([rows[0]?.problem, views], [textOf(refusal(FLEET_CODES.coordinator_token_missing, {})), []]);
  const page = await fetch(`${open.front}/issues/1`);
  assert.deepEqual([page.status, await page.text()], [503, FLEET_CODES.coordinator_unasked.code]);
  const why = { said: rows[0]?.problem ?? '' };
  await failsWith(open.others.steer('pause', 1, 'h/o/b'), FLEET_CODES.coordinator_unasked, why);
  const both = await openPair(t, { needsToken: true });
  assert.equal(both.others.shown().rows[0]?.problem, null);
  assert.equal((await fetch(`${both.front}/issues/1`)).status, 200);
});
