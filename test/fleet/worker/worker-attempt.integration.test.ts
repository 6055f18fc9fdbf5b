// Attempts on a worker, with real agents and repositories: time limits, and work that the coordinator does not take.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { boundsOf, Isolation } from '../../../src/agents/isolation.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { endProcessesOfRun } from '../../../src/base/processes/processes.ts';
import { RuntimeDir } from '../../../src/base/processes/runtime-dir.ts';
import type { Refusal } from '../../../src/base/rules/codes.ts';
import { NO_SPAN } from '../../../src/base/rules/span.ts';
import { worksOf } from '../../../src/daemon/workspaces/workspace-saves.ts';
import type { Order, WorkCommits } from '../../../src/fleet/wire.ts';
import { CodeCache } from '../../../src/fleet/worker/code-cache.ts';
import { CoordinatorClient } from '../../../src/fleet/worker/coordinator-client.ts';
import { KeptWork } from '../../../src/fleet/worker/kept-work.ts';
import { Leftovers } from '../../../src/fleet/worker/leftovers.ts';
import { LifeSigns } from '../../../src/fleet/worker/life-signs.ts';
import { WorkerAttempt } from '../../../src/fleet/worker/worker-attempt.ts';
import { attemptOf, jobAt, ORDER, openCoordinator, SHARED_KEY, signed } from '../../support/fleet-coordinator.ts';
import { gitAs } from '../../support/forge.ts';
import { type Cleanup, finallyDo, tempDir } from '../../support/temp.ts';
import { workflowWith } from '../../support/world.ts';

const COMMIT = 'echo 1 > work.txt; git add -A; git -c user.name=a -c user.email=a@b commit -qm Work';

type Settings = {
  readonly script: string;
  readonly tool?: Partial<Order['tool']>;
  readonly root?: string;
  readonly hold?: (path: string) => Promise<void>;
};

/** A coordinator with one attempt, and a worker that has taken it. */
async function setUp(t: Cleanup, { script, tool, root, hold }: Settings) {
  const directory = tempDir(t);
  const source = join(directory, 'source');
  mkdirSync(source);
  const git = async (...args: string[]) => (await gitAs(source, ...args)).trim();
  await git('init', '--quiet', '--initial-branch=main');
  await git('commit', '--quiet', '--allow-empty', '--message', 'Begin');
  const head = await git('rev-parse', 'HEAD');
  await git('update-ref', `${worksOf(1)}/handed-out`, head);
  const bundle = join(directory, 'handed-out.bundle');
  await git('bundle', 'create', '--quiet', bundle, 'refs/heads/main', `${worksOf(1)}/handed-out`);
  const command = ['/bin/sh', '-e', '-c', script];
  const order: Order = { ...ORDER, head, base: head, tool: { ...ORDER.tool, command, ...tool } };
  const { coordinator, address } = await openCoordinator(t, hold === undefined ? {} : { hold });
  const job = signed(jobAt(address, { lease_ms: 60_000 }));
  const adopted: WorkCommits[] = [];
  let output: (text: string) => void = () => undefined;
  /** Resolves when the agent has said so. */
  const saidBy = (words: string) =>
    new Promise<void>((resolve) => {
      let said = '';
      output = (text) => {
        said += text;
        if (said.includes(words)) resolve();
      };
    });
  const attempt = attemptOf(job, {
    ...{ order, bundle, adopt: async (_, work) => void adopted.push(work) },
    hooks: {
      ...{ onStarted: async () => undefined, onEvent: () => undefined, nextTurn: async () => null },
      ...{ output: (text) => output(text), signal: new AbortController().signal },
    },
  });
  coordinator.add(attempt);
  const [cut, returning] = [new AbortController(), new AbortController()];
  const runtime = new RuntimeDir();
  finallyDo(t, () => runtime.close());
  const places = [join(directory, 'attempts'), root ?? join(directory, 'root')] as const;
  const own = { stateDir: join(places[0], attempt.id), root: join(places[1], attempt.id) };
  const kept = new KeptWork(join(directory, 'kept'));
  const logged: string[] = [];
  const log = {
    log: (_: unknown, __: unknown, message: string | Refusal) =>
      void logged.push(typeof message === 'string' ? message : message.of.code),
  };
  const isolation = () =>
    Isolation.probe(
      'off',
      boundsOf({
        ...{ stateDir: directory, workspaceRoot: places[1], workflowPath: directory, packageRoot: process.cwd() },
        ...{ env: process.env, runtimeDir: runtime.path },
      }),
    );
  let runs = 0;
  const worker = { key: SHARED_KEY, version: '1.0.0', clock: systemClock };
  const made = (client: CoordinatorClient) =>
    new WorkerAttempt({
      ...{ client, job, order, kept, id: attempt.id, defaults: workflowWith({}), runtime, isolation, log, ...own },
      ...{ env: process.env, clock: systemClock, returning: returning.signal },
      ...{ span: NO_SPAN, askedAt: 0, cache: new CodeCache(join(directory, 'code')) },
      signs: new LifeSigns(systemClock),
      newRun: () => {
        runs += 1;
        return `${attempt.id}-${process.pid}-${runs}`;
      },
      endRun: (run) => endProcessesOfRun(run, 1_000),
    });
  const client = new CoordinatorClient({ ...worker, job, worker: 'w', signal: cut.signal, onSilent: () => undefined });
  finallyDo(t, () => client.close());
  await client.take();
  const leftovers = new Leftovers({ ...worker, name: 'w', kept, places, log, attemptOf: (one) => made(one) });
  return {
    directory,
    coordinator,
    attempt,
    adopted,
    saidBy,
    cut,
    returning,
    own,
    places,
    kept,
    logged,
    leftovers,
    head,
    run: () => made(client).run(),
  };
}

const NEVER = new AbortController().signal;

test('an agent without a sign of life is ended on the worker, which says so and hands its work in', async (t) => {
  const { run, attempt, adopted } = await setUp(t, {
    script: `${COMMIT}; exec sleep 600`,
    tool: { stallTimeoutMs: 6_000 },
  });
  assert.equal(await run(), true);
  const end = await attempt.ended;
  assert.deepEqual(!end.ok && [end.fault, end.cutOff], ['agent', { kind: 'stalled', afterMs: 6_000 }]);
  assert.equal(adopted.length, 1);
});

test('a turn that takes too long ends on the worker', async (t) => {
  const { run, attempt } = await setUp(t, { script: 'exec sleep 600', tool: { turnTimeoutMs: 800 } });
  assert.equal(await run(), true);
  const end = await attempt.ended;
  assert.deepEqual(!end.ok && end.cutOff, { kind: 'turn_timeout', afterMs: 800 });
});

/** An attempt whose worker ends while the coordinator does not answer. */
async function cutOff(t: Cleanup) {
  let [isAway, isAsked]: [boolean, () => void] = [true, () => undefined];
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve;
  });
  const world = await setUp(t, {
    script: `${COMMIT}; echo 2 > loose.txt`,
    hold: async (path) => {
      if (!path.endsWith('/work') || !isAway) return;
      isAsked();
      await new Promise(() => undefined);
    },
  });
  const running = world.run().catch((error: unknown) => error);
  await asked;
  world.cut.abort(new Error('the worker ends'));
  await running;
  isAway = false;
  return world;
}

test('a worker that ends without an answer keeps the work, and hands it in at its next start', async (t) => {
  const { attempt, adopted, own, kept, logged, leftovers, directory, head } = await cutOff(t);
  assert.deepEqual([existsSync(own.root), existsSync(own.stateDir)], [false, false]);
  assert.ok(logged.includes('work_kept_on_worker'), logged.join());
  const source = join(directory, 'source');
  const bundle = kept.bundleOf(attempt.id);
  await gitAs(source, 'fetch', '--quiet', bundle, 'refs/heads/tool/issue-1:refs/heads/kept');
  const files = (await gitAs(source, 'ls-tree', '--name-only', 'kept')).trim().split('\n');
  assert.deepEqual(files, ['loose.txt', 'work.txt']);
  assert.equal(adopted.length, 0);
  await leftovers.find();
  await leftovers.handIn(NEVER);
  const tip = (await gitAs(source, 'rev-parse', 'kept')).trim();
  assert.deepEqual(adopted, [{ head: (await gitAs(source, 'rev-parse', 'kept^')).trim(), files: tip }]);
  assert.notEqual(adopted[0]?.head, head);
  const end = await attempt.ended;
  assert.deepEqual(!end.ok && end.cutOff, { kind: 'returned', worker: 'w' });
  // Until it is published.
  assert.equal((await kept.read(attempt.id)).handed, true);
  assert.ok(kept.hasBundle(attempt.id));
});

test('work that the coordinator takes no more stays, and is named', async (t) => {
  const { attempt, coordinator, adopted, kept, logged, leftovers } = await cutOff(t);
  coordinator.remove(attempt);
  logged.length = 0;
  await leftovers.find();
  await leftovers.handIn(NEVER);
  assert.deepEqual(logged, ['work_kept_on_worker']);
  assert.ok(kept.hasBundle(attempt.id));
  assert.deepEqual(adopted, []);
});

test('what a killed worker left is handed in from its workspace, and all else is removed', async (t) => {
  const { run, saidBy, attempt, adopted, places, own, directory, leftovers, returning, cut } = await setUp(t, {
    script: `${COMMIT}; echo 2 > loose.txt; echo begun; exec sleep 600`,
  });
  const begun = saidBy('begun');
  // It stands for the process that was killed: it does nothing more.
  const killed = run().catch((error: unknown) => error);
  await begun;
  for (const place of places) mkdirSync(join(place, 'stray', 'in'), { recursive: true });
  writeFileSync(join(places[0], 'stray', 'in', 'file'), '');
  await leftovers.find();
  await leftovers.handIn(NEVER);
  assert.equal(adopted.length, 1);
  assert.notEqual(adopted[0]?.files, null);
  const end = await attempt.ended;
  assert.deepEqual(!end.ok && end.cutOff, { kind: 'returned', worker: 'w' });
  assert.deepEqual(
    [...places, join(directory, 'kept')].map((place) => readdirSync(place)),
    [[], [], [`${attempt.id}.bundle`, `${attempt.id}.json`]],
  );
  cut.abort(new Error('over'));
  returning.abort();
  await killed;
  assert.equal(existsSync(own.root), false);
});

test('a machine that has no room says so to the coordinator, and to its worker', async (t) => {
  const { run, attempt } = await setUp(t, { script: 'true', root: join(process.cwd(), 'package.json') });
  assert.equal(await run(), false);
  const end = await attempt.ended;
  assert.deepEqual(!end.ok && end.fault, 'runtime');
});
