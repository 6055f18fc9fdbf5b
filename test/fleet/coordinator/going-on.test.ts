// An agent at work whose coordinator is gone: the next coordinator gives the attempt that follows to its worker, and to no other.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { AgentEvent, RunHooks } from '../../../src/agents/ports.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { Code } from '../../../src/base/rules/codes.ts';
import type { Stored } from '../../../src/base/rules/stored-record.ts';
import type { AgentRequestHandler, RequestPlace } from '../../../src/daemon/ports.ts';
import { fold } from '../../../src/daemon/rules/fold.ts';
import type { JournalRecord } from '../../../src/daemon/rules/record.ts';
import { type DaemonState, EMPTY_STATE, spentOf } from '../../../src/daemon/rules/state.ts';
import { Coordinator } from '../../../src/fleet/coordinator/coordinator.ts';
import { KeptCommits } from '../../../src/fleet/coordinator/kept-commits.ts';
import { goOnProof } from '../../../src/fleet/proofs.ts';
import { FLEET_CODES } from '../../../src/fleet/rules/fleet-codes.ts';
import type { GoOnRequest } from '../../../src/fleet/wire.ts';
import { Moved } from '../../../src/fleet/worker/coordinator-answers.ts';
import { CoordinatorClient } from '../../../src/fleet/worker/coordinator-client.ts';
import { failsWith } from '../../support/codes.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { attemptOf, jobAt, openCoordinator, SHARED_KEY, signed } from '../../support/fleet-coordinator.ts';
import { type Cleanup, finallyDo, tempDir } from '../../support/temp.ts';

const BASE = 'b'.repeat(40);
const LEASE_MS = 30_000;
const NEVER = new AbortController().signal;
const NOTHING = { input_tokens: 0, output_tokens: 0, cost_usd: 0, turns: 0 };
const USED = { input_tokens: 10, output_tokens: 20, cost_usd: 0.5, turns: 1 };

const CLAIMED: JournalRecord = {
  ...{ type: 'claimed', issue: 1, title: '', url: '', life: 1, branch: 'tool/issue-1', state_labels: [] },
  label_event: null,
};
const STARTED = {
  ...{ type: 'attempt_started', issue: 1, attempt: 1, run: 'r', runtime: 'command', workspace: '/w' },
} satisfies JournalRecord;
const BEGUN = {
  ...{ type: 'effect_finished', issue: 1, effect: 'agent', key: 'agent:1', result: { pid: 7 } },
} satisfies JournalRecord;
const NOTED: JournalRecord = { type: 'usage', issue: 1, usage: { ...USED, seconds: 1 } };
const CUT_OFF = {
  ...{ type: 'attempt_ended', issue: 1, outcome: 'interrupted', reason: '', usage: { ...USED, seconds: 1 } },
  ...{ head: null, next: 'retry', retry_at: 0 },
} satisfies JournalRecord;
const AT_WORK = [CLAIMED, STARTED, BEGUN, NOTED];

function stateOf(records: readonly JournalRecord[]): DaemonState {
  return records.reduce<DaemonState>((state, record, index) => {
    const stored: Stored<JournalRecord> = { ...record, v: 1, id: String(index), at: index };
    return fold(state, stored);
  }, EMPTY_STATE);
}

function asks(change: Partial<GoOnRequest> = {}): GoOnRequest {
  const [id, nonce, worker] = ['an-id', change.nonce ?? 'n', change.worker ?? 'w'];
  return {
    ...{ id, nonce, worker, version: '1.0.0', proof: goOnProof(SHARED_KEY, id, nonce, worker) },
    ...{ repository: 'H/o/r', issue: 1, life: 1, attempt: 1, base: BASE, pid: 7, used: NOTHING, ...change },
  };
}

/** A coordinator that found these records at its start. */
function setUp(t: Cleanup, found: readonly JournalRecord[]) {
  const clock = new FakeClock();
  let records = found;
  const kept = new KeptCommits({
    carrier: { has: async () => false, adopt: async () => undefined },
    mirror: { refresh: async () => undefined },
    workspaces: {
      prepare: async () => ({ path: '', created: true }),
      ...{ afterCreate: async () => undefined, complete: async () => undefined },
    },
    ...{ state: () => stateOf(records), wasElsewhere: () => false, directory: tempDir(t), maxBundleBytes: 1 },
    ...{ leaseMs: LEASE_MS, clock, log: { log: () => undefined } },
  });
  const settings = { key: SHARED_KEY, version: '1.0.0', leaseMs: LEASE_MS, maxBundleBytes: 1, insecure: false };
  const coordinator = new Coordinator({ ...settings, queue: {} as never, address: () => '' });
  coordinator.keeps('h/o/r', kept);
  const tell = (...more: readonly JournalRecord[]) => {
    records = [...records, ...more];
  };
  const entry = () => stateOf(records).entries.get(1) ?? assert.fail();
  return { clock, kept, coordinator, tell, entry };
}

test('an agent that may be at work is waited for, and no other one', async (t) => {
  const paused: JournalRecord = { type: 'steered', issue: 1, steer: 'pause' };
  const cases: readonly (readonly [readonly JournalRecord[], Partial<GoOnRequest>, Code])[] = [
    [AT_WORK, {}, FLEET_CODES.attempt_not_begun],
    [AT_WORK, { attempt: 2 }, FLEET_CODES.attempt_superseded],
    [AT_WORK, { life: 2 }, FLEET_CODES.attempt_superseded],
    // Nobody acts for it here, or not yet.
    [AT_WORK, { repository: 'h/o/s' }, FLEET_CODES.attempt_not_begun],
    [AT_WORK, { version: '2.0.0' }, FLEET_CODES.worker_version_wrong],
    [AT_WORK, { proof: 'another' }, FLEET_CODES.fleet_key_wrong],
    // No agent had its prompt.
    [[CLAIMED, STARTED], {}, FLEET_CODES.attempt_superseded],
    [[...AT_WORK, paused], {}, FLEET_CODES.attempt_superseded],
    // Ended before the coordinator did.
    [[...AT_WORK, CUT_OFF], {}, FLEET_CODES.attempt_superseded],
  ];
  for (const [records, change, code] of cases) {
    const { coordinator } = setUp(t, records);
    await failsWith(() => coordinator.goOn(asks(change)), code);
  }
});

test('the next attempt waits a lease for a worker with an agent at work, and no longer once one has asked', async (t) => {
  const { clock, kept, coordinator, tell, entry } = setUp(t, AT_WORK);
  tell(CUT_OFF);
  const waits: number[] = [];
  let isOver = false;
  const brought = kept
    .bring(entry(), null, NEVER, async (ms) => void waits.push(ms))
    .then(() => {
      isOver = true;
    });
  await clock.settle();
  assert.deepEqual([waits, isOver], [[LEASE_MS], false]);
  await failsWith(() => coordinator.goOn(asks()), FLEET_CODES.attempt_not_begun);
  await brought;
  const before = kept.before({ issue: 1, life: 1, attempt: 2 }) ?? assert.fail();
  assert.equal(before.isAwaited(), true);
  assert.equal(before.used.cost_usd, USED.cost_usd);
  assert.equal(kept.before({ issue: 1, life: 1, attempt: 3 }), null);
});

test('an attempt without a worker that had begun is not waited for', async (t) => {
  const { kept, tell, entry } = setUp(t, [CLAIMED, STARTED]);
  tell(CUT_OFF);
  assert.equal(await kept.bring(entry(), null, NEVER, async () => assert.fail()), true);
});

test('the worker that asks first gets the next attempt, once, with what its agent used since', async (t) => {
  const { coordinator, tell } = setUp(t, AT_WORK);
  tell(CUT_OFF, { ...STARTED, attempt: 2 });
  const events: AgentEvent[] = [];
  const said: string[] = [];
  const hooks: RunHooks = {
    ...{ onStarted: async (pid) => void said.push(`started ${pid}`), onEvent: (event) => void events.push(event) },
    ...{
      output: () => undefined,
      nextTurn: async () => null,
      signal: NEVER,
      onGoesOn: () => void said.push('goes on'),
    },
  };
  const bases: string[] = [];
  const job = jobAt('http://localhost:1', { attempt: 2, fence: 5 });
  const adopt = async (_: unknown, __: unknown, base: string) => void bases.push(base);
  const attempt = attemptOf(job, { hooks, adopt, usedBefore: USED });
  coordinator.add(attempt);
  const given = coordinator.goOn(asks());
  assert.deepEqual([given.attempt, given.fence], [2, 5]);
  assert.deepEqual(coordinator.goOn(asks()), given);
  await failsWith(() => coordinator.goOn(asks({ worker: 'v', nonce: 'm' })), FLEET_CODES.attempt_taken);
  await attempt.started(7);
  assert.deepEqual(said, ['goes on', 'started 7']);
  const usage = { input_tokens: 15, output_tokens: 20, cost_usd: 0.75, turns: 2 };
  attempt.beat({ events: [{ type: 'usage', usage }], output: '', heard: [], wants: false });
  const used = events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []));
  assert.deepEqual(used, [{ input_tokens: 5, output_tokens: 0, cost_usd: 0.25, turns: 1 }]);
  await attempt.work(null, { head: 'c'.repeat(40), files: null });
  assert.deepEqual(bases, [BASE]);
});

/** A worker with an agent at work, and coordinators that take over from one another with what the journal says. */
async function outliving(t: Cleanup) {
  const records: JournalRecord[] = [CLAIMED];
  const shares: number[] = [];
  const asked: (RequestPlace | undefined)[] = [];
  let onAsked: () => void = () => undefined;
  /** Resolves when the first coordinator is asked, which answers nothing. */
  const isAsked = new Promise<void>((resolve) => {
    onAsked = resolve;
  });
  let next = { address: '', fence: 0 };
  const lead = async (number: number) => {
    const { kept } = setUp(t, [...records]);
    const before = kept.before({ issue: 1, life: 1, attempt: number });
    const { running } = stateOf(records).entries.get(1) ?? assert.fail();
    if (number > 1) records.push({ ...CUT_OFF, usage: running });
    records.push({ ...STARTED, attempt: number }, { ...BEGUN, key: `agent:${number}` });
    const { coordinator, address } = await openCoordinator(t);
    const hooks: RunHooks = {
      ...{ onStarted: async () => undefined, output: () => undefined, nextTurn: async () => null, signal: NEVER },
      onEvent: (event) => {
        if (event.type !== 'usage') return;
        shares[number] = event.usage.cost_usd;
        records.push({ type: 'usage', issue: 1, usage: { ...event.usage, seconds: 1 } });
      },
    };
    const handler: AgentRequestHandler = (_, __, place) => {
      asked.push(place);
      onAsked();
      return number === 1 ? new Promise(() => undefined) : Promise.resolve({});
    };
    const job = signed(jobAt(address, { attempt: number, fence: number }));
    coordinator.add(attemptOf(job, { hooks, handler, usedBefore: before?.used ?? null }));
    next = { address, fence: number };
    return job;
  };
  const client = new CoordinatorClient({
    ...{ job: await lead(1), key: SHARED_KEY, worker: 'w', version: '1.0.0', clock: systemClock, signal: NEVER },
    ...{ onSilent: () => undefined, successor: async () => next },
  });
  finallyDo(t, () => client.close());
  await client.take();
  await client.started(7);
  const moveTo = async (number: number) => {
    await lead(number);
    assert.equal(await client.goOn(), true);
    assert.equal(client.job.attempt, number);
  };
  return { client, moveTo, shares, asked, isAsked, state: () => stateOf(records) };
}

test('an agent that outlives three coordinators is counted once, each attempt with its own share', async (t) => {
  const { client, moveTo, shares, state } = await outliving(t);
  const spends = (turns: number) => {
    const usage = { input_tokens: 100 * turns, output_tokens: 10 * turns, cost_usd: 0.5 * turns, turns };
    return client.beat({ events: [{ type: 'usage', usage }], output: '', heard: [], wants: false });
  };
  await spends(2);
  for (const [number, turns] of [
    [2, 3],
    [3, 7],
    [4, 8],
  ] as const) {
    await moveTo(number);
    // As long as the agent has nothing new to tell, its last words come again.
    await spends(turns - 1);
    await spends(turns);
  }
  assert.deepEqual(shares.slice(1), [1, 0.5, 2, 0.5]);
  const { entries, totals, today } = state();
  const { cost_usd, input_tokens, output_tokens, turns } = spentOf(entries.get(1) ?? assert.fail());
  assert.deepEqual([cost_usd, input_tokens, output_tokens, turns], [4, 800, 80, 8]);
  assert.deepEqual([totals.cost_usd, totals.input_tokens, today.cost_usd], [4, 800, 4]);
});

test('a request of an agent that was asked of one coordinator is the same request for the next', async (t) => {
  const { client, moveTo, asked, isAsked } = await outliving(t);
  const first = client.asker({ type: 'comment', issue: 1, body: 'On it.' });
  const unanswered = assert.rejects(first(client.moves), Moved);
  await isAsked;
  await moveTo(2);
  await unanswered;
  await first(client.moves);
  await client.asker({ type: 'done', issue: 1 })(client.moves);
  assert.deepEqual(asked, [
    { attempt: 1, number: 1, isRepeated: false },
    { attempt: 1, number: 1, isRepeated: true },
    { attempt: 1, number: 2, isRepeated: false },
  ]);
});
