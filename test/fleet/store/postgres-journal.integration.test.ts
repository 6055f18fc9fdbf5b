// The journals of repositories in PostgreSQL: places, repeated appends, snapshots, and nothing without the lease.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { PostgresStore } from '../../../src/fleet/store/postgres-store.ts';
import type { PostgresServer } from '../../support/postgres.ts';
import { takeLease, testPostgres } from '../../support/stores.ts';
import { finallyDo } from '../../support/temp.ts';

const REPOSITORY = 'host/Owner/Repo';
const LINES = ['{"b":1,"a":2}', '{"text":"ü \\u0000 \\ud800"}', '{ "spaced" : true }'];

async function setUp(t: TestContext, postgres: PostgresServer) {
  const database = await postgres.database();
  const store = await PostgresStore.open(postgres.urlOf(database), '', true);
  finallyDo(t, () => store.close());
  const take = (token: string) =>
    takeLease(store, REPOSITORY, { token, host: token, since: 1, address: '' }, '', 600_000);
  const read = (from = 0, most = 100) => store.readJournal(REPOSITORY, from, most);
  const connect = async () => {
    const client = new Client(postgres.urlOf(database));
    await client.connect();
    finallyDo(t, () => client.end());
    return client;
  };
  return { store, take, read, connect, run: (text: string) => postgres.run(database, text) };
}

testPostgres(
  'records stand at their places, as the texts that they were; a repeated append is done',
  async (t, server) => {
    const { store, take, read } = await setUp(t, server);
    const holder = await take('one');
    const append = (at: number, lines: readonly string[]) => store.appendJournal(REPOSITORY, holder, at, lines);
    assert.deepEqual(await read(), { first: 0, next: 0, lines: [] });
    assert.equal(await append(1, ['too far']), 'elsewhere');
    assert.equal(await append(0, LINES), 'done');
    assert.deepEqual(await read(), { first: 0, next: 3, lines: LINES });
    assert.deepEqual(await read(1, 1), { first: 0, next: 3, lines: LINES.slice(1, 2) });
    assert.deepEqual(await read(0, 0), { first: 0, next: 3, lines: [] });
    assert.deepEqual((await read(9)).lines, []);
    // The answer was lost.
    assert.equal(await append(0, LINES), 'done');
    assert.equal(await append(2, LINES.slice(2)), 'done');
    // Other lines, or more than stand there.
    assert.equal(await append(0, ['{"b":1, "a":2}']), 'elsewhere');
    assert.equal(await append(2, [...LINES.slice(2), 'more']), 'elsewhere');
    assert.equal(await append(3, ['next']), 'done');
    assert.equal(await append(4, []), 'done');
    assert.deepEqual(await read(3), { first: 0, next: 4, lines: ['next'] });
    // Letters of a name are no difference; another repository has a journal of its own.
    assert.equal((await store.readJournal('HOST/owner/REPO', 0, 9)).next, 4);
    assert.equal((await store.readJournal('host/owner/other', 0, 9)).next, 0);
  },
);

testPostgres('a snapshot takes the place of the records before it, once', async (t, server) => {
  const { store, take, read } = await setUp(t, server);
  const holder = await take('one');
  const compact = (at: number, line: string) => store.compactJournal(REPOSITORY, holder, at, line);
  assert.equal(await compact(0, 's'), 'elsewhere');
  await store.appendJournal(REPOSITORY, holder, 0, ['a', 'b', 'c', 'd']);
  for (const at of [0, 5]) assert.equal(await compact(at, 's'), 'elsewhere');
  for (const _ of ['once', 'again']) {
    assert.equal(await compact(3, 's'), 'done');
    assert.deepEqual(await read(), { first: 2, next: 4, lines: ['s', 'd'] });
  }
  assert.equal(await compact(2, 's'), 'elsewhere');
  assert.equal(await compact(4, 'all'), 'done');
  assert.deepEqual(await read(), { first: 3, next: 4, lines: ['all'] });
  assert.equal(await store.appendJournal(REPOSITORY, holder, 4, ['e']), 'done');
  // Places that are gone.
  assert.equal(await store.appendJournal(REPOSITORY, holder, 1, ['b']), 'elsewhere');
});

testPostgres('whoever has no lease, or one that ended, changes nothing', async (t, server) => {
  const { store, take, read, run } = await setUp(t, server);
  const first = await take('one');
  await store.appendJournal(REPOSITORY, first, 0, ['a']);
  const refused = async () => {
    assert.equal(await store.appendJournal(REPOSITORY, first, 1, ['b']), 'lease_lost');
    // Also where it would be done, or elsewhere.
    assert.equal(await store.appendJournal(REPOSITORY, first, 0, ['a']), 'lease_lost');
    assert.equal(await store.appendJournal(REPOSITORY, first, 9, ['a']), 'lease_lost');
    assert.equal(await store.compactJournal(REPOSITORY, first, 1, 's'), 'lease_lost');
    assert.deepEqual(await read(), { first: 0, next: 1, lines: ['a'] });
  };
  // By the clock of the server, before anybody else takes it.
  await run('UPDATE toolcrew.lease SET ends_at = clock_timestamp()');
  await refused();
  const second = await take('two');
  await refused();
  await store.releaseLease(REPOSITORY, second);
  await refused();
  await run('DELETE FROM toolcrew.lease');
  await refused();
});

testPostgres('an append waits for whoever takes the lease meanwhile, and comes to nothing', async (t, server) => {
  const { store, take, read, connect, run } = await setUp(t, server);
  const first = await take('one');
  await store.appendJournal(REPOSITORY, first, 0, ['a']);
  const other = await connect();
  await other.query("BEGIN; UPDATE toolcrew.lease SET token = 'two', fence = fence + 1");
  const append = store.appendJournal(REPOSITORY, first, 1, ['b']);
  const isWaiting = async () =>
    (await run("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%append_journal%'")).length;
  while ((await isWaiting()) === 0) await delay(20);
  await other.query('COMMIT');
  assert.equal(await append, 'lease_lost');
  assert.deepEqual((await read()).lines, ['a']);
});

testPostgres('two appends of one holder at the same place: one stands there', async (t, server) => {
  const { store, take, read } = await setUp(t, server);
  const holder = await take('one');
  const answers = await Promise.all(
    ['a', 'b', 'c', 'd'].map((line) => store.appendJournal(REPOSITORY, holder, 0, [line])),
  );
  assert.deepEqual(answers.toSorted(), ['done', 'elsewhere', 'elsewhere', 'elsewhere']);
  assert.equal((await read()).next, 1);
});
