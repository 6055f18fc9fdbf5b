// A coordinator of the fleet in this process: its routes on a port of its own, and attempts that a test gives it.

import { createServer } from 'node:http';
import { systemClock } from '../../src/base/clock.ts';
import type { AttemptQueue } from '../../src/fleet/coordinator/attempt-queue.ts';
import { Coordinator } from '../../src/fleet/coordinator/coordinator.ts';
import type { KeptCommits } from '../../src/fleet/coordinator/kept-commits.ts';
import { RemoteAttempt, type RemoteAttemptOptions } from '../../src/fleet/coordinator/remote-attempt.ts';
import { WorkerRequests } from '../../src/fleet/coordinator/worker-requests.ts';
import { jobProof } from '../../src/fleet/proofs.ts';
import type { FleetJob } from '../../src/fleet/rules/job.ts';
import type { Order, SignedJob } from '../../src/fleet/wire.ts';
import { type Cleanup, finallyDo } from './temp.ts';

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
