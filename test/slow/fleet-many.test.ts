// Two hundred issues on four workers, all of them real processes, with faults all along: each ends done, or failed with its reason.

import assert from 'node:assert/strict';
import test from 'node:test';
import { agentRunning } from '../support/agents.ts';
import { CutProxy } from '../support/cut-proxy.ts';
import type { Daemon } from '../support/daemon.ts';
import { RedisServer, startCoordinator, startWorker, type Worker } from '../support/fleet.ts';
import { type Ended, endOf } from '../support/fleet-ends.ts';
import { BASE, startForge } from '../support/forge.ts';
import { randomFrom } from '../support/random.ts';
import type { Cleanup } from '../support/temp.ts';

/** Opened before each fault. */
const ISSUES_EACH = 29;
const WORKERS = 4;
const SLOTS = 2;
/** Another number is another story. */
const SEED = 1;
const LEASE_MS = 3_000;
/** Each of these issues fails by itself, and no other one may: there is one try. */
const FAILS_EACH = 9;
const FAULTS = ['kill', 'stop', 'restart', 'coordinator', 'cut_store', 'cut_coordinator', 'cut_both'] as const;
type Fault = (typeof FAULTS)[number];

type Seat = { worker: Worker; readonly toStore: CutProxy };

class Story {
  readonly #t: Cleanup;
  readonly #random: () => number;
  readonly #daemon: Daemon;
  readonly #redis: RedisServer;
  /** Of the coordinator to the store, and of all workers to the coordinator. */
  readonly #ways: { readonly store: CutProxy; readonly coordinator: CutProxy };
  readonly #seats: Seat[] = [];
  readonly played: string[] = [];
  #started = 0;
  #left: readonly Fault[] = FAULTS;

  constructor(t: Cleanup, daemon: Daemon, redis: RedisServer, ways: { store: CutProxy; coordinator: CutProxy }) {
    this.#t = t;
    this.#random = randomFrom(SEED);
    this.#daemon = daemon;
    this.#redis = redis;
    this.#ways = ways;
  }

  async begin(): Promise<void> {
    for (let number = 0; number < WORKERS; number++) {
      const toStore = await CutProxy.start(this.#t, () => this.#redis.port);
      this.#seats.push({ worker: this.#start(toStore), toStore });
    }
  }

  #start(toStore: CutProxy): Worker {
    this.#started += 1;
    return startWorker(this.#t, `w${this.#started}`, toStore, ['--slots', String(SLOTS)]);
  }

  #pick<T>(all: readonly T[]): T {
    return all[Math.floor(this.#random() * all.length)] ?? assert.fail();
  }

  /** Each comes once. */
  #next(): Fault {
    const fault = this.#pick(this.#left);
    this.#left = this.#left.filter((one) => one !== fault);
    return fault;
  }

  /** Begins a fault, and ends it by what others say of it. */
  async play(isOver: () => Promise<boolean>): Promise<void> {
    const fault = this.#next();
    const seat = this.#pick(this.#seats);
    const forgets = this.#random() < 0.5;
    this.played.push(`${fault} ${seat.worker.name}${forgets ? ' forgets' : ''}`);
    const daemon = this.#daemon;
    const from = daemon.log.length;
    /** Whatever was awaited does not come when nothing is left to do. */
    const said = (text: RegExp) =>
      daemon.until(String(text), async () => text.test(daemon.log.slice(from)) || isOver());
    switch (fault) {
      case 'kill':
        seat.worker.signal('SIGKILL');
        await seat.worker.ended;
        seat.worker = this.#start(seat.toStore);
        return;
      case 'stop':
        seat.worker.signal('SIGSTOP');
        await said(new RegExp(`The worker ${seat.worker.name} fell silent`));
        seat.worker.signal('SIGCONT');
        return;
      case 'restart':
        await this.#redis.stop();
        await this.#redis.begin();
        return;
      case 'coordinator':
        await daemon.stop('SIGKILL');
        daemon.start();
        return;
      case 'cut_store': {
        seat.toStore.cut();
        const before = seat.worker.stderr.length;
        await daemon.until('it notices', async () => /queue_inter/.test(seat.worker.stderr.slice(before)) || isOver());
        seat.toStore.mend({ forgets });
        return;
      }
      case 'cut_coordinator': {
        this.#ways.coordinator.cut();
        const { worker } = seat;
        const before = worker.stderr.length;
        await daemon.until(
          'it notices',
          async () => /coordinator_(?:silent|unreachable)/.test(worker.stderr.slice(before)) || isOver(),
        );
        this.#ways.coordinator.mend({ forgets });
        return;
      }
      case 'cut_both':
        this.#ways.store.cut();
        await said(/repository_lease_lost/);
        this.#ways.store.mend({ forgets });
    }
  }
}

test('two hundred issues on four workers, with faults all along', async (t) => {
  t.diagnostic(`seed ${SEED}`);
  const startedAt = Date.now();
  const [forge, redis] = await Promise.all([startForge(t), RedisServer.start(t)]);
  let port = 0;
  const ways = {
    store: await CutProxy.start(t, () => redis.port),
    coordinator: await CutProxy.start(t, () => port),
  };
  const issues: number[] = [];
  const script = `[ $((TOOL_ISSUE % ${FAILS_EACH})) != 0 ] || { echo "out of ideas"; exit 3; }; echo "done by $TOOL_ATTEMPT" >> "work-$TOOL_ISSUE.txt"; git add -A; git commit -qm "Do the work"`;
  const agent = `agent: { max_attempts: 1, max_retry_backoff_ms: 100, max_concurrent_agents: ${WORKERS * SLOTS} }`;
  const daemon = await startCoordinator(t, forge, ways.store, {
    ...{
      yaml: `${agent}\n${agentRunning(script)}`,
      queue: `address: "${ways.coordinator.address}"`,
      leaseMs: LEASE_MS,
      pollMs: 500,
    },
  });
  port = daemon.port;
  const story = new Story(t, daemon, redis, ways);
  await story.begin();
  /** How many issues have no end yet. One request: the service counts them. */
  const due = async () => {
    const ended = issues.filter((issue) => new RegExp(`issue #${issue} state changed to tool-`).test(daemon.log));
    if (ended.length === issues.length) return 0;
    const path = `${BASE}/issues?labels=tool-todo&state=open&per_page=100`;
    const { status, data } = await forge.forge.call('maintainer', 'GET', path);
    assert.equal(status, 200);
    return Array.isArray(data) ? data.length : assert.fail();
  };
  for (const _ of FAULTS) {
    for (let number = 0; number < ISSUES_EACH; number++) issues.push(await forge.open('Do it'));
    await daemon.until('some have ended', async () => (await due()) <= ISSUES_EACH - 2);
    await story.play(async () => (await due()) === 0);
  }
  await daemon.until('all have ended', async () => (await due()) === 0);
  t.diagnostic(`${story.played.length} faults: ${story.played.join(', ')}; ${Date.now() - startedAt} ms`);
  const heads = (await forge.pulls()).map(({ head }) => head);
  const ends = new Map<number, Ended>();
  for (const issue of issues) ends.set(issue, await endOf(forge, issue, heads));
  for (const [issue, end] of ends) {
    const isBad = issue % FAILS_EACH === 0;
    assert.deepEqual(end.labels, [isBad ? 'tool-failed' : 'tool-done'], `#${issue}: ${end.comments.join('\n')}`);
    assert.equal(end.pulls, isBad ? 0 : 1, `#${issue}`);
    if (isBad) assert.match(end.comments.join('\n'), /out of ideas/);
  }
  const failed = [...daemon.log.matchAll(/attempt \d+ on issue #\d+ failed/g)].length;
  assert.equal(failed, issues.filter((issue) => issue % FAILS_EACH === 0).length);
});
