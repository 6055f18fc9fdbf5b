// Commits that a coordinator lacks: it waits for a worker that kept them, takes no others, and says what nobody needs any more.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Stored } from '../../../src/base/rules/stored-record.ts';
import { fold } from '../../../src/daemon/rules/fold.ts';
import type { JournalRecord } from '../../../src/daemon/rules/record.ts';
import { type DaemonState, EMPTY_STATE } from '../../../src/daemon/rules/state.ts';
import { KeptCommits } from '../../../src/fleet/coordinator/kept-commits.ts';
import type { KeptIdentity } from '../../../src/fleet/rules/kept-fate.ts';
import { isSettled } from '../../../src/fleet/rules/kept-fate.ts';
import type { Kept } from '../../../src/fleet/wire.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { tempDir } from '../../support/temp.ts';

const HEAD = 'a'.repeat(40);
const NEVER = new AbortController().signal;
const USAGE = { input_tokens: 0, output_tokens: 0, cost_usd: 0, turns: 0, seconds: 0 };

const CLAIMED: JournalRecord = {
  ...{ type: 'claimed', issue: 1, title: '', url: '', life: 1, branch: 'tool/issue-1', state_labels: [] },
  label_event: null,
};

function attempt(number: number): JournalRecord {
  return { type: 'attempt_started', issue: 1, attempt: number, run: 'r', runtime: 'command', workspace: '/w' };
}

function ended(next: 'publish' | 'retry'): JournalRecord {
  const outcome = next === 'publish' ? 'succeeded' : 'interrupted';
  const head = next === 'publish' ? HEAD : null;
  return { type: 'attempt_ended', issue: 1, outcome, reason: '', usage: USAGE, head, next, retry_at: 0 };
}

const PUSHED: JournalRecord = {
  ...{ type: 'effect_finished', issue: 1, effect: 'push', key: `push:${HEAD}`, result: { sha: HEAD } },
};
const FINISHED: JournalRecord = { type: 'finished', issue: 1, outcome: 'done', updated_at: '' };

function stateOf(records: readonly JournalRecord[]): DaemonState {
  return records.reduce<DaemonState>((state, record, index) => {
    const stored: Stored<JournalRecord> = { ...record, v: 1, id: String(index), at: index };
    return fold(state, stored);
  }, EMPTY_STATE);
}

const PUSHED_HEAD = 'e'.repeat(40);
const RECEIVED = async () => undefined;
const FILES = 'f'.repeat(40);
const FOLLOWED: JournalRecord = { type: 'following', issue: 1, updated_at: '' };
/** A pull request, and what happened on it goes to the agent. */
const ROUND: readonly JournalRecord[] = [
  ...[CLAIMED, attempt(1), ended('publish'), PUSHED, FOLLOWED],
  { type: 'continued', issue: 1, reason: '', told: '', handled: [], failure: null, reviewers: [] },
];

const OFFERED: Kept = {
  ...{ id: 'an-id', issue: 1, life: 1, attempt: 1, head: HEAD, files: null, base: 'b'.repeat(40), handed: true },
};

test('kept work is settled once it is published, superseded or its issue is over, and never by a journal that knows nothing', () => {
  const cases: readonly (readonly [readonly JournalRecord[], Partial<KeptIdentity>, boolean])[] = [
    [[], {}, false],
    [[CLAIMED, attempt(1)], {}, false],
    [[CLAIMED, attempt(1), ended('publish')], {}, false],
    [[CLAIMED, attempt(1), ended('publish'), PUSHED], {}, true],
    [[CLAIMED, attempt(1), ended('publish'), PUSHED], { head: 'c'.repeat(40) }, false],
    [[CLAIMED, attempt(1), ended('publish'), PUSHED, FINISHED], { head: 'c'.repeat(40) }, true],
    [[CLAIMED, attempt(1), ended('publish'), PUSHED, FINISHED], { life: 2 }, false],
    [[CLAIMED, attempt(1), ended('retry'), attempt(2)], {}, false],
    [[CLAIMED, attempt(1), ended('retry'), attempt(2), ended('publish')], {}, true],
    // In no later attempt.
    [[CLAIMED, attempt(1), ended('retry'), attempt(2), ended('publish')], { handed: false }, false],
    // The files of a round that was lost, on top of what was pushed before it.
    [[...ROUND, attempt(2), ended('retry')], { attempt: 2, files: FILES, handed: false }, false],
    [[...ROUND, attempt(2), ended('retry')], { attempt: 2, handed: false }, true],
    [[...ROUND, attempt(2), ended('publish'), FOLLOWED], { attempt: 2, files: FILES, handed: false }, false],
    [[...ROUND, attempt(2), ended('publish'), FOLLOWED], { attempt: 2, files: FILES }, true],
  ];
  for (const [records, change, expected] of cases)
    assert.equal(isSettled(stateOf(records), { ...OFFERED, ...change }), expected, JSON.stringify([records, change]));
});

function setUp(t: Parameters<typeof tempDir>[0], adopts: () => Promise<void> = async () => undefined) {
  const clock = new FakeClock();
  const finished = [CLAIMED, attempt(1), ended('publish')];
  const pushed = { ...PUSHED, result: { sha: PUSHED_HEAD } };
  const state = stateOf([...finished, ...[...finished, pushed].map((record) => ({ ...record, issue: 2 }))]);
  const done: string[] = [];
  let isElsewhere = true;
  const kept = new KeptCommits({
    carrier: {
      has: async () => false,
      adopt: async (task, _, work) => {
        done.push(`adopt ${task.issue} ${work.head}`);
        await adopts();
      },
    },
    mirror: { refresh: async () => void done.push('refresh') },
    workspaces: {
      prepare: async () => ({ path: '', created: true }),
      afterCreate: async () => void done.push('clone'),
      complete: async () => void done.push('complete'),
    },
    ...{ state: () => state, wasElsewhere: () => isElsewhere, directory: tempDir(t), maxBundleBytes: 1 },
    ...{ leaseMs: 30_000, clock, log: { log: () => undefined } },
  });
  const waits: number[] = [];
  const bring = (head: string | null, issue = 1) =>
    kept.bring(state.entries.get(issue) ?? assert.fail(), head, NEVER, async (ms) => void waits.push(ms));
  return {
    ...{ clock, kept, done, waits, bring },
    own: () => {
      isElsewhere = false;
    },
  };
}

test('a commit that a worker brings is taken into a new workspace; what nobody waits for is not asked for', async (t) => {
  const { clock, kept, done, bring } = setUp(t);
  assert.deepEqual(kept.fates([OFFERED], 'w'), { forget: [], bring: [] });
  const brought = bring(HEAD);
  await clock.settle();
  assert.deepEqual(kept.fates([{ ...OFFERED, head: 'c'.repeat(40) }], 'w').bring, []);
  const [wanted] = kept.fates([OFFERED], 'w').bring;
  const token = wanted?.token ?? assert.fail();
  for (const [id, shown] of [
    ['an-id', 'another'],
    ['another', token],
  ] as const) {
    assert.equal(kept.admits(id, shown), false);
    await assert.rejects(kept.take(id, shown, RECEIVED), /not the one at work/);
  }
  assert.equal(kept.admits('an-id', token), true);
  await kept.take('an-id', token, RECEIVED);
  assert.equal(await brought, true);
  assert.deepEqual(done, ['refresh', 'clone', 'complete', `adopt 1 ${HEAD}`]);
  assert.equal(kept.admits('an-id', token), false);
});

test('it waits a bounded time; a bundle that is refused ends no wait', async (t) => {
  const { clock, kept, waits, bring } = setUp(t, async () => {
    throw new Error('it is not what it says');
  });
  const brought = bring(HEAD);
  await clock.settle();
  const token = kept.fates([OFFERED], 'w').bring[0]?.token ?? assert.fail();
  await assert.rejects(kept.take('an-id', token, RECEIVED), /not what it says/);
  assert.deepEqual(waits, [90_000]);
  await clock.pass(90_000);
  assert.equal(await brought, false);
});

test('work of an attempt that this machine began is here; that of another is taken by its number, whatever its commit', async (t) => {
  const { clock, kept, bring, own } = setUp(t);
  const brought = bring(null);
  await clock.settle();
  assert.deepEqual(kept.fates([{ ...OFFERED, attempt: 2 }], 'w').bring, []);
  const token = kept.fates([{ ...OFFERED, head: 'c'.repeat(40) }], 'w').bring[0]?.token ?? assert.fail();
  await kept.take('an-id', token, RECEIVED);
  assert.equal(await brought, true);
  own();
  assert.equal(await bring(null), true);
});

/** A bundle that arrives, or is cut off, when it is told to. */
function slowBundle() {
  const cut = new AbortController();
  let end: () => void = () => undefined;
  const whole = new Promise<void>((resolve, reject) => {
    end = resolve;
    cut.signal.addEventListener('abort', () => reject(new Error('cut')));
  });
  whole.catch(() => undefined);
  return { receive: () => whole, end: () => end(), cut: () => cut.abort() };
}

test('a bundle that is still arriving when the wait ends is taken', async (t) => {
  const { clock, kept, done, bring } = setUp(t);
  const brought = bring(HEAD);
  await clock.settle();
  const token = kept.fates([OFFERED], 'w').bring[0]?.token ?? assert.fail();
  const slow = slowBundle();
  const taken = kept.take('an-id', token, slow.receive);
  await clock.pass(300_000);
  assert.equal(kept.admits('an-id', token), true);
  slow.end();
  await taken;
  assert.equal(await brought, true);
  assert.equal(done.at(-1), `adopt 1 ${HEAD}`);
});

test('work waits while its worker, or any where nobody offered it, brings another bundle; one that fails again and again holds up nothing', async (t) => {
  const { clock, kept, bring } = setUp(t);
  const other: Kept = { ...OFFERED, id: 'other', issue: 2 };
  const [first, second] = [bring(HEAD), bring(HEAD, 2)];
  await clock.settle();
  const tokens = new Map(kept.fates([OFFERED, other], 'w').bring.map(({ id, token }) => [id, token]));
  const tokenOf = (id: string) => tokens.get(id) ?? assert.fail();
  const slow = slowBundle();
  const taken = kept.take('other', tokenOf('other'), slow.receive);
  await clock.pass(200_000);
  slow.end();
  await taken;
  assert.equal(await second, true);
  await clock.pass(10_000);
  await kept.take('an-id', tokenOf('an-id'), RECEIVED);
  assert.equal(await first, true);

  // Nobody has offered it: each try of the other's fails.
  const [unheard, failing] = [bring('d'.repeat(40)), bring(HEAD, 2)];
  await clock.settle();
  const token = kept.fates([other], 'w').bring[0]?.token ?? assert.fail();
  let isOver = false;
  void unheard.then(() => {
    isOver = true;
  });
  for (const seconds of [85, 10]) {
    const cut = slowBundle();
    const refused = assert.rejects(kept.take('other', token, cut.receive), /cut/);
    await clock.pass(seconds * 1_000);
    assert.equal(isOver, false, `after ${seconds} s more`);
    cut.cut();
    await refused;
    await clock.settle();
  }
  await clock.pass(10_000);
  assert.equal(await unheard, false);
  assert.equal(await failing, false);
});

test('what is to be brought is not removed; the offer of a second worker does not stop the upload of the first', async (t) => {
  const { clock, kept, bring } = setUp(t);
  // A later life of the issue: nobody would need it.
  const old: Kept = { ...OFFERED, life: 0 };
  assert.deepEqual(kept.fates([old], 'w').forget, ['an-id']);
  const brought = bring(HEAD);
  await clock.settle();
  const fates = kept.fates([old], 'w');
  assert.deepEqual([fates.forget, fates.bring.map(({ id }) => id)], [[], ['an-id']]);
  const token = fates.bring[0]?.token ?? assert.fail();
  const slow = slowBundle();
  const taken = kept.take('an-id', token, slow.receive);
  const another = kept.fates([{ ...OFFERED, id: 'another' }], 'w2').bring;
  assert.deepEqual(another, [{ id: 'another', token }]);
  assert.equal(kept.admits('an-id', token), true);
  const second = slowBundle();
  const late = kept.take('another', token, second.receive);
  await clock.settle();
  slow.end();
  await taken;
  assert.equal(await brought, true);
  second.end();
  await late;
});

test('work that is published is not waited for, and an attempt is asked for once', async (t) => {
  const { clock, kept, waits, bring } = setUp(t);
  const lost = bring(null);
  await clock.settle();
  await clock.pass(90_000);
  assert.equal(await lost, false);
  assert.equal(await bring(null), true);
  assert.deepEqual(waits, [90_000]);
  const settled = bring(null, 2);
  await clock.settle();
  const published: Kept = { ...OFFERED, issue: 2, head: PUSHED_HEAD };
  assert.deepEqual(kept.fates([published], 'w'), { forget: ['an-id'], bring: [] });
  assert.equal(await settled, true);
});
