// Leases of repositories on real stores: one holder at a time, and no effect begins without the lease.

import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import { isFailure, ToolError } from '../../../src/base/rules/errors.ts';
import type { Journal } from '../../../src/daemon/ports.ts';
import type { JournalRecord } from '../../../src/daemon/rules/record.ts';
import { EMPTY_STATE } from '../../../src/daemon/rules/state.ts';
import { Leases } from '../../../src/fleet/coordinator/leases.ts';
import { RepositoryLease } from '../../../src/fleet/coordinator/repository-lease.ts';
import { FLEET_CODES } from '../../../src/fleet/rules/fleet-codes.ts';
import { answerOf, type StoreBed, testStores } from '../../support/stores.ts';
import { type Cleanup, finallyDo, tempDir } from '../../support/temp.ts';

const REPOSITORY = 'host/Owner/Repo';
const EFFECT: JournalRecord = { type: 'effect_started', issue: 1, effect: 'push', key: 'push' };
const log = { log: () => undefined };

function journal(): { readonly journal: Journal; readonly types: string[] } {
  const types: string[] = [];
  return {
    types,
    journal: {
      state: EMPTY_STATE,
      append: async (record) => {
        types.push(record.type);
        return { ...record, v: 1, id: '', at: 0 };
      },
      close: async () => undefined,
    },
  };
}

async function setUp(t: Cleanup, bed: StoreBed, leaseMs = 60_000) {
  const store = await bed.open();
  finallyDo(t, () => store.close());
  const take = async (stateDir: string) => {
    const lease = await RepositoryLease.take({
      store,
      repository: REPOSITORY,
      leaseMs,
      stateDir,
      clock: systemClock,
      log,
    });
    finallyDo(t, () => lease.release());
    return lease;
  };
  return { store, take, places: [tempDir(t), tempDir(t)] as const };
}

const isHeld = (error: unknown) => isFailure(error, FLEET_CODES.repository_held);
const isLost = (error: unknown) => isFailure(error, FLEET_CODES.repository_lease_lost);

testStores('one has it at a time, by name; numbers grow, also where the store forgot everything', async (t, bed) => {
  const { store, take, places } = await setUp(t, bed);
  const first = await take(places[0]);
  await assert.rejects(take(places[1]), (error) => {
    assert.ok(isHeld(error) && error instanceof ToolError);
    assert.match(error.message, /The coordinator on .+ acts for host\/Owner\/Repo since \d{4}-/);
    return true;
  });
  await first.release();
  const second = await take(places[1]);
  assert.ok(second.fence > first.fence);
  assert.equal(await store.fenceOf(REPOSITORY), second.fence);
  await bed.forget();
  await answerOf(store);
  const third = await take(places[0]);
  assert.ok(third.fence > second.fence);
  // It was given to another one meanwhile.
  await assert.rejects(second.fenced(journal().journal).append(EFFECT), isLost);
  assert.ok(second.lost.aborted);
});

testStores('the same state directory gets it back at once: its last process has ended', async (t, bed) => {
  const { take, places } = await setUp(t, bed);
  const first = await take(places[0]);
  const again = await take(places[0]);
  assert.ok(again.fence > first.fence);
  await assert.rejects(first.fenced(journal().journal).append(EFFECT), isLost);
  copyFileSync(join(places[0], 'lease'), join(places[1], 'lease'));
  // A copy of an earlier state of it does not count.
  await take(places[0]);
  await assert.rejects(take(places[1]), isHeld);
});

testStores('no effect begins once another one has the lease; other records are written', async (t, bed) => {
  const { take, places } = await setUp(t, bed);
  const lease = await take(places[0]);
  const { journal: bare, types } = journal();
  const fenced = lease.fenced(bare);
  await fenced.append(EFFECT);
  await bed.giveLease(REPOSITORY, 'another');
  await assert.rejects(fenced.append(EFFECT), isLost);
  assert.ok(lease.lost.aborted);
  await fenced.append({ type: 'effect_failed', issue: 1, effect: 'push', key: 'push', error: 'cut off' });
  assert.deepEqual(types, ['effect_started', 'effect_failed']);
  await lease.release();
  assert.equal(await bed.tokenOf(REPOSITORY), 'another');
});

testStores(
  'a store that forgot the lease gets it again; one that is away for longer takes it from the holder',
  async (t, bed) => {
    const { store, take, places } = await setUp(t, bed, 1_500);
    const lease = await take(places[0]);
    await bed.giveLease(REPOSITORY, null);
    await lease.fenced(journal().journal).append(EFFECT);
    assert.equal(await store.fenceOf(REPOSITORY), lease.fence);
    await bed.stop();
    await new Promise((resolve) => lease.lost.addEventListener('abort', resolve, { once: true }));
    await assert.rejects(lease.fenced(journal().journal).append(EFFECT), isLost);
    const leases = new Leases(store, 60_000, systemClock);
    finallyDo(t, () => leases.close());
    const free = new Promise<void>((resolve) => void leases.onFree(resolve));
    await assert.rejects(leases.take(REPOSITORY, places[0], log), (error) =>
      isFailure(error, FLEET_CODES.queue_unreachable),
    );
    await bed.begin();
    await free;
    const next = await leases.take(REPOSITORY, places[0], log);
    assert.ok(next.fence > lease.fence);
    await next.release();
  },
);

testStores('whoever waits is told once the lease is free', async (t, bed) => {
  const { store, take, places } = await setUp(t, bed);
  const lease = await take(places[0]);
  const leases = new Leases(store, 60_000, systemClock);
  finallyDo(t, () => leases.close());
  await assert.rejects(leases.take(REPOSITORY, places[1], log), isHeld);
  const free = new Promise<void>((resolve) => void leases.onFree(resolve));
  await lease.release();
  await free;
  const next = await leases.take(REPOSITORY, places[1], log);
  assert.ok(next.fence > lease.fence);
  await next.release();
});
