// Coordinators of the fleet in this process: the routes of one on a port of its own, with attempts that a test gives it, and one that
// waits for another.

import { EventEmitter, once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../src/base/clock.ts';
import type { AttemptQueue } from '../../src/fleet/coordinator/attempt-queue.ts';
import { Coordinator } from '../../src/fleet/coordinator/coordinator.ts';
import { CoordinatorRequests, type Shared } from '../../src/fleet/coordinator/coordinator-requests.ts';
import type { KeptCommits } from '../../src/fleet/coordinator/kept-commits.ts';
import { OtherCoordinators } from '../../src/fleet/coordinator/other-coordinators.ts';
import { RemoteAttempt, type RemoteAttemptOptions } from '../../src/fleet/coordinator/remote-attempt.ts';
import { WorkerRequests } from '../../src/fleet/coordinator/worker-requests.ts';
import { jobProof, provenAddress } from '../../src/fleet/proofs.ts';
import type { FleetJob } from '../../src/fleet/rules/job.ts';
import type { Order, SignedJob } from '../../src/fleet/wire.ts';
import { FakeClock } from './fake-clock.ts';
import { type Cleanup, finallyDo } from './temp.ts';
import { viewWith } from './view.ts';

/** A repository that is open, and of which no worker keeps anything. */
export const NOTHING_KEPT = {
  admits: () => false,
  awaits: () => false,
  fates: () => ({ forget: [], bring: [] }),
} as unknown as KeptCommits;

export const SHARED_KEY = 'a-key-of-sixteen-or-more';

/** `hold`: before a request is answered. */
export async function openCoordinator(
  t: Cleanup,
  of: { readonly key?: string; readonly version?: string; readonly hold?: (path: string) => Promise<void> } = {},
) {
  const { key = SHARED_KEY, version = '1.0.0', hold = async () => undefined } = of;
  // No rule of the coordinator's asks the queue.
  const queue = {} as AttemptQueue;
  const settings = { queue, key, version, leaseMs: 1_000, maxBundleBytes: 1024 * 1024, insecure: false };
  const coordinator = new Coordinator({ ...settings, address: () => '' });
  coordinator.keeps('h/o/r', NOTHING_KEPT);
  const workerRequests = new WorkerRequests(coordinator, { log: () => undefined });
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    seen.push(path);
    void hold(path).then(() => workerRequests.serve(path, request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const place = server.address();
  const address = `http://127.0.0.1:${typeof place === 'object' && place !== null ? place.port : 0}`;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  finallyDo(t, close);
  return { coordinator, address, seen, close };
}

export function jobAt(coordinator: string, change: Partial<FleetJob> = {}): FleetJob {
  return {
    ...{ coordinator, insecure: false, repository: 'h/o/r', issue: 1, life: 1, attempt: 1, fence: 1, labels: [] },
    ...{ version: '1.0.0', lease_ms: 1_000, ...change },
  };
}

export function signed(job: FleetJob, key = SHARED_KEY): SignedJob {
  return { ...job, proof: jobProof(key, job) };
}

export function attemptOf(job: FleetJob, change: Partial<RemoteAttemptOptions> = {}): RemoteAttempt {
  const hooks = {
    ...{ onStarted: async () => undefined, onEvent: () => undefined, output: () => undefined },
    ...{ nextTurn: async () => null, signal: new AbortController().signal },
  };
  return new RemoteAttempt({
    ...{ job, order: ORDER, bundle: '', hooks, handler: null, clock: systemClock },
    ...{ adopt: async () => undefined, onEvidence: async () => undefined, ...change },
  });
}

export const ORDER: Order = {
  ...{ issue: 1, life: 1, attempt: 1, slug: { owner: 'o', repo: 'r' }, branch: 'tool/issue-1' },
  ...{ default_branch: 'main', base: 'a'.repeat(40), head: 'a'.repeat(40), files: null },
  ...{ prompt: 'p', issue_text: 't', round: null, budget_usd: null, max_bundle_bytes: 1024 * 1024, author: null },
  hooks: { afterCreate: null, beforeRun: null, afterRun: null, beforeRemove: null, timeoutMs: 60_000 },
  gate: { mode: 'off', timeoutMs: 60_000, maxRounds: 1 },
  tool: {
    ...{ runtime: 'command', command: ['true'], agent: null, mode: 'agent', permissionMode: 'default' },
    ...{ isolation: 'off', stallTimeoutMs: 0, turnTimeoutMs: 3_600_000, startTimeoutMs: 0 },
    ...{ allowedTools: [], env: [] },
  },
};

async function listening(t: Cleanup, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  finallyDo(t, async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export const NO_ROWS = { running: [], retrying: [], asking: [], following: [], queued: [], completed: [] };

/** A coordinator that acts for `h/o/b`, below a path of its address, and one that waits for it. */
export async function openPair(
  t: Cleanup,
  of: Partial<Pick<Shared, 'needsToken'>> & { readonly hasToken?: boolean } = {},
) {
  const events = new EventEmitter();
  const world = {
    orders: [] as string[],
    view: (limit: number): unknown => ({ view: viewWith({ ...NO_ROWS, slots: limit }), places: NO_ROWS }),
    /** Each holds a request back, in the order of their coming. */
    held: [] as Promise<unknown>[],
    isSilent: false,
    /** An order is carried out, and its answer is lost. */
    losesAnswers: false,
  };
  const shared: Shared = {
    needsToken: of.needsToken ?? false,
    view: (repositories, { limit }) => ({
      ...{ repositories: repositories.map(({ name }) => name), isAlone: false },
      view: world.view(limit) as ReturnType<Shared['view']>['view'],
    }),
    steer: async (command, issue, repository) => {
      world.orders.push(`${command} ${repository}#${issue}`);
      if (world.losesAnswers) proxy.closeAllConnections();
      return { issue, command, standing: 'paused' };
    },
    tell: async (issue, text) => {
      world.orders.push(`tell #${issue} ${text}`);
      return { issue, command: 'tell', standing: 'running' };
    },
    deliver: () => undefined,
    refresh: () => undefined,
    answer: async ({ url }, response) => void response.end(`the page ${url}`),
  };
  const start = () =>
    new CoordinatorRequests({ key: SHARED_KEY, version: '1.0.0', log: { log: () => undefined }, shared });
  let requests = start();
  const proxy = createServer((request, response) => {
    const { url = '' } = request;
    if (!url.startsWith('/crew/')) return void response.writeHead(404).end('there is nothing');
    if (world.isSilent) return void response.destroy();
    // As a proxy does that has the coordinator below a path.
    request.url = url.slice('/crew'.length);
    events.emit('asked');
    const path = request.url.split('?')[0] ?? '';
    void Promise.resolve(world.held.shift()).then(() => requests.serve(path, request, response));
  });
  const address = `${await listening(t, proxy)}/crew`;
  const clock = new FakeClock();
  const others = new OtherCoordinators({
    ...{ key: SHARED_KEY, version: '1.0.0', clock, address: () => 'http://localhost:1' },
    store: { problem: null, addressOf: async (repository) => provenAddress(SHARED_KEY, repository, address) },
  });
  finallyDo(t, () => others.close());
  const waiting = { isAlone: false, hasToken: of.hasToken ?? true, waited: () => [{ name: 'h/o/b', rank: 0 }] };
  const looked = once(events, 'changed');
  others.watch(waiting, () => events.emit('changed'));
  await looked;
  const front = createServer((request, response) => {
    const passed = others.passOn('h/o/b', request, response, waiting.hasToken);
    void passed.then((why) => why && response.writeHead(503).end(why.of.code));
  });
  return {
    ...{ world, others, clock, address, asked: () => once(events, 'asked'), changed: () => once(events, 'changed') },
    front: await listening(t, front),
    restart: () => {
      requests = start();
    },
  };
}
