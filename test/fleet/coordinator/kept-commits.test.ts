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
  const state = stateOf([CLAIMED, attempt(1), ended('publish')]);
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
  const entry = state.entries.get(1) ?? assert.fail();
  const waits: number[] = [];
  const bring = (head: string | null) => kept.bring(entry, head, NEVER, async (ms) => void waits.push(ms));
  return {
    ...{ clock, kept, done, waits, bring },
    own: () => {
      isElsewhere = false;
    },
  };
}

test('a commit that a worker brings is taken into a new workspace; what nobody waits for is not asked for', async (t) => {
  const { clock, kept, done, bring } = setUp(t);
  assert.deepEqual(kept.fates([OFFERED]), { forget: [], bring: [] });
  const brought = bring(HEAD);
  await clock.settle();
  assert.deepEqual(kept.fates([{ ...OFFERED, head: 'c'.repeat(40) }]).bring, []);
  const [wanted] = kept.fates([OFFERED]).bring;
  const token = wanted?.token ?? assert.fail();
  for (const [id, shown] of [
    ['an-id', 'another'],
    ['another', token],
  ] as const) {
    assert.equal(kept.admits(id, shown), false);
    await assert.rejects(kept.take(id, shown, ''), /not the one at work/);
  }
  assert.equal(kept.admits('an-id', token), true);
  await kept.take('an-id', token, '');
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
  const token = kept.fates([OFFERED]).bring[0]?.token ?? assert.fail();
  await assert.rejects(kept.take('an-id', token, ''), /not what it says/);
  assert.deepEqual(waits, [90_000]);
  await clock.pass(90_000);
  assert.equal(await brought, false);
});

test('work of an attempt that this machine began is here; that of another is taken by its number, whatever its commit', async (t) => {
  const { clock, kept, bring, own } = setUp(t);
  const brought = bring(null);
  await clock.settle();
  assert.deepEqual(kept.fates([{ ...OFFERED, attempt: 2 }]).bring, []);
  const token = kept.fates([{ ...OFFERED, head: 'c'.repeat(40) }]).bring[0]?.token ?? assert.fail();
  await kept.take('an-id', token, '');
  assert.equal(await brought, true);
  own();
  assert.equal(await bring(null), true);
});
