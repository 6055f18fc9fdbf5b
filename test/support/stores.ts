// The two stores of a queue, for cases that both must pass: each with what a test does to it from outside.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test, { after, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { PostgresStore } from '../../src/fleet/store/postgres-store.ts';
import { RedisStore } from '../../src/fleet/store/redis-store.ts';
import type { LeaseHolder, Store } from '../../src/fleet/store/store.ts';
import { RedisServer, type StoreAddress } from './fleet.ts';
import { PostgresServer } from './postgres.ts';
import { type Cleanup, finallyDo } from './temp.ts';

export type StoreBed = {
  /** As a coordinator. */
  readonly open: () => Promise<Store>;
  readonly stop: () => Promise<void>;
  readonly begin: () => Promise<void>;
  /** A server that lost everything it had, and is there again. */
  readonly forget: () => Promise<void>;
  /** Takes the lease away; with a token, another one has it. */
  readonly giveLease: (repository: string, token: string | null) => Promise<void>;
  /** The lease is free, and another coordinator had it since. */
  readonly passLease: (repository: string) => Promise<void>;
  readonly tokenOf: (repository: string) => Promise<unknown>;
  /** A worker with a user of its own. */
  readonly openAsUser: () => Promise<Store>;
  /** Takes from that user what it needs to have jobs. */
  readonly refuseUser: () => Promise<void>;
  /** Ends its connections, and gives it another password. */
  readonly lockUserOut: () => Promise<void>;
};

/** What a test opens is closed at its end, also where it fails: a connection to a store that is gone is tried for ever. */
export async function closedAtEnd<T extends { close(): unknown }>(t: Cleanup, opening: Promise<T>): Promise<T> {
  const opened = await opening;
  finallyDo(t, () => opened.close());
  return opened;
}

/** Takes the lease as one who waited for nobody. */
export async function takeLease(
  store: Store,
  ...[repository, own, last, leaseMs]: [string, Omit<LeaseHolder, 'fence'>, string, number]
): Promise<LeaseHolder> {
  const holder = await store.takeLease(repository, own, last, leaseMs, 0);
  assert.ok(holder);
  return holder;
}

/** Resolves once it answers. */
export async function answerOf(store: Store): Promise<void> {
  while (store.problem !== null || (await store.queueNames().catch(() => null)) === null) await delay(20);
}

async function redisBed(t: Cleanup): Promise<StoreBed> {
  const server = await RedisServer.start(t);
  const client = new Redis(server.url, { retryStrategy: () => 20 });
  client.on('error', () => undefined);
  finallyDo(t, () => client.disconnect());
  const keyOf = (repository: string) => `toolcrew:lease:${repository.toLowerCase()}`;
  const begin = async () => {
    await server.begin();
    await client.ping();
  };
  const stop = () => server.stop();
  return {
    ...{ begin, stop },
    open: () => closedAtEnd(t, RedisStore.open(server.url, '')),
    forget: async () => {
      await stop();
      await begin();
    },
    giveLease: async (repository, token) => {
      if (token === null) await client.del(keyOf(repository));
      else await client.hset(keyOf(repository), 'token', token);
    },
    passLease: async (repository) => {
      await client.incr(keyOf(repository).replace('lease', 'fence'));
      await client.del(keyOf(repository));
    },
    tokenOf: (repository) => client.hget(keyOf(repository), 'token'),
    openAsUser: async () => {
      await client.call('ACL', documentedUser('user', 'pass'));
      return closedAtEnd(t, RedisStore.open(server.url.replace('//', '//user:pass@'), ''));
    },
    refuseUser: async () => {
      await client.acl('SETUSER', 'user', '-evalsha', '-eval', '-smembers');
    },
    lockUserOut: async () => {
      await client.acl('SETUSER', 'user', 'resetpass', '>other');
      await client.client('KILL', 'USER', 'user');
    },
  };
}

/** The arguments of ACL that docs/scaling.md gives a worker. */
export function documentedUser(user: string, password: string): string[] {
  const page = readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8');
  const [, text = ''] = /```text\nACL (.*)\n```/.exec(page) ?? [];
  return text.replace('fleet_worker', user).replace('>password', `>${password}`).split(' ');
}

/** The statements of docs/scaling.md that give a worker its rights. */
export function documentedRights(role: string): string {
  const page = readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8');
  const [, text = ''] = /```sql\n([\s\S]*?)```/.exec(page) ?? [];
  return text.replaceAll('fleet_worker', role);
}

/** One for all tests of a file, with a database for each. */
let server: Promise<PostgresServer> | undefined;
let users = 0;

async function postgresBed(t: Cleanup, postgres: PostgresServer): Promise<StoreBed> {
  const database = await postgres.database();
  users += 1;
  const user = `worker${users}`;
  const run = (text: string) => postgres.run(database, text);
  return {
    open: () => closedAtEnd(t, PostgresStore.open(postgres.urlOf(database), '', true)),
    stop: () => postgres.stop(),
    begin: () => postgres.begin(),
    forget: async () => {
      await run('DROP SCHEMA toolcrew CASCADE; DROP SCHEMA bullmq CASCADE');
      await postgres.stop();
      await postgres.begin();
    },
    giveLease: async (repository, token) => {
      const where = `WHERE repository = '${repository.toLowerCase()}'`;
      await run(
        token === null
          ? `DELETE FROM toolcrew.lease ${where}`
          : `UPDATE toolcrew.lease SET token = '${token}' ${where}`,
      );
    },
    passLease: async (repository) => {
      const where = `WHERE repository = '${repository.toLowerCase()}'`;
      await run(`UPDATE toolcrew.lease SET token = NULL, fence = fence + 1 ${where}`);
    },
    tokenOf: async (repository) => {
      const [row] = await run(`SELECT token FROM toolcrew.lease WHERE repository = '${repository.toLowerCase()}'`);
      return row?.token;
    },
    openAsUser: async () => {
      await run(`CREATE ROLE ${user} LOGIN PASSWORD 'pass'; ${documentedRights(user)}`);
      return closedAtEnd(t, PostgresStore.open(postgres.urlOf(database, user, 'pass'), '', false));
    },
    refuseUser: async () => {
      await run(`REVOKE ALL ON ALL TABLES IN SCHEMA bullmq FROM ${user}; REVOKE ALL ON toolcrew.queue FROM ${user}`);
    },
    lockUserOut: async () => {
      await run(
        `ALTER ROLE ${user} PASSWORD 'other'; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${user}'`,
      );
    },
  };
}

/** One case, for each of the stores. */
export function testStores(name: string, run: (t: TestContext, bed: StoreBed) => Promise<void>): void {
  test(`${name} (Redis)`, async (t) => run(t, await redisBed(t)));
  testPostgres(`${name} (PostgreSQL)`, async (t, postgres) => run(t, await postgresBed(t, postgres)));
}

/** One case with the PostgreSQL of the file. */
export function testPostgres(name: string, run: (t: TestContext, postgres: PostgresServer) => Promise<void>): void {
  // Here, so that it ends with the file and not with the first test.
  server ??= PostgresServer.start({ after });
  const started = server;
  started.catch(() => undefined);
  test(name, async (t) => run(t, await started));
}

/** One case of processes, over a Redis of its own and over a database of the file's PostgreSQL. */
export function testOverStores(name: string, run: (t: TestContext, store: StoreAddress) => Promise<void>): void {
  test(`${name} (Redis)`, async (t) => run(t, await RedisServer.start(t)));
  testPostgres(`${name} (PostgreSQL)`, async (t, postgres) => {
    await run(t, { url: postgres.urlOf(await postgres.database()) });
  });
}
