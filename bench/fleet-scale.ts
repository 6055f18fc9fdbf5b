// A large fleet on one machine: 10,000 open issues in 50 repositories, 20 workers, and 1,000 attempts in flight that wait.

import { closeSync, constants, mkdirSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { agentRunning, COMMITS } from '../test/support/agents.ts';
import type { Daemon } from '../test/support/daemon.ts';
import { FLEET_KEY, RedisServer, startWorker, type Worker } from '../test/support/fleet.ts';
import type { TestForge } from '../test/support/forge.ts';
import { type Cleanup, tempDir } from '../test/support/temp.ts';
import { daemonFor, type Repositories, startForges } from '../test/support/two-forges.ts';
import { median, type Row, withCleanup } from './figures.ts';
import { type Load, loadOf, MOST_BYTES, MOST_CALLS, p95 } from './fleet-load.ts';

const HOURS = 10 * 60 * 60_000;
const REPOSITORIES = 50;
const ISSUES = 10_000;
const WORKERS = 20;
/** One worker may be lost: all others together have room for its attempts. */
const SLOTS = 53;
const IN_FLIGHT = 1_000;
const ROUNDS = 20;
/** Attempts in flight, one after the other. Those of the rounds find a slot, and make them a thousand. */
const STEPS = [100, 300, IN_FLIGHT - ROUNDS] as const;
const QUIET_MS = 2_000;
const REFRESH_MS = 15_000;
const IDLE_MS = 20_000;
const COUNT_MS = 500;
const LATENCY_MS = 500;
const LEASE_MS = 30_000;
const COORDINATOR_MB = 1;
const WORKER_MB = 2;
const LONG_MS = 3_600_000;

type World = { readonly all: Repositories; readonly daemon: Daemon; readonly directory: string };

function resident(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1000;
}

/** Of the process, and of those of its children that have ended, ms. */
function processorOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return [11, 12, 13, 14].reduce((total, at) => total + Number(fields[at]), 0) * 10;
}

function countIn(directory: string, prefix: string): number {
  return readdirSync(directory).filter((name) => name.startsWith(prefix)).length;
}

async function open(t: Cleanup, redis: RedisServer): Promise<World> {
  const names = Array.from({ length: REPOSITORIES }, (_, index) => `shop-${index}`);
  const all = await startForges(t, names);
  const openAll = async (forge: TestForge) => {
    for (let number = 0; number < ISSUES / REPOSITORIES; number++) await forge.open(`Issue ${number}`, { label: null });
  };
  await Promise.all([...all.forges.values()].map(openAll));
  const directory = join(tempDir(t), 'stamps');
  mkdirSync(directory);
  execaSync`mkfifo ${join(directory, 'gate')}`;
  // An agent that waits costs nothing: it opens a pipe that nobody writes to yet.
  const stamp = `$(echo "$TOOL_REPO" | tr / _)-$TOOL_ISSUE`;
  const waits = `: > "${directory}/start-${stamp}"; [ -e ${directory}/go ] || cat < ${directory}/gate`;
  const yaml = [
    `queue: { url: "${redis.url}", key: $FLEET_KEY, lease_ms: ${LEASE_MS} }`,
    `agent: { max_concurrent_agents: ${IN_FLIGHT} }`,
    agentRunning(`${waits}; ${COMMITS}`),
  ].join('\n');
  const list = `repositories: [${names.map((name) => `maintainer/${name}`).join(', ')}]`;
  const more = { pollMs: HOURS, server: 'webhook_secret: secret', env: { FLEET_KEY } };
  const daemon = await daemonFor(t, all, list, yaml, more);
  daemon.start();
  const config = { url: `http://127.0.0.1:${daemon.port}/webhooks/github`, content_type: 'json', secret: 'secret' };
  await daemon.until('all are polled', async () => {
    const { repositories = [] } = await daemon.state();
    return repositories.length === REPOSITORIES && repositories.every(({ last_poll_at: at }) => at !== null);
  });
  for (const [repo, { forge }] of all.forges)
    await forge.call('maintainer', 'POST', `/repos/maintainer/${repo}/hooks`, { config, events: ['issues'] });
  return { all, daemon, directory };
}

/** The issues with these places in all: the next one is in the next repository. */
async function label({ all }: World, from: number, to: number): Promise<void> {
  const forges = [...all.forges.values()];
  for (let place = from; place < to; place++)
    await forges[place % REPOSITORIES]?.label(Math.floor(place / REPOSITORIES) + 1, 'tool-todo');
}

/** From a label to the agent while the others wait, ms each. */
async function latencies(world: World, from: number): Promise<number[]> {
  const took: number[] = [];
  for (let place = from; place < from + ROUNDS; place++) {
    const stamp = `start-maintainer_shop-${place % REPOSITORIES}-${Math.floor(place / REPOSITORIES) + 1}`;
    const path = join(world.directory, stamp);
    const labelledAt = Date.now();
    await label(world, place, place + 1);
    await world.daemon.until('the agent', () => countIn(world.directory, stamp) > 0);
    took.push(statSync(path).mtimeMs - labelledAt);
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  }
  return took;
}

/** Lets all agents go on that wait by now. */
function wake(directory: string): void {
  writeFileSync(join(directory, 'go'), '');
  try {
    closeSync(openSync(join(directory, 'gate'), constants.O_WRONLY | constants.O_NONBLOCK));
  } catch {
    // Nobody waits.
  }
}

type Recovery = { readonly killed: number; readonly first: number; readonly last: number };

/** Ends a worker without a word; gives the times until its agents are at work on others, ms. */
async function recovery({ daemon, directory }: World, worker: Worker): Promise<Recovery> {
  const used = async () => (await daemon.state()).workers?.find(({ name }) => name === worker.name)?.used ?? 0;
  await daemon.until('it has agents', async () => (await used()) > 0);
  const killed = await used();
  const killedAt = Date.now();
  worker.signal('SIGKILL');
  const again = () =>
    readdirSync(directory)
      .filter((name) => name.startsWith('start-'))
      .map((name) => statSync(join(directory, name)).mtimeMs - killedAt)
      .filter((ms) => ms > 0);
  await daemon.until('all that it had goes on', () => again().length >= killed, LONG_MS);
  return { killed, first: Math.min(...again()), last: Math.max(...again()) };
}

type Seen = {
  readonly count: number;
  readonly coordinator: number;
  readonly worker: number;
  readonly perMinute: number;
};

function memoryRow(who: 'coordinator' | 'worker', seen: readonly Seen[], most: number): Row {
  const [first, last] = [seen[0], seen.at(-1)];
  // Of a worker, for each attempt that it has itself.
  const attempts = ((last?.count ?? 0) - (first?.count ?? 0)) / (who === 'worker' ? WORKERS : 1);
  const each = ((last?.[who] ?? 0) - (first?.[who] ?? 0)) / attempts;
  return {
    what: `fleet of ${WORKERS} workers: resident memory of ${who === 'worker' ? 'a worker' : 'the coordinator'} with ${STEPS.join(', ')} attempts in flight`,
    figure: `${seen.map((one) => one[who].toFixed(0)).join(', ')} MB: ${each.toFixed(2)} MB for each further one`,
    floor: '–',
    target: `≤ ${most} MB for each`,
    met: each <= most,
  };
}

export async function fleetScale(): Promise<Row[]> {
  return withCleanup(async (t) => {
    const redis = await RedisServer.start(t);
    const world = await open(t, redis);
    const { daemon, directory, all } = world;
    const workers = Array.from({ length: WORKERS }, (_, index) =>
      startWorker(t, `w${index + 1}`, redis, ['--slots', String(SLOTS)]),
    );
    await Promise.all(workers.map((worker) => worker.printed(/takes attempts from/)));
    const before = await loadOf(redis);
    const spent = () => [daemon.pid, ...workers.map(({ pid }) => pid)].map(processorOf);
    const spentBefore = spent();
    const seen: Seen[] = [];
    let labelled = 0;
    for (const count of STEPS) {
      const at = Date.now();
      await label(world, labelled, count);
      let askedAt = Date.now();
      const areThere = async () => {
        // An issue that could not be read waits for a poll.
        if (Date.now() - askedAt > REFRESH_MS) await daemon.refresh();
        if (Date.now() - askedAt > REFRESH_MS) askedAt = Date.now();
        return countIn(directory, 'start-') >= count;
      };
      await daemon.until(`${count} in flight`, areThere, LONG_MS);
      const minutes = (Date.now() - at) / 60_000;
      const worker = workers.reduce((total, { pid }) => total + resident(pid), 0) / WORKERS;
      seen.push({ count, coordinator: resident(daemon.pid), worker, perMinute: (count - labelled) / minutes });
      labelled = count;
    }
    const started = await loadOf(redis);
    const spentIdle = spent();
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    const idle = (await loadOf(redis)).calls - started.calls;
    const shares = spent().map((ms, index) => (ms - (spentIdle[index] ?? 0)) / IDLE_MS);
    const latency = await latencies(world, labelled);
    const attempts = labelled + ROUNDS;
    const [lost] = workers;
    if (lost === undefined) throw new Error('no worker');
    const beforeKill = processorOf(lost.pid);
    const { killed, first, last } = await recovery(world, lost);
    const isDone = async () => {
      wake(directory);
      // To count them costs time that the fleet needs.
      await new Promise((resolve) => setTimeout(resolve, COUNT_MS));
      return daemon.log.split(/state changed to tool-(?:done|failed)/).length - 1 >= attempts;
    };
    const released = await loadOf(redis);
    const releasedAt = Date.now();
    await daemon.until('all are done', isDone, LONG_MS);
    const took = Date.now() - releasedAt;
    const after = await loadOf(redis);
    const left = [daemon.pid, ...workers.slice(1).map(({ pid }) => pid)].map(processorOf);
    const [own = 0, ...others] = [left[0] ?? 0, beforeKill, ...left.slice(1)].map(
      (ms, at) => ms - (spentBefore[at] ?? 0),
    );
    const pulls = (await Promise.all([...all.forges.values()].map((forge) => forge.pulls()))).flat().length;
    // What the store does for attempts that wait counts by the second, in a row of its own.
    const loadOfEach = (of: keyof Load) =>
      (started[of] - before[of]) / labelled + (after[of] - released[of]) / attempts;
    const [calls, bytes] = [loadOfEach('calls'), loadOfEach('bytes')];
    const latest = p95(latency);
    return [
      {
        what: `fleet of ${WORKERS} workers: label → agent started on a worker, by webhook, p95 of ${ROUNDS}, ${labelled} attempts in flight`,
        figure: `${latest.toFixed(0)} ms; median ${median(latency).toFixed(0)}`,
        floor: '–',
        target: `≤ ${LATENCY_MS} ms`,
        met: latest <= LATENCY_MS,
      },
      {
        what: `fleet of ${WORKERS} workers on this machine: ${attempts} attempts, ${ISSUES} open issues in ${REPOSITORIES} repositories`,
        figure: `${seen.map((one) => one.perMinute.toFixed(0)).join(', ')} starts a minute; ${((attempts * 60_000) / took).toFixed(0)} ends a minute; ${pulls} pull requests`,
        floor: `processor for each: ${(own / attempts).toFixed(0)} ms of the coordinator, ${(others.reduce((sum, ms) => sum + ms, 0) / attempts).toFixed(0)} of workers`,
        target: 'one pull request each',
        met: pulls === attempts,
      },
      {
        what: `fleet of ${WORKERS} workers: ${labelled} attempts in flight that only wait`,
        figure: `${((shares[0] ?? 0) * 100).toFixed(0)} % of a processor for the coordinator, ${(shares.slice(1).reduce((sum, one) => sum + one, 0) * 100).toFixed(0)} % for all workers`,
        floor: `${(idle / (IDLE_MS / 1000)).toFixed(0)} commands of the store a second`,
        target: '–',
        met: true,
      },
      {
        what: `fleet of ${WORKERS} workers: load of the store for the start and the end of each of ${attempts} attempts`,
        figure: `${calls.toFixed(0)} commands, ${(bytes / 1000).toFixed(1)} kB on the wire`,
        floor: '–',
        target: `≤ ${MOST_CALLS} commands, ≤ ${MOST_BYTES / 1000} kB`,
        met: calls <= MOST_CALLS && bytes <= MOST_BYTES,
      },
      {
        what: `fleet of ${WORKERS} workers: SIGKILL of one with ${killed} of ${attempts} agents → all of them at work elsewhere`,
        figure: `${(last / 1000).toFixed(1)} s, the first after ${(first / 1000).toFixed(1)} s; ${pulls} pull requests`,
        floor: `${LEASE_MS / 1000} s: the lease`,
        target: `≤ ${LEASE_MS / 1000 + 5} s, one pull request each`,
        met: last <= LEASE_MS + 5_000 && pulls === attempts,
      },
      memoryRow('coordinator', seen, COORDINATOR_MB),
      memoryRow('worker', seen, WORKER_MB),
    ];
  });
}
