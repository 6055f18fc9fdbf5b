// A worker and its jobs, with real stores and coordinators on loopback: what becomes of a job that it cannot make.

import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../../src/base/clock.ts';
import { type Refusal, textOf } from '../../../src/base/rules/codes.ts';
import { ToolError } from '../../../src/base/rules/errors.ts';
import { AttemptQueue } from '../../../src/fleet/coordinator/attempt-queue.ts';
import { attemptId } from '../../../src/fleet/rules/job.ts';
import { FleetWorker, type WorkerOptions } from '../../../src/fleet/worker/worker.ts';
import { attemptOf, jobAt, openCoordinator, SHARED_KEY } from '../../support/fleet-coordinator.ts';
import { freePort } from '../../support/free-port.ts';
import { type StoreBed, takeLease, testStores } from '../../support/stores.ts';
import { type Cleanup, finallyDo } from '../../support/temp.ts';
import { within } from '../../support/within.ts';

const OTHER_KEY = 'another-key-of-sixteen';
const LEASE = { token: 't', host: 'machine', since: 1, address: '' };

async function setUp(t: Cleanup, bed: StoreBed) {
  const log = { log: () => undefined };
  const queueOf = async (key: string) => {
    const queue = new AttemptQueue(await bed.open(), key, log);
    finallyDo(t, () => queue.close());
    return queue;
  };
  const [queue, store] = [await queueOf(SHARED_KEY), await bed.open()];
  finallyDo(t, () => store.close());
  /** The number of a lease that is held. */
  const hold = async (repository: string) => (await takeLease(store, repository, LEASE, '', 600_000)).fence;
  const start = async (change: Partial<WorkerOptions> = {}) => {
    const said: string[] = [];
    const heard: (() => void)[] = [];
    const tell = (words: string) => {
      said.push(words);
      for (const one of heard) one();
    };
    /** Resolves when it has said so. */
    const says = (words: RegExp) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (said.some((one) => words.test(one))) resolve();
        };
        heard.push(look);
        look();
      });
    const toText = (message: string | Refusal) =>
      typeof message === 'string' ? message : `${textOf(message)} ${message.of.code}`;
    const worker = new FleetWorker({
      ...{
        store: change.store ?? (await bed.open()),
        key: SHARED_KEY,
        name: 'w',
        labels: [],
        slots: 1,
        version: '1.0.0',
      },
      ...{ once: false, clock: systemClock, log: { log: (_, __, message) => tell(toText(message)) } },
      make: async ({ id }) => {
        tell(`made ${id}`);
        return true;
      },
      ...change,
    });
    const ended = worker.run().then(
      () => null,
      (error: unknown) => error,
    );
    finallyDo(t, async () => {
      worker.end();
      await ended;
      await worker.close();
    });
    return { worker, ended, said, says };
  };
  return { queueOf, queue, store, hold, start };
}

function codeOf(error: unknown): readonly unknown[] {
  return error instanceof ToolError ? [error.code, error.exitCode] : [error];
}

testStores(
  'jobs with another key, of an earlier lease or of a fleet beside do not end a worker, which makes its own',
  async (t, bed) => {
    const { queue, queueOf, hold, start } = await setUp(t, bed);
    const [own, other] = await Promise.all([openCoordinator(t), openCoordinator(t, { key: OTHER_KEY })]);
    const [fence, beside] = [await hold('h/o/r'), await hold('h/o/beside')];
    const foreign = await queueOf(OTHER_KEY);
    const of = { address: own.address, fence };
    const jobs = {
      // Its coordinator has the key of the worker: it signed no such job.
      forged: jobAt(of.address, { fence, issue: 2 }),
      // Nobody acts for the repository, and nobody answers.
      dead: jobAt(`http://127.0.0.1:${await freePort()}`, { repository: 'h/o/gone', issue: 3, version: '0.1.0' }),
      old: jobAt(of.address, { fence: fence - 1, issue: 4, version: '0.1.0' }),
      beside: jobAt(other.address, { repository: 'h/o/beside', fence: beside, issue: 5 }),
      own: jobAt(of.address, { fence, issue: 6 }),
    };
    own.coordinator.add(attemptOf(jobs.own));
    // A worker of which it is not known yet whether its key is right ends at a job of another fleet: one of its own first.
    await queue.add({ ...jobs.own, issue: 1 }, 1);
    await foreign.add(jobs.forged, 2);
    await queue.add(jobs.dead, 2);
    await queue.add(jobs.old, 2);
    await foreign.add(jobs.beside, 2);
    await queue.add(jobs.own, 3);
    const { ended, says, said, worker } = await start();
    await says(new RegExp(`made ${attemptId(jobs.own)}`));
    worker.drain('finish');
    assert.equal(await ended, null, said.join('\n'));
    const left = await Promise.all(Object.values(jobs).map((job) => queue.has(job)));
    // That of the fleet beside is left for its own workers.
    assert.deepEqual(left, [false, false, false, true, false]);
    assert.equal(said.filter((one) => one.includes('fleet_job_foreign')).length, 1, said.join('\n'));
  },
);

testStores(
  'who looks for another coordinator stops when the attempt is over, and the process can end',
  async (t, bed) => {
    const { queue, store, start } = await setUp(t, bed);
    const { coordinator, address } = await openCoordinator(t);
    const holder = await takeLease(store, 'h/o/r', LEASE, '', 600_000);
    const job = jobAt(address, { fence: holder.fence });
    coordinator.add(attemptOf(job));
    await queue.add(job, 1);
    let looking: Promise<boolean> = Promise.resolve(true);
    const { worker, ended, said } = await start({
      make: async ({ client }) => {
        await client.started(7);
        const begun = new Promise<void>((resolve) => {
          const goOn = client.goOn.bind(client);
          client.goOn = () => {
            looking = goOn();
            resolve();
            return looking;
          };
        });
        await store.releaseLease('h/o/r', holder);
        // Its address tells nobody where it is.
        await takeLease(store, 'h/o/r', { ...LEASE, token: 'another' }, '', 600_000);
        await begun;
        worker.drain('finish');
        return true;
      },
    });
    assert.equal(await ended, null, said.join('\n'));
    assert.equal(await within('it looks no more', looking), false);
  },
);

testStores('a worker with a wrong key learns so of the coordinator, and gives the job back', async (t, bed) => {
  const { queue, hold, start } = await setUp(t, bed);
  const { coordinator, address } = await openCoordinator(t);
  const job = jobAt(address, { fence: await hold('h/o/r') });
  coordinator.add(attemptOf(job));
  await queue.add(job, 1);
  const { ended } = await start({ key: OTHER_KEY });
  assert.deepEqual(codeOf(await ended), ['fleet_key_wrong', 2]);
  assert.equal(await queue.has(job), true);
});

testStores(
  'the coordinator decides on the version: it names the one that it needs, or the job is over',
  async (t, bed) => {
    const { queue, hold, start } = await setUp(t, bed);
    const [own, newer] = await Promise.all([openCoordinator(t), openCoordinator(t, { version: '2.0.0' })]);
    const fence = await hold('h/o/r');
    const [over, wanted] = [
      jobAt(own.address, { fence, version: '0.1.0' }),
      jobAt(newer.address, { fence, issue: 2, version: '2.0.0' }),
    ];
    await queue.add(over, 1);
    await queue.add(wanted, 2);
    const { ended, said } = await start();
    const error = await ended;
    assert.deepEqual(codeOf(error), ['worker_version_wrong', 1], said.join('\n'));
    assert.match(String(error), /version 2\.0\.0, got 1\.0\.0/);
    assert.deepEqual([await queue.has(over), await queue.has(wanted)], [false, true]);
    assert.match(said.join('\n'), /attempt .* is not the one at work/);
  },
);

testStores(
  'a worker without a way to a coordinator leaves its jobs to others, and makes those of another one',
  async (t, bed) => {
    const { queue, hold, start, store } = await setUp(t, bed);
    const { coordinator, address } = await openCoordinator(t);
    const away = `http://127.0.0.1:${await freePort()}`;
    const cut = jobAt(away, { repository: 'h/o/away', fence: await hold('h/o/away') });
    const good = jobAt(address, { fence: await hold('h/o/r'), labels: ['gpu'] });
    coordinator.add(attemptOf(good));
    await queue.add(cut, 1);
    const { says, said } = await start({ labels: ['gpu'] });
    await says(/coordinator_unreachable/);
    const words = said.find((one) => one.includes('coordinator_unreachable')) ?? '';
    assert.ok(words.includes(away) && words.includes('queue.address') && words.includes('for 2 s'), words);
    await queue.add(good, 1);
    await says(new RegExp(`made ${attemptId(good)}`));
    assert.equal(await queue.has(cut), true);
    assert.equal(await store.isLocked('attempts', attemptId(cut)), false);
  },
);

testStores(
  'a store that refuses the user in mid-run: the attempt at work ends well, then the worker says why',
  async (t, bed) => {
    const { queue, hold, start, store } = await setUp(t, bed);
    const { coordinator, address } = await openCoordinator(t);
    const job = jobAt(address, { fence: await hold('h/o/r') });
    coordinator.add(attemptOf(job));
    await queue.add(job, 1);
    let finish: () => void = () => undefined;
    const atWork = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let isDone = false;
    const { ended } = await start({
      store: await bed.openAsUser(),
      slots: 2,
      log: { log: () => undefined },
      make: async () => {
        await bed.refuseUser();
        await atWork;
        isDone = true;
        return true;
      },
    });
    // It takes nothing more, and waits for the attempt.
    const isDraining = async () => (await store.workers())[0]?.draining === true;
    while (!(await isDraining())) assert.equal(await Promise.race([ended.then(() => 'ended'), delay(20)]), undefined);
    assert.equal(isDone, false);
    finish();
    assert.deepEqual(codeOf(await ended), ['queue_permission_missing', 2]);
    assert.ok(isDone);
  },
);

testStores('this machine has no room for an attempt: it takes no other for a while', async (t, bed) => {
  const { queue, hold, start } = await setUp(t, bed);
  const { coordinator, address } = await openCoordinator(t);
  const fence = await hold('h/o/r');
  const jobs = [1, 2].map((issue) => jobAt(address, { fence, issue }));
  for (const job of jobs) {
    coordinator.add(attemptOf(job));
    await queue.add(job, job.issue);
  }
  let [made, looks, later] = [0, 0, 0];
  const clock = {
    ...systemClock,
    elapsed: () => systemClock.elapsed() + later,
    sleep: async (ms: number, signal: AbortSignal) => {
      await systemClock.sleep(ms, signal);
      if (made === 1) looks += 1;
      // After some looks at the queue the pause is over.
      if (looks === 5) later = 121_000;
    },
  };
  const looksOf: number[] = [];
  const { says } = await start({
    clock,
    make: async ({ id }) => {
      made += 1;
      looksOf.push(looks);
      return id !== attemptId(jobs[0] ?? assert.fail());
    },
  });
  await says(new RegExp(`${jobs[1]?.repository}#2: attempt 1 is handed in`));
  assert.deepEqual([made, looksOf[0]], [2, 0]);
  assert.ok((looksOf[1] ?? 0) >= 5);
});

testStores(
  'at its start a coordinator takes the jobs of an earlier one out, and those of its repository alone',
  async (t, bed) => {
    const { queue } = await setUp(t, bed);
    const jobs = [
      jobAt('http://127.0.0.1:9', { fence: 1 }),
      jobAt('http://127.0.0.1:9', { fence: 1, labels: ['gpu'], repository: 'H/o/R', issue: 2 }),
      jobAt('http://127.0.0.1:9', { fence: 7, issue: 3 }),
      jobAt('http://127.0.0.1:9', { fence: 1, repository: 'h/o/other', issue: 4 }),
    ];
    for (const job of jobs) await queue.add(job, 1);
    await queue.removeOld('h/o/r', 7);
    assert.deepEqual(await Promise.all(jobs.map((job) => queue.has(job))), [false, false, true, true]);
  },
);

testStores('a store that does not let the user in again ends the worker', async (t, bed) => {
  const { start, store } = await setUp(t, bed);
  const { ended } = await start({ store: await bed.openAsUser() });
  while ((await store.workers()).length === 0) await delay(20);
  await bed.lockUserOut();
  assert.deepEqual(codeOf(await ended), ['queue_permission_missing', 2]);
});

testStores('a worker without work combines no lasting signals, which Node 20 would keep', async (t, bed) => {
  const { start } = await setUp(t, bed);
  const combined = t.mock.method(AbortSignal, 'any');
  let looks = 0;
  let isEnough: () => void = () => undefined;
  const enough = new Promise<void>((resolve) => {
    isEnough = resolve;
  });
  const sleep = async (ms: number, signal: AbortSignal) => {
    await systemClock.sleep(Math.min(ms, 10), signal);
    looks += 1;
    if (looks === 40) isEnough();
  };
  const { worker, ended } = await start({ clock: { ...systemClock, sleep } });
  await enough;
  worker.drain('finish');
  assert.equal(await ended, null);
  assert.equal(combined.mock.callCount(), 0);
});
