// The store in PostgreSQL: its tables and their versions, rights, TLS, and the server's clock in all of it.

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { Client } from 'pg';
import { isFailure, ToolError } from '../../../src/base/rules/errors.ts';
import { FLEET_CODES } from '../../../src/fleet/rules/fleet-codes.ts';
import { migrate, STEPS } from '../../../src/fleet/store/postgres-schema.ts';
import { PostgresStore } from '../../../src/fleet/store/postgres-store.ts';
import { jobAt } from '../../support/fleet-coordinator.ts';
import type { PostgresServer } from '../../support/postgres.ts';
import { answerOf, documentedRights, takeLease, testPostgres } from '../../support/stores.ts';
import { finallyDo } from '../../support/temp.ts';

const HOUR = 3_600_000;

async function setUp(t: TestContext, postgres: PostgresServer) {
  const database = await postgres.database();
  const url = postgres.urlOf(database);
  const open = async (isMaker: boolean, address = url) => {
    const store = await PostgresStore.open(address, '', isMaker);
    finallyDo(t, () => store.close());
    return store;
  };
  /** Why it cannot be opened. */
  const refused = async (isMaker: boolean, address = url) => {
    const error = await open(isMaker, address).then(
      () => assert.fail('it was opened'),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof ToolError, String(error));
    assert.doesNotMatch(error.message, /canary|:secret/);
    return error;
  };
  const connect = async () => {
    const client = new Client(url);
    await client.connect();
    finallyDo(t, () => client.end());
    return client;
  };
  return { database, url, open, refused, connect, run: (text: string) => postgres.run(database, text) };
}

testPostgres('four coordinators that start at once make the tables once; a worker makes none', async (t, postgres) => {
  const { open, refused, run } = await setUp(t, postgres);
  assert.equal((await refused(false)).code, FLEET_CODES.queue_store_missing.code);
  assert.deepEqual(await run("SELECT FROM pg_namespace WHERE nspname IN ('toolcrew', 'bullmq')"), []);
  await Promise.all([1, 2, 3, 4].map(() => open(true)));
  const store = await open(false);
  await store.probe();
  assert.deepEqual(await store.workers(), []);
  assert.deepEqual(await run('SELECT version FROM toolcrew.store'), [{ version: STEPS.length }]);
  const facts = await store.about();
  assert.equal(facts.product, 'PostgreSQL');
  assert.match(facts.version, /^\d+\.\d+$/);
});

testPostgres('tables of another version are refused by name, or migrated by a coordinator', async (t, postgres) => {
  const { open, refused, run, connect } = await setUp(t, postgres);
  await open(true);
  const wrong = async (isMaker: boolean) => {
    const error = await refused(isMaker);
    const { what, expected, got } = error.values;
    return [error.code, what, expected, got];
  };
  const [code, own, queue] = ['queue_store_version', 'the tables of toolcrew', 'the tables of BullMQ'];
  const newest = String(STEPS.length);
  await run('UPDATE toolcrew.store SET version = 7');
  assert.deepEqual(await wrong(false), [code, own, newest, '7']);
  assert.deepEqual(await wrong(true), [code, own, newest, '7']);
  await run(`UPDATE toolcrew.store SET version = ${newest}`);
  const [{ version = 0 } = {}] = await run('SELECT max(version) AS version FROM bullmq.migration');
  await run(`DELETE FROM bullmq.migration WHERE version = ${version}`);
  assert.deepEqual(await wrong(false), [code, queue, String(version), String(Number(version) - 1)]);
  await run('UPDATE bullmq.migration SET min_client_version = 99');
  assert.deepEqual(await wrong(true), [code, queue, '6', '99']);

  // What a later version of this program does with the tables of this one.
  const session = await connect();
  await migrate(session, [...STEPS, 'CREATE TABLE toolcrew.later (name text)']);
  await migrate(session, STEPS);
  assert.deepEqual(await run('SELECT version FROM toolcrew.store'), [{ version: STEPS.length + 1 }]);
  // A step that fails changes nothing.
  await assert.rejects(migrate(session, [...STEPS, '', 'CREATE TABLE toolcrew.half (name text); SELECT 1 / 0']));
  assert.deepEqual(await run("SELECT to_regclass('toolcrew.half') AS half, version FROM toolcrew.store"), [
    { half: null, version: STEPS.length + 1 },
  ]);
});

testPostgres(
  'a user without rights, a wrong password and a database that is not there are named',
  async (t, postgres) => {
    const { database, open, refused, run } = await setUp(t, postgres);
    await run("CREATE ROLE stranger LOGIN PASSWORD 'secret'; CREATE ROLE few LOGIN PASSWORD 'secret'");
    const codeOf = async (isMaker: boolean, user: string, password: string) =>
      (await refused(isMaker, postgres.urlOf(database, user, password))).code;
    const missing = FLEET_CODES.queue_permission_missing.code;
    // A coordinator that may not make tables.
    assert.equal(await codeOf(true, 'stranger', 'secret'), missing);
    await open(true);
    assert.equal(await codeOf(false, 'stranger', 'secret'), missing);
    assert.equal(await codeOf(false, 'stranger', 'wrong:secret'), missing);
    assert.equal((await refused(true, postgres.urlOf('nowhere'))).code, 'queue_unreachable');

    await run(documentedRights('few'));
    const few = await open(false, postgres.urlOf(database, 'few', 'secret'));
    await few.probe();
    const own = { token: 't', host: 'h', since: 1, address: '' };
    await assert.rejects(takeLease(few, 'h/o/r', own, '', 1_000), /permission denied/);
    await run('REVOKE INSERT ON bullmq.job FROM few');
    await assert.rejects(few.probe(), (error) => isFailure(error, FLEET_CODES.queue_permission_missing));
  },
);

testPostgres('TLS as sslmode asks for it: encrypted alone, or with the certificate checked', async (t, postgres) => {
  const { url, open, refused, run } = await setUp(t, postgres);
  const encrypted = async () => {
    const [row] = await run(
      "SELECT count(*)::int AS count FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE ssl AND application_name = 'toolcrew' AND datname = current_database()",
    );
    return row?.count;
  };
  (await open(true)).close();
  assert.equal(await encrypted(), 0);
  const store = await open(false, `${url}?sslmode=require`);
  assert.notEqual(await encrypted(), 0);
  assert.equal(store.address, `postgres://127.0.0.1:${postgres.port}/${url.split('/').at(-1)}?sslmode=require`);
  const verified = `${url}?sslmode=verify-full&sslrootcert=${postgres.caFile}`;
  await (await open(false, verified)).probe();
  assert.match((await refused(false, `${url}?sslmode=verify-full`)).message, /certificate|self.signed/);
  await open(false, verified.replace('127.0.0.1', 'localhost'));
  const other = verified.replace('127.0.0.1', '127.0.0.2');
  assert.match((await refused(false, other)).message, /127\.0\.0\.2 is not in the cert's list/);
  await open(false, other.replace('verify-full', 'verify-ca'));
  assert.match((await refused(false, `${verified}.gone`)).message, /ENOENT.*ca\.pem\.gone/);
  await postgres.stop();
  await postgres.begin('ssl=off');
  const without = await refused(false, `${url}?sslmode=require`);
  assert.equal(without.code, FLEET_CODES.queue_unreachable.code);
  assert.match(without.message, /does not support SSL/);
  await postgres.stop();
  await postgres.begin();
});

testPostgres(
  'clocks of workers that are an hour wrong change no lock: the server has the time',
  async (t, postgres) => {
    const { open, run } = await setUp(t, postgres);
    const store = await open(true);
    const name = 'attempts';
    const queue = store.queue(name);
    const worker = store.worker(name, { lockMs: 60_000 });
    finallyDo(t, () => Promise.all([worker.close(true), queue.close()]));
    await queue.add('attempt', { ...jobAt('http://h:1') }, { jobId: 'one', removeOnComplete: true, priority: 1 });
    const server = Date.now();
    let wrong = -HOUR;
    const real = Date.now.bind(Date);
    t.mock.method(Date, 'now', () => real() + wrong);
    const job = await worker.getNextJob('lock', { block: false });
    assert.ok(job);
    assert.equal(await store.isLocked(name, 'one'), true);
    await job.extendLock('lock', 60_000);
    assert.equal(await store.isLocked(name, 'one'), true);
    // Another one looks for jobs whose lock is over, twice: the first look only marks them.
    wrong = HOUR;
    const stalled = () =>
      run('SET search_path TO toolcrew, bullmq; SELECT move_stalled_jobs_to_wait($$attempts$$, 1, 9e15::bigint, 0)');
    assert.deepEqual([await stalled(), await stalled()], [[], []]);
    const [{ value } = {}] = await run("SELECT value FROM bullmq.meta WHERE field = 'stalled-check'");
    assert.ok(Math.abs(Number(value) - server) < HOUR / 2, String(value));
    await job.moveToDelayed(Date.now() + 10_000, 'lock');
    const [{ process_at_ms: at, state } = {}] = await run('SELECT process_at_ms, state FROM bullmq.job');
    assert.equal(state, 'delayed');
    assert.ok(Math.abs(Number(at) - server) < HOUR / 2, String(at));
  },
);

testPostgres('a lease that ended by the clock of the server is free, and its number grows', async (t, postgres) => {
  const { open, run } = await setUp(t, postgres);
  const store = await open(true);
  const [one, two] = ['one', 'two'].map((token) => ({ token, host: token, since: 1, address: `http://${token}` }));
  assert.ok(one && two);
  const first = await takeLease(store, 'h/O/r', one, '', 60_000);
  assert.equal((await takeLease(store, 'h/o/R', two, '', 60_000)).token, 'one');
  assert.deepEqual(await store.heldLeases(['h/O/r', 'h/o/other']), new Set(['h/O/r']));
  assert.equal(await store.addressOf('h/o/r'), 'http://one');
  assert.equal(await store.renewLease('h/o/r', { ...first, address: 'http://new' }, 60_000), true);
  assert.equal(await store.addressOf('h/o/r'), 'http://new');
  await run('UPDATE toolcrew.lease SET ends_at = clock_timestamp()');
  assert.deepEqual([await store.fenceOf('h/o/r'), await store.addressOf('h/o/r')], [null, null]);
  // Nobody took it meanwhile.
  assert.equal(await store.renewLease('h/o/r', first, 60_000), true);
  await run('UPDATE toolcrew.lease SET ends_at = clock_timestamp()');
  const second = await takeLease(store, 'h/o/r', two, '', 60_000);
  assert.equal(second.token, 'two');
  assert.ok(second.fence > first.fence);
  assert.equal(await store.renewLease('h/o/r', first, 60_000), false);
  await store.releaseLease('h/o/r', first);
  assert.equal(await store.fenceOf('h/o/r'), second.fence);
  await store.releaseLease('h/o/r', second);
  // The number says that another one had it.
  assert.equal(await store.renewLease('h/o/r', first, 60_000), false);
  assert.equal(await store.renewLease('h/o/r', second, 60_000), true);
});

testPostgres(
  'a server that crashes and is back: the problem is named and over, and all is there',
  async (t, postgres) => {
    const { open } = await setUp(t, postgres);
    const store = await open(true);
    await store.announceQueue('attempts');
    assert.equal(store.problem, null);
    await postgres.stop();
    await assert.rejects(store.queueNames());
    await postgres.begin();
    await answerOf(store);
    assert.deepEqual(await store.queueNames(), ['attempts']);
  },
);
