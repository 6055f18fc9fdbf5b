// A fleet on one machine: a coordinator, four workers, and Redis or PostgreSQL; latency, throughput, load of the store, recovery.

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { agentRunning, COMMITS } from '../test/support/agents.ts';
import { Daemon } from '../test/support/daemon.ts';
import { FLEET_KEY, RedisServer, type StoreAddress, startWorker, type Worker } from '../test/support/fleet.ts';
import { BASE, startForge, type TestForge } from '../test/support/forge.ts';
import { PostgresServer } from '../test/support/postgres.ts';
import { type Cleanup, tempDir } from '../test/support/temp.ts';
import { median, type Row, withCleanup } from './figures.ts';
import { StatementCounter } from './statement-counter.ts';

const HOURS = 10 * 60 * 60_000;
/** Long enough for two cores with more agents at work than they can serve at once. */
const LEASE_MS = 10_000;
const WORKERS = 4;
/** Attempts of the throughput, two at a time on each worker. */
const ATTEMPTS = 32;
const ROUNDS = 20;
const QUIET_MS = 3_500;
const LATENCY_MS = 500;
const THROUGHPUT = 2;
/** Of the store, for each attempt. */
export const MOST_CALLS = 500;
export const MOST_BYTES = 100_000;
/** Attempts in flight when a worker is killed. */
const MANY = 24;
/** Three workers have room for all of them. */
const SLOTS = Math.ceil(MANY / (WORKERS - 1));
const IDLE_MS = 5_000;

type World = { readonly forge: TestForge; readonly daemon: Daemon; readonly directory: string };

/** Each agent leaves a file when it starts: its time is when. */
function scriptIn(directory: string, then: string): string {
  return `: > ${directory}/start-$TOOL_ISSUE-$TOOL_ATTEMPT; ${then}`;
}

function startOf({ directory }: World, issue: number): number | null {
  const path = join(directory, `start-${issue}-1`);
  return existsSync(path) ? statSync(path).mtimeMs : null;
}

async function world(t: Cleanup, store: StoreAddress | null, slots: number, then: string): Promise<World> {
  const forge = await startForge(t);
  const directory = join(tempDir(t), 'stamps');
  mkdirSync(directory);
  const queue = store === null ? '' : `queue: { url: $QUEUE_URL, key: $FLEET_KEY, lease_ms: ${LEASE_MS} }\n`;
  const daemon = await Daemon.create(t, forge, {
    ...{ pollMs: HOURS, server: 'webhook_secret: secret', env: { FLEET_KEY, QUEUE_URL: store?.url ?? '' } },
    yaml: `${queue}agent: { max_concurrent_agents: ${slots} }\n${agentRunning(scriptIn(directory, then.replaceAll('PLACE', directory)))}`,
  });
  return { forge, daemon, directory };
}

/** When agents started, of any attempt, ms since the epoch. */
function starts({ directory }: World): number[] {
  return readdirSync(directory)
    .filter((name) => name.startsWith('start-'))
    .map((name) => statSync(join(directory, name)).mtimeMs);
}

async function openIssues(forge: TestForge, count: number, label: string | null): Promise<number[]> {
  const issues: number[] = [];
  for (let number = 0; number < count; number++) issues.push(await forge.open(`Issue ${number}`, { label }));
  return issues;
}

function doneCount({ daemon }: World): number {
  return daemon.log.split('state changed to tool-done').length - 1;
}

/** From the first agent's start to the last label, ms. */
async function throughput(made: World): Promise<number> {
  const issues = await openIssues(made.forge, ATTEMPTS, 'tool-todo');
  made.daemon.start();
  await made.daemon.until('all are done', () => doneCount(made) === ATTEMPTS);
  const endedAt = Date.now();
  return endedAt - Math.min(...issues.map((issue) => startOf(made, issue) ?? endedAt));
}

/** From a label to the agent, ms each. */
async function latencies(made: World): Promise<number[]> {
  const { forge, daemon } = made;
  const issues = await openIssues(forge, ROUNDS, null);
  const config = { url: `http://127.0.0.1:${daemon.port}/webhooks/github`, content_type: 'json', secret: 'secret' };
  await forge.forge.call('maintainer', 'POST', `${BASE}/hooks`, { config, events: ['issues'] });
  const took: number[] = [];
  const before = doneCount(made);
  for (const [index, issue] of issues.entries()) {
    const labelledAt = Date.now();
    await forge.label(issue, 'tool-todo');
    await daemon.until('the agent', () => startOf(made, issue) !== null);
    took.push((startOf(made, issue) ?? 0) - labelledAt);
    await daemon.until('it is done', () => doneCount(made) === before + index + 1);
    await forge.forge.webhooks.settled();
    // Deliveries about what the daemon did itself are read one a second; a label seldom comes among them.
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  }
  return took;
}

export type Load = { readonly calls: number; readonly bytes: number };

/** What Redis did so far: commands, and bytes in and out. */
export async function loadOf(redis: RedisServer): Promise<Load> {
  const client = new Redis(redis.url);
  try {
    const text = `${await client.info('commandstats')}\n${await client.info('stats')}`;
    const sum = (pattern: RegExp) => [...text.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0);
    return { calls: sum(/^cmdstat_.*?calls=(\d+)/gm), bytes: sum(/^total_net_(?:in|out)put_bytes:(\d+)/gm) };
  } finally {
    client.disconnect();
  }
}

async function keptBytes(redis: RedisServer): Promise<number> {
  const client = new Redis(redis.url);
  try {
    const keys = await client.keys('toolcrew:*');
    const sizes = await Promise.all(keys.map((key) => client.memory('USAGE', key)));
    return sizes.reduce<number>((total, size) => total + Number(size ?? 0), 0);
  } finally {
    client.disconnect();
  }
}

export function p95(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil(0.95 * sorted.length) - 1] ?? Number.NaN;
}

async function startWorkers(t: Cleanup, store: StoreAddress, slots: number): Promise<Worker[]> {
  const workers = Array.from({ length: WORKERS }, (_, index) =>
    startWorker(t, `w${index + 1}`, store, ['--slots', String(slots)]),
  );
  await Promise.all(workers.map((worker) => worker.printed(/takes attempts from/)));
  return workers;
}

async function alone(): Promise<{ readonly took: number; readonly latency: number[] }> {
  return withCleanup(async (t) => {
    const made = await world(t, null, 2 * WORKERS, COMMITS);
    return { took: await throughput(made), latency: await latencies(made) };
  });
}

export async function fleetLoad(): Promise<Row[]> {
  const floor = await alone();
  return withCleanup(async (t) => {
    const redis = await RedisServer.start(t);
    const made = await world(t, redis, 2 * WORKERS, COMMITS);
    await startWorkers(t, redis, 2);
    const before = await loadOf(redis);
    const took = await throughput(made);
    const after = await loadOf(redis);
    const kept = await keptBytes(redis);
    const latency = await latencies(made);
    const idleBefore = await loadOf(redis);
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    const idle = ((await loadOf(redis)).calls - idleBefore.calls) / (IDLE_MS / 1000);
    const pulls = (await made.forge.pulls()).length;
    const perMinute = (ms: number) => `${((ATTEMPTS * 60_000) / ms).toFixed(0)} a minute`;
    const [calls, bytes] = [(after.calls - before.calls) / ATTEMPTS, (after.bytes - before.bytes) / ATTEMPTS];
    const latest = p95(latency);
    return [
      {
        what: `fleet: label → agent started on a worker, by webhook, p95 of ${ROUNDS}`,
        figure: `${latest.toFixed(0)} ms; median ${median(latency).toFixed(0)}`,
        floor: `${p95(floor.latency).toFixed(0)} ms; median ${median(floor.latency).toFixed(0)}: without a queue`,
        target: `≤ ${LATENCY_MS} ms`,
        met: latest <= LATENCY_MS,
      },
      {
        what: `fleet: ${ATTEMPTS} attempts of agents that only commit, ${WORKERS} workers with 2 slots on this machine`,
        figure: `${perMinute(took)}; ${pulls} pull requests`,
        floor: `${perMinute(floor.took)}: 8 agents without a queue`,
        target: `≥ 1/${THROUGHPUT} of the floor`,
        met: took <= THROUGHPUT * floor.took && pulls === ATTEMPTS + ROUNDS,
      },
      {
        what: `fleet: load of the store for each of ${ATTEMPTS} attempts, looks of idle slots included`,
        figure: `${calls.toFixed(0)} commands, ${(bytes / 1000).toFixed(1)} kB on the wire; ${kept} bytes are left of all`,
        floor: `${idle.toFixed(0)} commands a second: ${WORKERS} idle workers and the coordinator`,
        target: `≤ ${MOST_CALLS} commands, ≤ ${MOST_BYTES / 1000} kB`,
        met: calls <= MOST_CALLS && bytes <= MOST_BYTES,
      },
    ];
  });
}

/** The same load with PostgreSQL, between which and its clients all statements and bytes are counted. */
export async function fleetPostgres(): Promise<Row[]> {
  return withCleanup(async (t) => {
    const postgres = await PostgresServer.start(t);
    const database = await postgres.database();
    const counter = await StatementCounter.start(t, postgres.port);
    const store = { url: postgres.urlOf(database).replace(`:${postgres.port}/`, `:${counter.port}/`) };
    const made = await world(t, store, 2 * WORKERS, COMMITS);
    const issues = await openIssues(made.forge, ATTEMPTS, null);
    made.daemon.start();
    // The coordinator makes the tables.
    await made.daemon.until('the first poll', async () => (await made.daemon.state()).poll.last_at !== null);
    await startWorkers(t, store, 2);
    const size = async () =>
      Number((await postgres.run(database, `SELECT pg_database_size('${database}') AS size`))[0]?.size);
    const before = { calls: counter.calls, bytes: counter.bytes, size: await size() };
    const at = Date.now();
    for (const issue of issues) await made.forge.label(issue, 'tool-todo');
    await made.daemon.refresh();
    await made.daemon.until('all are done', () => doneCount(made) === ATTEMPTS);
    const took = Date.now() - at;
    const [calls, bytes] = [counter.calls - before.calls, counter.bytes - before.bytes];
    const grown = (await size()) - before.size;
    const idleFrom = counter.calls;
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    const idle = (counter.calls - idleFrom) / (IDLE_MS / 1000);
    const pulls = (await made.forge.pulls()).length;
    const each = { calls: calls / ATTEMPTS, kilobytes: bytes / ATTEMPTS / 1000 };
    return [
      {
        what: `fleet over PostgreSQL: load of the store for each of ${ATTEMPTS} attempts, looks of idle slots included`,
        figure: `${each.calls.toFixed(0)} statements, ${each.kilobytes.toFixed(1)} kB on the wire; the database has grown by ${(grown / ATTEMPTS / 1000).toFixed(1)} kB each`,
        floor: `${idle.toFixed(0)} statements a second: ${WORKERS} idle workers and the coordinator`,
        target: `≤ ${MOST_CALLS} statements, ≤ ${MOST_BYTES / 1000} kB`,
        met: each.calls <= MOST_CALLS && bytes / ATTEMPTS <= MOST_BYTES && pulls === ATTEMPTS,
      },
      {
        what: `fleet over PostgreSQL: ${ATTEMPTS} attempts of agents that only commit, ${WORKERS} workers with 2 slots`,
        figure: `${((ATTEMPTS * 60_000) / took).toFixed(0)} a minute, from the first label to the last; ${pulls} pull requests`,
        floor: '–',
        target: 'one pull request each',
        met: pulls === ATTEMPTS,
      },
    ];
  });
}

/** A worker is killed while its agents wait. */
export async function fleetRecovery(): Promise<Row[]> {
  return withCleanup(async (t) => {
    const redis = await RedisServer.start(t);
    const made = await world(t, redis, MANY, `while [ ! -e PLACE/go ]; do sleep 1; done; ${COMMITS}`);
    const { forge, daemon, directory } = made;
    const workers = await startWorkers(t, redis, SLOTS);
    await openIssues(forge, MANY, 'tool-todo');
    daemon.start();
    await daemon.until('all at work', () => starts(made).length >= MANY);
    let counts: number[] = [];
    await daemon.until('all are told of', async () => {
      const told = (await daemon.state()).workers ?? [];
      counts = workers.map(({ name }) => told.find((one) => one.name === name)?.used ?? 0);
      return counts.reduce((sum, count) => sum + count, 0) === MANY;
    });
    const killed = Math.max(...counts);
    const killedAt = Date.now();
    workers[counts.indexOf(killed)]?.signal('SIGKILL');
    const again = () => starts(made).filter((at) => at > killedAt);
    await daemon.until('all that it had goes on', () => again().length >= killed);
    const recovery = Math.min(...again()) - killedAt;
    const last = Math.max(...again()) - killedAt;
    writeFileSync(join(directory, 'go'), '');
    await daemon.until('all are done', () => doneCount(made) === MANY);
    const pulls = (await forge.pulls()).length;
    const failed = readFileSync(join(daemon.stateDir, 'journal.jsonl'), 'utf8').includes('"outcome":"failed"');
    return [
      {
        what: `fleet: SIGKILL of a worker with ${killed} agents → all of them at work elsewhere`,
        figure: `${(last / 1000).toFixed(1)} s, the first after ${(recovery / 1000).toFixed(1)} s; ${pulls} pull requests for ${MANY} issues`,
        floor: `${LEASE_MS / 1000} s: the lease`,
        target: `≤ ${LEASE_MS / 1000 + 5} s, one pull request each`,
        met: killed > 0 && last <= LEASE_MS + 5_000 && pulls === MANY && !failed,
      },
    ];
  });
}
