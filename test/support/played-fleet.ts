// A fleet in this process, over real Redis and real HTTP: one orchestrator in memory at a time, and workers whose agents are played.

import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import type { Clock } from '../../src/base/ports.ts';
import { NO_SPAN } from '../../src/base/rules/span.ts';
import type { AgentRequestHandler } from '../../src/daemon/ports.ts';
import { AttemptQueue } from '../../src/fleet/coordinator/attempt-queue.ts';
import { Coordinator } from '../../src/fleet/coordinator/coordinator.ts';
import { RemoteRunner } from '../../src/fleet/coordinator/remote-runner.ts';
import { RepositoryLease } from '../../src/fleet/coordinator/repository-lease.ts';
import { WorkerRequests } from '../../src/fleet/coordinator/worker-requests.ts';
import { RedisStore } from '../../src/fleet/store/redis-store.ts';
import type { WorkCarrier } from '../../src/fleet/work-carrier.ts';
import { Beats } from '../../src/fleet/worker/beats.ts';
import { LifeSigns } from '../../src/fleet/worker/life-signs.ts';
import { FleetWorker, type TakenAttempt } from '../../src/fleet/worker/worker.ts';
import { CutProxy } from './cut-proxy.ts';
import { FakeClock } from './fake-clock.ts';
import type { RedisServer } from './fleet.ts';
import { SHARED_KEY } from './fleet-coordinator.ts';
import { freePort } from './free-port.ts';
import { type Cleanup, finallyDo, tempDir } from './temp.ts';
import { World, workflowWith } from './world.ts';

const REPOSITORY = 'h/o/r';
const VERSION = '1.0.0';
const SILENT = { log: () => undefined };

/** Time passes by itself. */
class RealClock extends FakeClock {
  override now = systemClock.now;
  override elapsed = systemClock.elapsed;
  override sleep = systemClock.sleep;

  override async step(): Promise<boolean> {
    await systemClock.sleep(10, new AbortController().signal);
    return true;
  }
}

/** A commit that an agent made, by its name alone. */
function commitOf(issue: number, attempt: number): string {
  return createHash('sha1').update(`${issue}-${attempt}`).digest('hex');
}

type Leading = {
  readonly store: RedisStore;
  readonly queue: AttemptQueue;
  readonly lease: RepositoryLease;
  readonly runner: RemoteRunner;
  readonly coordinator: Coordinator;
  readonly server: Server;
  readonly left: AbortController;
};

/** One coordinator after the other, on the same journal and the same port. */
export class PlayedCoordinator {
  readonly world: World;
  readonly #directory: string;
  readonly #way: CutProxy;
  readonly #leaseMs: number;
  readonly #address: string;
  readonly #port: number;
  #leading: Leading | undefined;
  /** Leases that were lost so far. */
  lost = 0;
  #going: Promise<void> = Promise.resolve();
  /** The test has ended, maybe before there is a store again. */
  #isOver = false;

  private constructor(directory: string, port: number, way: CutProxy, address: string, of: PlayedOptions) {
    this.#directory = directory;
    this.#port = port;
    this.#way = way;
    this.#address = address;
    this.#leaseMs = of.leaseMs;
    const leading = () => {
      if (this.#leading === undefined) throw new Error('it does not lead');
      return this.#leading;
    };
    const options = {
      runner: () => leading().runner,
      agentSocket: { open: (handler: AgentRequestHandler) => leading().coordinator.socket.open(handler) },
    };
    const workflow = workflowWith({ agent: { maxConcurrent: of.slots, maxAttempts: 1, maxRetryBackoffMs: 100 } });
    this.world = new World({ ...workflow, polling: { intervalMs: 1_000 } }, options, new RealClock());
  }

  /** @param way to the store */
  static async create(t: Cleanup, way: CutProxy, of: PlayedOptions) {
    const port = await freePort();
    const toCoordinator = await CutProxy.start(t, () => port);
    const made = new PlayedCoordinator(tempDir(t), port, way, toCoordinator.address, of);
    finallyDo(t, () => made.close());
    return { made, toCoordinator };
  }

  async #lead(): Promise<Leading> {
    const { world } = this;
    const left = new AbortController();
    // Nothing goes on in a process that is gone.
    const sleep: Clock['sleep'] = (ms, signal) =>
      left.signal.aborted ? new Promise(() => undefined) : systemClock.sleep(ms, signal);
    const clock = { ...systemClock, sleep };
    let store: RedisStore | undefined;
    let lease: RepositoryLease | undefined;
    while (store === undefined || lease === undefined) {
      if (this.#isOver) {
        store?.close();
        throw new Error('the test is over');
      }
      store ??= await RedisStore.open(this.#way.url, '').catch(() => undefined);
      const leaseOf = { repository: REPOSITORY, leaseMs: this.#leaseMs, stateDir: this.#directory, clock, log: SILENT };
      if (store?.problem === null)
        lease = await RepositoryLease.take({ ...leaseOf, address: () => this.#address, store }).catch(() => undefined);
      if (lease === undefined) await clock.sleep(100, new AbortController().signal);
    }
    const queue = new AttemptQueue(store, SHARED_KEY, SILENT);
    const settings = { queue, key: SHARED_KEY, version: VERSION, leaseMs: this.#leaseMs, maxBundleBytes: 1_000_000 };
    const coordinator = new Coordinator({ ...settings, insecure: false, address: () => this.#address });
    const packed = { head: commitOf(0, 0), files: null, base: commitOf(0, 0), defaultBranch: 'main' };
    const carrier = {
      pack: async (_: unknown, path: string) => {
        writeFileSync(path, 'what the agent begins with');
        return { ...packed, path };
      },
      adopt: async ({ issue }: { readonly issue: number }, _: unknown, { head }: { readonly head: string }) =>
        void world.workspaces.heads.set(issue, head),
    } as unknown as WorkCarrier;
    const runner = new RemoteRunner({
      ...{ coordinator, carrier, repository: REPOSITORY, fence: lease.fence, directory: join(this.#directory, 'out') },
      spanOf: () => NO_SPAN,
      ...{ workflow: () => world.workflow, author: undefined, clock, labels: new Map() },
      local: { name: 'played', run: () => Promise.reject(new Error('no role is played')) },
      onEvidence: async () => undefined,
    });
    const requests = new WorkerRequests(coordinator, SILENT);
    const server = createServer((request, response) => void requests.serve(request.url ?? '', request, response));
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    await queue.removeOld(REPOSITORY, lease.fence).catch(() => undefined);
    return { store, queue, lease, runner, coordinator, server, left };
  }

  /** Takes the lease, however long that takes, and begins with what the journal says. */
  async begin(): Promise<void> {
    const leading = await this.#lead();
    this.#leading = leading;
    const { lost } = leading.lease;
    const onLost = () => {
      this.lost += 1;
      this.#going = this.#goOn(leading);
    };
    lost.addEventListener('abort', onLost, { once: true });
    await this.world.restart();
  }

  async #goOn(leading: Leading): Promise<void> {
    if (this.#leading !== leading) return;
    await this.world.stop();
    await this.#leave(leading);
    await this.begin();
  }

  async #leave({ store, server, left }: Leading): Promise<void> {
    this.#leading = undefined;
    left.abort();
    store.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  /** It is gone without a word, in the middle of whatever it did; the next one begins. */
  async replace(): Promise<void> {
    await this.#going;
    const leading = this.#leading;
    if (leading === undefined) return;
    this.world.kill();
    await this.#leave(leading);
    await this.begin();
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#going.catch(() => undefined);
    const leading = this.#leading;
    if (leading === undefined) return;
    await this.world.stop();
    await leading.lease.release();
    await this.#leave(leading);
  }
}

export type PlayedOptions = { readonly leaseMs: number; readonly slots: number };

/** A worker that reaches the store by a way of its own. */
export class PlayedWorker {
  readonly name: string;
  readonly #worker: FleetWorker;
  readonly #ended: Promise<void>;
  readonly #said: string[];

  private constructor(name: string, worker: FleetWorker, said: string[]) {
    this.name = name;
    this.#worker = worker;
    this.#said = said;
    this.#ended = worker.run().catch(() => undefined);
  }

  /** @param play what an agent does; false: it fails */
  static async start(
    t: Cleanup,
    name: string,
    way: CutProxy,
    slots: number,
    play: (issue: number, signal: AbortSignal) => Promise<boolean>,
  ): Promise<PlayedWorker> {
    const directory = tempDir(t);
    const said: string[] = [];
    const worker = new FleetWorker({
      store: await RedisStore.open(way.url, ''),
      ...{ key: SHARED_KEY, name, labels: [], slots, version: VERSION, once: false, clock: systemClock },
      log: { log: (_, __, what) => void said.push(typeof what === 'string' ? what : what.of.code) },
      make: (taken) => attempt(taken, directory, play),
    });
    const made = new PlayedWorker(name, worker, said);
    finallyDo(t, () => made.kill());
    return made;
  }

  /** What it said since so many lines. */
  said(since: number): readonly string[] {
    return this.#said.slice(since);
  }

  get lines(): number {
    return this.#said.length;
  }

  /** Its attempts get no further word from it, and its jobs none either. */
  async kill(): Promise<void> {
    await this.#worker.close();
    this.#worker.end();
    await this.#ended;
  }
}

async function attempt(
  { client, job, id }: TakenAttempt,
  directory: string,
  play: (issue: number, signal: AbortSignal) => Promise<boolean>,
): Promise<boolean> {
  const bundle = join(directory, `${id}.bundle`);
  const stop = new AbortController();
  const end = () => stop.abort();
  const signs = new LifeSigns(systemClock);
  const beats = new Beats({ client, signs, clock: systemClock, wantsWords: false, onStop: end, onFailure: end });
  beats.start();
  try {
    await client.code(bundle);
    await client.started(4_000);
    const isGood = await play(job.issue, stop.signal);
    if (isGood) await client.work(bundle, { head: commitOf(job.issue, job.attempt), files: null });
    await client.end({
      end: isGood ? { ok: true, words: 'done' } : { ok: false, words: 'out of ideas', fault: 'agent', resumable: true },
      returned: false,
      evidence: null,
    });
    return true;
  } finally {
    await beats.close();
  }
}

/** A way to a server that may start anew. */
export function wayTo(t: Cleanup, redis: RedisServer): Promise<CutProxy> {
  return CutProxy.start(t, () => redis.port);
}
