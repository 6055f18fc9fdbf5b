// The store of a queue in Redis, reached through BullMQ and ioredis, which are loaded at the first use alone.

import type { Redis } from 'ioredis';
import * as z from 'zod';
import { messageOf } from '../../base/rules/errors.ts';
import { shownQueueUrl } from '../../daemon/rules/queue-settings.ts';
import { newToken } from '../proofs.ts';
import type { FleetJob } from '../rules/job.ts';
import {
  APPEND_JOURNAL,
  COMPACT_JOURNAL,
  READ_JOURNAL,
  RELEASE_LEASE,
  RENEW_LEASE,
  type Script,
  TAKE_LEASE,
} from './lease-scripts.ts';
import { probeQueue } from './probe-queue.ts';
import { loadRedis } from './queue-packages.ts';
import {
  ANSWER_MS,
  COMMAND_MS,
  type JobQueue,
  type JobWorker,
  type JournalAnswer,
  type JournalPage,
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
import { queueFailure } from './store-failure.ts';

/** Begins every key in Redis. */
const PREFIX = 'toolcrew';
const QUEUES = `${PREFIX}:queues`;
const WORKERS = `${PREFIX}:workers:`;
/** BullMQ needs it. */
const OLDEST_REDIS = '6.2.0';

/** Keys of a repository's lease, and of the counter of its numbers. */
function leaseKey(repository: string): string {
  return `${PREFIX}:lease:${repository.toLowerCase()}`;
}

function fenceKey(repository: string): string {
  return `${PREFIX}:fence:${repository.toLowerCase()}`;
}

function journalKey(repository: string): string {
  return `${PREFIX}:journal:${repository.toLowerCase()}`;
}

const journalAnswer = z.enum(['done', 'lease_lost', 'elsewhere']);

export class RedisStore implements Store {
  readonly #bullmq: typeof import('bullmq');
  readonly #url: string;
  readonly client: Redis;
  /** Why it gave no answer last; null: it answers. */
  problem: string | null = null;

  private constructor(bullmq: typeof import('bullmq'), url: string, client: Redis) {
    this.#bullmq = bullmq;
    this.#url = url;
    this.client = client;
    client.on('error', (error) => {
      this.problem = messageOf(error);
    });
    client.on('ready', () => {
      this.problem = null;
    });
  }

  /**
   * Connects, and tries what a queue needs. Throws a ToolError.
   * @param command that npx runs, for the advice where packages are missing
   */
  static async open(url: string, command: string): Promise<RedisStore> {
    const { bullmq, Redis } = await loadRedis(command);
    const client = new Redis(url, {
      lazyConnect: true,
      // BullMQ's condition for what waits for jobs: a request lasts until there is an answer.
      maxRetriesPerRequest: null,
      connectTimeout: ANSWER_MS,
      // Nothing of ours waits for a job: whoever gets no answer goes on without one.
      commandTimeout: COMMAND_MS,
      // A connection may be dead without an end, as after the restart of a firewall.
      socketTimeout: COMMAND_MS,
      // Nobody waits for it by then: a request for a job would take one that nobody makes.
      autoResendUnfulfilledCommands: false,
      retryStrategy: (times) => Math.min(100 * times, 2_000),
    });
    const store = new RedisStore(bullmq, url, client);
    let timer: NodeJS.Timeout | undefined;
    try {
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(store.problem ?? 'no answer in 10 s')), ANSWER_MS);
      });
      await Promise.race([store.#try(), late]);
      return store;
    } catch (error) {
      client.disconnect();
      throw queueFailure(url, store.problem !== null && /closed/i.test(messageOf(error)) ? store.problem : error);
    } finally {
      clearTimeout(timer);
    }
  }

  async #try(): Promise<void> {
    await this.client.connect();
    // Without this, a number beyond those that it has is the number 0 without a word.
    const { db = 0 } = this.client.options;
    if (db !== 0) await this.client.select(db);
    const key = `${PREFIX}:probe`;
    await this.client.set(key, '1', 'PX', 1_000);
    // Everything that BullMQ does is a script.
    await this.client.eval("return redis.call('GET', KEYS[1])", 1, key);
  }

  get address(): string {
    return shownQueueUrl(this.#url);
  }

  queue(name: string): JobQueue {
    return quiet(new this.#bullmq.Queue<FleetJob>(name, { connection: this.client, prefix: PREFIX }));
  }

  worker(name: string, { lockMs }: { readonly lockMs: number }): JobWorker {
    const options = { connection: this.client, prefix: PREFIX, ...workerOptions(lockMs, lockMs / 3) };
    return quiet(new this.#bullmq.Worker<FleetJob>(name, null, options));
  }

  async about(): Promise<StoreFacts> {
    const text = `${await this.client.info('server')}\n${await this.client.info('memory')}`;
    const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(text)?.[1] ?? 'unknown';
    const eviction = field('maxmemory_policy');
    const evicts = eviction === 'noeviction' || eviction === 'unknown' ? null : eviction;
    return { product: 'Redis', version: field('redis_version'), oldest: OLDEST_REDIS, evicts };
  }

  /** Has one job go through a queue of its own, by every command that attempts need. Throws a ToolError. */
  async probe(): Promise<void> {
    const name = `probe-${newToken().slice(0, 12)}`;
    try {
      await this.announceQueue(name);
      await probeQueue(this, name);
    } catch (error) {
      throw queueFailure(this.#url, error);
    } finally {
      await this.client.srem(QUEUES, name).catch(() => undefined);
    }
  }

  /** Workers find the queues by this list. */
  async announceQueue(name: string): Promise<void> {
    await this.client.sadd(QUEUES, name);
  }

  queueNames(): Promise<string[]> {
    return this.client.smembers(QUEUES);
  }

  /** Whether a worker holds the job. */
  async isLocked(queue: string, id: string): Promise<boolean> {
    return (await this.client.exists(`${PREFIX}:${queue}:${id}:lock`)) === 1;
  }

  async takeLease(
    repository: string,
    own: Omit<LeaseHolder, 'fence'>,
    last: string,
    leaseMs: number,
    seen: number,
  ): Promise<LeaseHolder | null> {
    const keys = [leaseKey(repository), fenceKey(repository)];
    const values = [own.token, own.host, own.since, last, leaseMs, own.address, seen];
    const held = await this.#run(TAKE_LEASE, keys, values);
    if (held === null) return null;
    const [token, host, since, fence, address] = z
      .tuple([z.string(), z.string(), z.coerce.number(), z.coerce.number(), z.string().nullable()])
      .parse(held);
    return { token, host, since, fence, address: address ?? '' };
  }

  /** Writes the address of the holder anew. False: another coordinator has it, or had it since. */
  async renewLease(repository: string, holder: LeaseHolder, leaseMs: number): Promise<boolean> {
    const { token, host, since, fence, address } = holder;
    const keys = [leaseKey(repository), fenceKey(repository)];
    return (await this.#run(RENEW_LEASE, keys, [token, host, since, fence, leaseMs, address])) === 1;
  }

  async releaseLease(repository: string, { token }: LeaseHolder): Promise<void> {
    await this.#run(RELEASE_LEASE, [leaseKey(repository)], [token]);
  }

  async #run({ text, hash }: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    try {
      return await this.client.evalsha(hash, keys.length, ...keys, ...args);
    } catch (error) {
      if (!/NOSCRIPT/.test(messageOf(error))) throw error;
      return this.client.eval(text, keys.length, ...keys, ...args);
    }
  }

  async readJournal(repository: string, from: number, most: number): Promise<JournalPage> {
    const read = await this.#run(READ_JOURNAL, [journalKey(repository)], [from, most]);
    const [first, next, ...lines] = z.tuple([z.coerce.number(), z.coerce.number()]).rest(z.string()).parse(read);
    return { first, next, lines };
  }

  /** Only under the lease, and only at the next place. */
  async appendJournal(
    repository: string,
    { token, fence }: LeaseHolder,
    at: number,
    lines: readonly string[],
  ): Promise<JournalAnswer> {
    const keys = [leaseKey(repository), journalKey(repository)];
    return journalAnswer.parse(await this.#run(APPEND_JOURNAL, keys, [token, fence, at, ...lines]));
  }

  async compactJournal(
    repository: string,
    { token, fence }: LeaseHolder,
    at: number,
    line: string,
  ): Promise<JournalAnswer> {
    const keys = [leaseKey(repository), journalKey(repository)];
    return journalAnswer.parse(await this.#run(COMPACT_JOURNAL, keys, [token, fence, at, line]));
  }

  /** Those of the repositories that a coordinator acts for. */
  async heldLeases(repositories: readonly string[]): Promise<ReadonlySet<string>> {
    const found = await Promise.all(repositories.map((one) => this.client.exists(leaseKey(one))));
    return new Set(repositories.filter((_, index) => found[index] === 1));
  }

  async heldAddresses(): Promise<ReadonlyMap<string, string>> {
    const held = new Map<string, string>();
    for (const key of await this.#keys(leaseKey(''))) {
      const address = await this.client.hget(key, 'address');
      if (address !== null) held.set(key.slice(leaseKey('').length), address);
    }
    return held;
  }

  /** Keys that begin so. */
  async #keys(start: string): Promise<ReadonlySet<string>> {
    const keys = new Set<string>();
    let cursor = '0';
    do {
      const [next, found] = await this.client.scan(cursor, 'MATCH', `${start}*`, 'COUNT', 500);
      cursor = next;
      for (const key of found) keys.add(key);
    } while (cursor !== '0');
    return keys;
  }

  /** Number of the lease on a repository; null: nobody has it. */
  async fenceOf(repository: string): Promise<number | null> {
    const fence = await this.client.hget(leaseKey(repository), 'fence');
    return fence === null ? null : Number(fence);
  }

  /** What the holder of the lease wrote as its address; null: nobody has it. */
  addressOf(repository: string): Promise<string | null> {
    return this.client.hget(leaseKey(repository), 'address');
  }

  async announceWorker(presence: WorkerPresence): Promise<void> {
    await this.client.set(`${WORKERS}${presence.name}`, JSON.stringify(presence), 'PX', PRESENCE_MS);
  }

  async forgetWorker(name: string): Promise<void> {
    await this.client.del(`${WORKERS}${name}`);
  }

  /** By their names. What cannot be read is left out. */
  async workers(): Promise<readonly SeenWorker[]> {
    const rows = await Promise.all(
      [...(await this.#keys(WORKERS))].map(async (key) => {
        const [text, left] = await Promise.all([this.client.get(key), this.client.pttl(key)]);
        return text === null ? [] : readPresence(text, Math.max(0, PRESENCE_MS - left));
      }),
    );
    return rows.flat().sort((a, b) => a.name.localeCompare(b.name));
  }

  close(): void {
    this.client.disconnect();
  }
}
