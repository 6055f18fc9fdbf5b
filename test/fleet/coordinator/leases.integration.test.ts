// Leases of repositories on real stores: one holder at a time, and a holder learns that it is none any more.

import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import type { textOf } from '../../../src/base/rules/codes.ts';
import { isFailure, ToolError } from '../../../src/base/rules/errors.ts';
import { Leases } from '../../../src/fleet/coordinator/leases.ts';
import { RepositoryLease } from '../../../src/fleet/coordinator/repository-lease.ts';
import { FLEET_CODES } from '../../../src/fleet/rules/fleet-codes.ts';
import { RedisStore } from '../../../src/fleet/store/redis-store.ts';
import type { Store } from '../../../src/fleet/store/store.ts';
import { RedisServer } from '../../support/fleet.ts';
import { answerOf, type StoreBed, testStores } from '../../support/stores.ts';
import { type Cleanup, finallyDo, tempDir } from '../../support/temp.ts';

const REPOSITORY = 'host/Owner/Repo';
const log = { log: () => undefined };

const address = () => '';

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
      address,
    });
    finallyDo(t, () => lease.release());
    return lease;
  };
  return { store, take, places: [tempDir(t), tempDir(t)] as const };
}

const isHeld = (error: unknown) => isFailure(error, FLEET_CODES.repository_held);

testStores('one has it at a time, by name; numbers grow, also where the store forgot everything', async (t, bed) => {
  const { store, take, places } = await setUp(t, bed);
  const first = await take(places[0]);
  await assert.rejects(take(places[1]), (error) => {
    assert.ok(isHeld(error) && error instanceof ToolError);
    const { host, repository, since } = error.values;
    assert.deepEqual([repository, host !== ''], ['host/Owner/Repo', true]);
    assert.match(String(since), /^\d{4}-/);
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
  assert.equal(await second.holds(), false);
  assert.ok(second.lost.aborted);
});

testStores('the same state directory gets it back at once: its last process has ended', async (t, bed) => {
  const { take, places } = await setUp(t, bed);
  const first = await take(places[0]);
  const again = await take(places[0]);
  assert.ok(again.fence > first.fence);
  assert.equal(await first.holds(), false);
  copyFileSync(join(places[0], 'lease'), join(places[1], 'lease'));
  // A copy of an earlier state of it does not count.
  await take(places[0]);
  await assert.rejects(take(places[1]), isHeld);
});

testStores(
  'a holder learns that another one has it, or had it since, and takes nothing from that one',
  async (t, bed) => {
    const { take, places } = await setUp(t, bed);
    const lease = await take(places[0]);
    assert.equal(await lease.holds(), true);
    await bed.giveLease(REPOSITORY, 'another');
    assert.equal(await lease.holds(), false);
    assert.ok(lease.lost.aborted);
    await lease.release();
    assert.equal(await bed.tokenOf(REPOSITORY), 'another');
    await bed.giveLease(REPOSITORY, null);
    const next = await take(places[0]);
    await bed.passLease(REPOSITORY);
    assert.equal(await next.holds(), false);
  },
);

testStores('the lease says where its holder is, as of the last renewal', async (t, bed) => {
  const { store, places } = await setUp(t, bed);
  let at = '';
  const more = { store, repository: REPOSITORY, leaseMs: 60_000, stateDir: places[0], clock: systemClock, log };
  const lease = await RepositoryLease.take({ ...more, address: () => at });
  assert.equal(await store.addressOf(REPOSITORY), '');
  at = 'proof http://127.0.0.1:1';
  await lease.holds();
  assert.equal(await store.addressOf(REPOSITORY), at);
  await lease.release();
  assert.equal(await store.addressOf(REPOSITORY), null);
});

testStores(
  'a store that forgot the lease gets it again; one that is away for longer takes it from the holder',
  async (t, bed) => {
    const { store, take, places } = await setUp(t, bed, 1_500);
    const lease = await take(places[0]);
    await bed.giveLease(REPOSITORY, null);
    assert.equal(await lease.holds(), true);
    assert.equal(await store.fenceOf(REPOSITORY), lease.fence);
    await bed.stop();
    await new Promise((resolve) => lease.lost.addEventListener('abort', resolve, { once: true }));
    assert.equal(await lease.holds(), false);
    const leases = new Leases(store, 60_000, systemClock, address);
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
  const leases = new Leases(store, 60_000, systemClock, address);
  finallyDo(t, () => leases.close());
  await assert.rejects(leases.take(REPOSITORY, places[1], log), isHeld);
  const free = new Promise<void>((resolve) => void leases.onFree(resolve));
  await lease.release();
  await free;
  const next = await leases.take(REPOSITORY, places[1], log);
  assert.ok(next.fence > lease.fence);
  await next.release();
});

testStores(
  'the documented user of a worker reads where the coordinator is, and can change no lease and no journal',
  async (t, bed) => {
    const store = await bed.open();
    finallyDo(t, () => store.close());
    const own = { token: 'a-token', host: 'machine', since: 1, address: 'an address' };
    const holder = await store.takeLease(REPOSITORY, own, '', 600_000, 0);
    assert.ok(holder !== null);
    const line = '{"type":"claimed","branch":"main"}';
    assert.equal(await store.appendJournal(REPOSITORY, holder, 0, ['{}']), 'done');
    const user = await bed.openAsUser();
    finallyDo(t, () => user.close());
    assert.deepEqual([await user.addressOf(REPOSITORY), await user.fenceOf(REPOSITORY)], [own.address, holder.fence]);
    assert.deepEqual([...(await user.heldAddresses())], [[REPOSITORY.toLowerCase(), own.address]]);
    // It may know all that the holder knows.
    const attempts: readonly (() => Promise<unknown>)[] = [
      () => user.takeLease(REPOSITORY, { ...own, token: 'another' }, '', 600_000, 0),
      () => user.takeLease('host/Owner/Other', own, '', 600_000, 0),
      () => user.renewLease(REPOSITORY, { ...holder, address: 'elsewhere' }, 600_000),
      () => user.releaseLease(REPOSITORY, holder),
      () => user.appendJournal(REPOSITORY, holder, 1, [line]),
      () => user.compactJournal(REPOSITORY, holder, 1, line),
    ];
    for (const [index, act] of attempts.entries())
      await assert.rejects(act(), /permission|NOPERM|can't access|denied/i, `attempt ${index}`);
    assert.deepEqual((await store.readJournal(REPOSITORY, 0, 10)).lines, ['{}']);
    assert.equal(await store.addressOf(REPOSITORY), own.address);
    await user.probe();
  },
);

/** A coordinator whose time goes on when it is told to. */
function standby(t: Cleanup, store: Store, leaseMs: number) {
  let ahead = 0;
  const clock = { ...systemClock, elapsed: () => systemClock.elapsed() + ahead };
  const said: string[] = [];
  const listening = {
    log: (_: unknown, __: unknown, what: Parameters<typeof textOf>[0] | string) => {
      said.push(typeof what === 'string' ? what : what.of.code);
    },
  };
  const leases = new Leases(store, leaseMs, clock, address);
  finallyDo(t, () => leases.close());
  return {
    ...{ leases, said },
    take: (place: string) => leases.take(REPOSITORY, place, listening),
    openJournal: (lease: RepositoryLease, place: string) => leases.openJournal(lease, place, listening),
    free: () => new Promise<void>((resolve) => void leases.onFree(resolve)),
    pass: (ms: number) => {
      ahead += ms;
    },
  };
}

const isForgotten = (error: unknown) => isFailure(error, FLEET_CODES.repository_forgotten);
const OLD_LINE = '{"type":"claimed","v":1}';

testStores(
  'a store that forgot a living holder: whoever waited leaves it the lease, and its old journal stays out',
  async (t, bed) => {
    const { store, take, places } = await setUp(t, bed);
    const lease = await take(places[0]);
    const waiting = standby(t, store, 60_000);
    const path = join(places[1], 'journal.jsonl');
    writeFileSync(path, `\n${OLD_LINE}\n`);
    await assert.rejects(waiting.take(places[1]), isHeld);
    await bed.forget();
    await answerOf(store);
    await assert.rejects(waiting.take(places[1]), isForgotten);
    waiting.pass(30_000);
    await assert.rejects(waiting.take(places[1]), isForgotten);
    // A new process of that machine knows it too.
    await assert.rejects(take(places[1]), isForgotten);
    const told = waiting.free();
    assert.equal(await lease.holds(), true);
    await told;
    await assert.rejects(waiting.take(places[1]), isHeld);
    const free = waiting.free();
    await lease.release();
    await free;
    const next = await waiting.take(places[1]);
    assert.ok(next.fence > lease.fence);
    const shared = await waiting.openJournal(next, places[1]);
    await shared.close();
    assert.deepEqual((await store.readJournal(REPOSITORY, 0, 10)).lines, []);
    assert.deepEqual(waiting.said, ['journal_outdated']);
    assert.ok(!existsSync(path));
    assert.equal(readFileSync(join(places[1], 'journal.replaced.jsonl'), 'utf8'), `\n${OLD_LINE}\n`);
    await next.release();
    // Its own journal is the newest now.
    writeFileSync(path, `\n${OLD_LINE}\n`);
    const again = await waiting.take(places[1]);
    const own = await waiting.openJournal(again, places[1]);
    await own.flush();
    assert.deepEqual((await store.readJournal(REPOSITORY, 0, 10)).lines, [OLD_LINE]);
    await own.close();
    await again.release();
  },
);

testStores('a store that forgot a holder that is gone: one lease later the next one has it', async (t, bed) => {
  const { store, take, places } = await setUp(t, bed);
  const lease = await take(places[0]);
  const waiting = standby(t, store, 60_000);
  await assert.rejects(waiting.take(places[1]), isHeld);
  await bed.forget();
  await answerOf(store);
  await assert.rejects(waiting.take(places[1]), isForgotten);
  const free = waiting.free();
  waiting.pass(60_000);
  await free;
  const next = await waiting.take(places[1]);
  assert.ok(next.fence > lease.fence);
  assert.equal(await lease.holds(), false);
  await next.release();
});

test('whoever has the lease and cannot open the journal is told one lease later', async (t) => {
  const redis = await RedisServer.start(t);
  const store = await RedisStore.open(redis.url, '');
  finallyDo(t, () => store.close());
  const waiting = standby(t, store, 60_000);
  const place = tempDir(t);
  const key = 'toolcrew:journal:host/owner/repo';
  const lease = await waiting.take(place);
  await store.client.set(key, 'no journal');
  await assert.rejects(waiting.openJournal(lease, place), /WRONGTYPE/);
  await lease.release();
  await store.client.del(key);
  const free = waiting.free();
  waiting.pass(60_000);
  await free;
});
