// The store of a queue in PostgreSQL, reached through BullMQ and pg, which are loaded at the first use alone.

import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { ConnectionOptions } from 'node:tls';
import type {
  BackendFactory,
  PgPool,
  PostgresConnection,
  PostgresConnectionOptions,
  PostgresQueueBackend,
} from 'bullmq';
import type { Client, ClientConfig, Pool } from 'pg';
import * as z from 'zod';
import { shownQueueUrl } from '../../daemon/rules/queue-settings.ts';
import { newToken } from '../proofs.ts';
import type { FleetJob } from '../rules/job.ts';
import {
  appendJournal,
  compactJournal,
  type JournalAnswer,
  type JournalPart,
  readJournal,
} from './postgres-journal.ts';
import { prepareTables, SEARCH_PATH } from './postgres-schema.ts';
import { probeQueue } from './probe-queue.ts';
import { loadPostgres } from './queue-packages.ts';
import {
  ANSWER_MS,
  COMMAND_MS,
  type JobQueue,
  type JobWorker,
  type LeaseHolder,
  PRESENCE_MS,
  quiet,
  readPresence,
  type SeenWorker,
  type Store,
  type StoreFacts,
  type WorkerPresence,
  workerOptions,
} from './store.ts';
import { queueFailure, saidBy } from './store-failure.ts';

type Packages = Awaited<ReturnType<typeof loadPostgres>>;
/** Where the coordinator is, for workers: the store only keeps it. */
type Addressed = { readonly address?: string };

const OLDEST_POSTGRES = '13.0';
/** To make tables, or to wait for a coordinator that makes them. */
const PREPARE_MS = 60_000;
const MOST_CONNECTIONS = 6;

const holderRow = z.object({
  token: z.string(),
  host: z.string(),
  since: z.coerce.number(),
  fence: z.coerce.number(),
  address: z.string(),
});

/** The lease is taken only where the number of the earlier holder is not forgotten, or somebody has the lease. */
const TAKE_LEASE = `SELECT (taken).* FROM (
  SELECT CASE WHEN $8::bigint = 0 OR EXISTS (
    SELECT FROM toolcrew.lease WHERE repository = $1 AND fence >= $8
    UNION ALL SELECT FROM toolcrew.held_lease WHERE repository = $1
  ) THEN toolcrew.take_lease($1, $2, $3, $4, $5, $6, $7) END AS taken OFFSET 0
) AS one`;

const names = z.array(z.object({ name: z.string() }));
const IS_SEEN = `seen_at > clock_timestamp() - interval '${PRESENCE_MS} ms'`;

function keyOf(repository: string): string {
  return repository.toLowerCase();
}

/** TLS by `sslmode` as PostgreSQL's own programs read it. Throws where a file cannot be read. */
function tlsOf({ hostname, searchParams }: URL): false | ConnectionOptions {
  const mode = searchParams.get('sslmode') ?? 'disable';
  if (mode === 'disable') return false;
  const contents = (name: string) => {
    const path = searchParams.get(name);
    return path === null ? undefined : readFileSync(path);
  };
  const [ca, cert, key] = ['sslrootcert', 'sslcert', 'sslkey'].map(contents);
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    // pg names a host by its name alone: an address would be looked for as `localhost`.
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    rejectUnauthorized: mode !== 'require' || ca !== undefined,
    ...(mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  };
}

function configOf(address: string): ClientConfig {
  const url = new URL(address);
  const ssl = tlsOf(url);
  url.search = '';
  return {
    ...{ connectionString: url.href, ssl, application_name: 'toolcrew', connectionTimeoutMillis: ANSWER_MS },
    ...{ keepAlive: true, keepAliveInitialDelayMillis: ANSWER_MS, options: `-c search_path=${SEARCH_PATH}` },
  };
}

export class PostgresStore implements Store {
  readonly #packages: Packages;
  readonly #url: string;
  readonly #config: ClientConfig;
  readonly #isMaker: boolean;
  readonly #pool: Pool;
  /** The same for BullMQ, whose types name the listeners otherwise. */
  readonly #bullPool: PgPool;
  readonly #queues: PostgresConnection;
  /** For BullMQ's classes: all queues of a store share its connections. */
  readonly #backend: BackendFactory<PostgresQueueBackend, PostgresConnectionOptions>;
  readonly #over = new AbortController();
  /** Why it gave no answer last; null: it answers. */
  problem: string | null = null;

  private constructor(packages: Packages, url: string, isMaker: boolean) {
    this.#packages = packages;
    this.#url = url;
    this.#isMaker = isMaker;
    this.#config = configOf(url);
    const more = { max: MOST_CONNECTIONS, query_timeout: COMMAND_MS, statement_timeout: COMMAND_MS };
    this.#pool = new packages.pg.Pool({ ...this.#config, ...more });
    this.#pool.on('error', () => undefined);
    this.#bullPool = this.#pool as unknown as PgPool;
    this.#queues = new packages.bullmq.PostgresConnection(this.#bullPool);
    this.#backend = (name, options) => new packages.bullmq.PostgresQueueBackend(this.#queues, name, options, false);
  }

  /**
   * Connects, and makes the tables or looks at them. Throws a ToolError.
   * @param command that npx runs, for the advice where packages are missing
   * @param isMaker makes and migrates tables: a coordinator
   */
  static async open(url: string, command: string, isMaker: boolean): Promise<PostgresStore> {
    const packages = await loadPostgres(command);
    let store: PostgresStore | undefined;
    try {
      store = new PostgresStore(packages, url, isMaker);
      void store.#watch(await store.#link());
      // BullMQ remembers a first failure for ever.
      await store.#queues.waitUntilReady();
      return store;
    } catch (error) {
      store?.close();
      throw queueFailure(url, error);
    }
  }

  /** A connection that does nothing but stand, on a database with tables that fit. */
  async #link(): Promise<Client> {
    const link = new this.#packages.pg.Client({ ...this.#config, query_timeout: PREPARE_MS });
    // Its end is an event of its own.
    link.on('error', (error) => {
      this.problem = saidBy(error);
    });
    try {
      await link.connect();
      await prepareTables(link, this.#packages.bullmq, this.#url, this.#isMaker);
      return link;
    } catch (error) {
      void link.end().catch(() => undefined);
      throw error;
    }
  }

  /** Knows of an interruption by the end of the link, and of its end by a new one. */
  async #watch(first: Client): Promise<void> {
    const { signal } = this.#over;
    let link: Client | null = first;
    for (let times = 1; !signal.aborted; times++) {
      if (link !== null) {
        await this.#endOf(link);
        this.problem ??= 'the connection ended';
        times = 1;
      }
      if (!signal.aborted) await delay(Math.min(100 * times, 2_000), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      link = await this.#link().catch((error: unknown) => {
        this.problem = saidBy(error);
        return null;
      });
      if (link !== null) this.problem = null;
    }
    void link?.end().catch(() => undefined);
  }

  /** Resolves when the connection is over; the end of the store ends it. */
  async #endOf(link: Client): Promise<void> {
    const { signal } = this.#over;
    const end = () => void link.end().catch(() => undefined);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    await new Promise<void>((resolve) => link.once('end', () => resolve()));
    signal.removeEventListener('abort', end);
  }

  async #rows(text: string, values: readonly unknown[] = []): Promise<unknown[]> {
    return (await this.#pool.query(text, [...values])).rows;
  }

  get address(): string {
    return shownQueueUrl(this.#url);
  }

  queue(name: string): JobQueue {
    const { Queue } = this.#packages.bullmq.withBackend(this.#backend);
    return quiet(new Queue<FleetJob>(name, { connection: this.#bullPool }));
  }

  worker(name: string, { lockMs }: { readonly lockMs: number }): JobWorker {
    const { Worker } = this.#packages.bullmq.withBackend(this.#backend);
    return quiet(new Worker<FleetJob>(name, null, { connection: this.#bullPool, ...workerOptions(lockMs, lockMs) }));
  }

  async about(): Promise<StoreFacts> {
    const [row] = await this.#rows("SELECT current_setting('server_version_num')::int AS number");
    const { number } = z.object({ number: z.number() }).parse(row);
    const version = `${Math.floor(number / 10_000)}.${number % 10_000}`;
    return { product: 'PostgreSQL', version, oldest: OLDEST_POSTGRES, evicts: null };
  }

  /** Has one job go through a queue of its own, by every command that attempts need. Throws a ToolError. */
  async probe(): Promise<void> {
    const name = `probe-${newToken().slice(0, 12)}`;
    try {
      await probeQueue(this, name);
      const presence = { name, labels: [], slots: 0, used: 0, version: '', draining: true, started_at: 0, sent_at: 0 };
      await this.announceWorker(presence);
      await this.forgetWorker(name);
      await Promise.all([this.queueNames(), this.fenceOf('')]);
    } catch (error) {
      throw queueFailure(this.#url, error);
    }
  }

  async announceQueue(name: string): Promise<void> {
    await this.#rows('INSERT INTO toolcrew.queue VALUES ($1) ON CONFLICT DO NOTHING', [name]);
  }

  async queueNames(): Promise<string[]> {
    return names.parse(await this.#rows('SELECT name FROM toolcrew.queue')).map(({ name }) => name);
  }

  async isLocked(queue: string, id: string): Promise<boolean> {
    const text =
      'SELECT FROM bullmq.job WHERE queue = $1 AND id = $2 AND lock_token IS NOT NULL AND locked_until_ms > toolcrew.now_ms()';
    return (await this.#rows(text, [queue, id])).length > 0;
  }

  async takeLease(
    repository: string,
    own: Omit<LeaseHolder, 'fence'> & Addressed,
    last: string,
    leaseMs: number,
    seen: number,
  ): Promise<(LeaseHolder & { readonly address: string }) | null> {
    const values = [keyOf(repository), own.token, own.host, own.since, own.address ?? '', last, leaseMs, seen];
    const [row] = await this.#rows(TAKE_LEASE, values);
    return z.object({ token: z.null() }).safeParse(row).success ? null : holderRow.parse(row);
  }

  async renewLease(repository: string, holder: LeaseHolder & Addressed, leaseMs: number): Promise<boolean> {
    const { token, host, since, address = '', fence } = holder;
    const values = [keyOf(repository), token, host, since, address, fence, leaseMs];
    const [row] = await this.#rows('SELECT toolcrew.renew_lease($1, $2, $3, $4, $5, $6, $7) AS is_held', values);
    return z.object({ is_held: z.boolean() }).parse(row).is_held;
  }

  /** The number stays, for the next holder. */
  async releaseLease(repository: string, { token }: LeaseHolder): Promise<void> {
    const text = 'UPDATE toolcrew.lease SET token = NULL WHERE repository = $1 AND token = $2';
    await this.#rows(text, [keyOf(repository), token]);
  }

  async heldLeases(repositories: readonly string[]): Promise<ReadonlySet<string>> {
    const text = 'SELECT repository AS name FROM toolcrew.held_lease WHERE repository = ANY($1::text[])';
    const held = new Set(names.parse(await this.#rows(text, [repositories.map(keyOf)])).map(({ name }) => name));
    return new Set(repositories.filter((one) => held.has(keyOf(one))));
  }

  async heldAddresses(): Promise<ReadonlyMap<string, string>> {
    const rows = z.array(z.object({ repository: z.string(), address: z.string() }));
    const held = rows.parse(await this.#rows('SELECT repository, address FROM toolcrew.held_lease'));
    return new Map(held.map(({ repository, address }) => [repository, address]));
  }

  async #held(repository: string) {
    const [row] = await this.#rows('SELECT * FROM toolcrew.held_lease WHERE repository = $1', [keyOf(repository)]);
    return row === undefined ? null : holderRow.parse(row);
  }

  async fenceOf(repository: string): Promise<number | null> {
    return (await this.#held(repository))?.fence ?? null;
  }

  /** What the holder of the lease wrote as its address; null: nobody has the lease. */
  async addressOf(repository: string): Promise<string | null> {
    return (await this.#held(repository))?.address ?? null;
  }

  readJournal(repository: string, from: number, most: number): Promise<JournalPart> {
    return readJournal(this.#pool, keyOf(repository), from, most);
  }

  appendJournal(
    repository: string,
    { token }: LeaseHolder,
    at: number,
    lines: readonly string[],
  ): Promise<JournalAnswer> {
    return appendJournal(this.#pool, keyOf(repository), token, at, lines);
  }

  compactJournal(repository: string, { token }: LeaseHolder, at: number, line: string): Promise<JournalAnswer> {
    return compactJournal(this.#pool, keyOf(repository), token, at, line);
  }

  async announceWorker(presence: WorkerPresence): Promise<void> {
    const text = `INSERT INTO toolcrew.worker VALUES ($1, $2, clock_timestamp()) ON CONFLICT (name)
      DO UPDATE SET presence = excluded.presence, seen_at = excluded.seen_at`;
    await this.#rows(text, [presence.name, JSON.stringify(presence)]);
  }

  async forgetWorker(name: string): Promise<void> {
    await this.#rows(`DELETE FROM toolcrew.worker WHERE name = $1 OR NOT (${IS_SEEN})`, [name]);
  }

  /** By their names. What cannot be read is left out. */
  async workers(): Promise<readonly SeenWorker[]> {
    const age = 'greatest(extract(epoch FROM clock_timestamp() - seen_at) * 1000, 0)';
    const rows = await this.#rows(`SELECT presence, ${age} AS seen FROM toolcrew.worker WHERE ${IS_SEEN}`);
    const seen = z.array(z.object({ presence: z.string(), seen: z.coerce.number() })).parse(rows);
    return seen
      .flatMap((one) => readPresence(one.presence, Math.round(one.seen)))
      .sort((a, b) => a.name.localeCompare(b.name));
  }

  close(): void {
    this.#over.abort();
    if (!this.#pool.ending) void this.#pool.end().catch(() => undefined);
  }
}
