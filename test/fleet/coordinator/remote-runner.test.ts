// The runner over the queue: what is handed in is taken within its time, and a measurement hands in nothing.

import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { RunHooks, Runner, RunRequest } from '../../../src/agents/ports.ts';
import { ToolError } from '../../../src/base/rules/errors.ts';
import { NO_SPAN } from '../../../src/base/rules/span.ts';
import type { AttemptQueue } from '../../../src/fleet/coordinator/attempt-queue.ts';
import { Coordinator } from '../../../src/fleet/coordinator/coordinator.ts';
import { RemoteRunner } from '../../../src/fleet/coordinator/remote-runner.ts';
import { takeProof } from '../../../src/fleet/proofs.ts';
import { attemptId, type FleetJob } from '../../../src/fleet/rules/job.ts';
import type { WorkCarrier } from '../../../src/fleet/work-carrier.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { tempDir } from '../../support/temp.ts';
import { evidenceOf, workflowWith } from '../../support/world.ts';

const KEY = 'a-key-of-sixteen-or-more';
const LIMIT_MS = 300_000;
const { signal } = new AbortController();

const HOOKS: RunHooks = {
  ...{ onStarted: async () => undefined, onEvent: () => undefined, output: () => undefined, signal },
  nextTurn: async () => null,
};
const REQUEST: RunRequest = {
  ...{ run: '', issue: 1, life: 1, attempt: 2, cwd: '', resume: null, prompt: 'p', issueText: 't', budgetUsd: null },
  ...{ env: { TOOL_BRANCH: 'b' }, labels: ['worker:gpu'] },
};

/** @param adopt what the workspace does with what is handed in */
function setUp(t: TestContext, adopt: (signal: AbortSignal) => Promise<void>, leaseMs = 1e9) {
  const clock = new FakeClock();
  const jobs: FleetJob[] = [];
  const packed: unknown[] = [];
  const queue = {
    has: async () => false,
    isHeld: async () => false,
    add: async (job: FleetJob) => void jobs.push(job),
    remove: async () => undefined,
  } as unknown as AttemptQueue;
  const settings = { queue, key: KEY, version: '1.0.0', leaseMs, maxBundleBytes: 1, insecure: false };
  const coordinator = new Coordinator({ ...settings, address: () => 'http://localhost:1' });
  const carrier = {
    pack: async (_: unknown, path: string, fills: { commit?: string }) => {
      packed.push(fills.commit);
      return { head: fills.commit ?? 'head', files: null, defaultBranch: 'main', base: 'base', path };
    },
    adopt: (_task: unknown, _path: unknown, _work: unknown, _limits: unknown, until: AbortSignal) => adopt(until),
  } as unknown as WorkCarrier;
  const runner = new RemoteRunner({
    ...{ coordinator, carrier, clock, repository: 'h/o/r', fence: 1, directory: tempDir(t), author: undefined },
    ...{ workflow: () => workflowWith({}), local: {} as Runner, labels: new Map(), onEvidence: async () => undefined },
    spanOf: () => NO_SPAN,
  });
  /** The attempt, with the worker that took it. */
  const taken = async () => {
    while (jobs.length === 0) await clock.settle();
    const job = jobs.shift() ?? assert.fail();
    const id = attemptId(job);
    const proof = takeProof(KEY, id, 'n', 'w');
    return { job, ...coordinator.take({ id, nonce: 'n', worker: 'w', version: '1.0.0', proof }) };
  };
  return { clock, runner, taken, packed };
}

const WELL = { end: { ok: true, words: 'well' }, returned: false } as const;

test('what is handed in is taken within five minutes, or refused by name', async (t) => {
  const { clock, runner, taken } = setUp(
    t,
    (until) => new Promise((_, reject) => until.addEventListener('abort', () => reject(new Error('git was ended')))),
  );
  const end = runner.run(REQUEST, HOOKS);
  const { attempt } = await taken();
  const handed = assert.rejects(
    attempt.work(null, { head: 'a', files: null }),
    (error) => error instanceof ToolError && error.code === 'bundle_slow',
  );
  await clock.settle();
  clock.stop(LIMIT_MS);
  await handed;
  await attempt.end({ ...WELL, evidence: null });
  clock.stop(1_000);
  assert.equal((await end).ok, true);
});

test('a measurement is a job of its own for the labels of the last attempt, and nothing of it is taken in', async (t) => {
  const { clock, runner, taken, packed } = setUp(t, async () => assert.fail());
  const end = runner.run(REQUEST, HOOKS);
  const first = await taken();
  await first.attempt.end({ ...WELL, evidence: null });
  await end;
  const task = { issue: 1, life: 1, attempt: 2, branch: 'b', env: {}, output: () => undefined };
  const request = { issue: 1, path: '', commit: 'sha', base: 'base', timeoutMs: 1, output: () => undefined };
  const measured = runner.measure(task, 7, request, signal);
  const { job, attempt } = await taken();
  assert.deepEqual([job.measurement, job.labels, first.job.measurement], [7, ['gpu'], undefined]);
  assert.notEqual(attempt.id, first.attempt.id);
  assert.deepEqual(
    [attempt.options.order.measures, attempt.options.order.head, packed],
    [true, 'sha', [undefined, 'sha']],
  );
  await attempt.work(null, { head: 'a', files: null });
  await attempt.end({ ...WELL, evidence: evidenceOf('sha') });
  clock.stop(1_000);
  assert.deepEqual((await measured).evidence, evidenceOf('sha'));
});

test('an agent is told that the session of an earlier attempt is gone, and only then', async (t) => {
  const { clock, runner, taken } = setUp(t, async () => undefined);
  for (const [resume, expected] of [
    [null, /^p$/],
    ['a-session', /^p\n\nAn earlier attempt .* session is gone/],
  ] as const) {
    const end = runner.run({ ...REQUEST, resume }, HOOKS);
    const { attempt } = await taken();
    assert.match(attempt.options.order.prompt, expected);
    await attempt.end({ ...WELL, evidence: null });
    clock.stop(1_000);
    await end;
  }
});

test('a worker that was heard between two looks is lost just after its lease', async (t) => {
  const { clock, runner, taken } = setUp(t, async () => undefined, 2_500);
  const end = runner.run(REQUEST, HOOKS);
  const { attempt, token } = await taken();
  await clock.pass(1_300);
  attempt.admit(token);
  let lostAt: number | null = null;
  void attempt.ended.then(() => {
    lostAt = clock.elapsed();
  });
  await clock.pass(2_500);
  assert.equal(lostAt, null);
  await clock.pass(1_000);
  assert.equal(lostAt, 3_801);
  const { ok } = await end;
  assert.equal(ok, false);
});
