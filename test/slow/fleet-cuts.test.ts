// Ways between coordinator, worker and store that are cut for longer than their limits, and connections that stay dead afterwards: one pull request each.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { FLEET_CODES } from '../../src/fleet/rules/fleet-codes.ts';
import { agentRunning } from '../support/agents.ts';
import { wordsLike } from '../support/codes.ts';
import { CutProxy } from '../support/cut-proxy.ts';
import type { Daemon } from '../support/daemon.ts';
import { RedisServer, startCoordinator, startWorker } from '../support/fleet.ts';
import { assertDoneOnce, ONE_TRY } from '../support/fleet-ends.ts';
import { COMMIT, startWork } from '../support/fleet-work.ts';
import type { Cleanup } from '../support/temp.ts';

const LEASE_MS = 2_000;

async function setUp(t: Cleanup) {
  const [work, redis] = await Promise.all([startWork(t), RedisServer.start(t)]);
  const issue = await work.forge.open('Do it');
  const yaml = `${ONE_TRY}\n${agentRunning(`${work.begins}; ${work.waits()}; ${COMMIT}`)}`;
  const way = await CutProxy.start(t, () => redis.port);
  const begun = () => work.attemptsOf(issue);
  return { forge: work.forge, redis, issue, yaml, way, begun, attemptsOf: work.attemptsOf, go: () => work.say() };
}

/** A coordinator that workers reach over a way of its own. */
async function startBehind(t: Cleanup, { forge, redis, yaml }: Awaited<ReturnType<typeof setUp>>) {
  let port = 0;
  const way = await CutProxy.start(t, () => port);
  const daemon = await startCoordinator(t, forge, redis, {
    yaml,
    queue: `address: "${way.address}"`,
    leaseMs: LEASE_MS,
  });
  port = daemon.port;
  return { daemon, way };
}

/** No attempt may count. */
function assertUncounted(daemon: Daemon): void {
  const journal = readFileSync(join(daemon.stateDir, 'journal.jsonl'), 'utf8');
  const ends = [...journal.matchAll(/"type":"attempt_ended".*?"outcome":"(\w+)"/g)].map(([, outcome]) => outcome);
  assert.ok(
    ends.every((outcome) => outcome === 'interrupted' || outcome === 'succeeded'),
    ends.join(),
  );
}

describe('cut for longer than the limits', { concurrency: 4 }, () => {
  test('worker and coordinator, for three leases: the attempt goes on, also over new connections alone', async (t) => {
    const work = await setUp(t);
    const { forge, redis, issue, begun, go } = work;
    const { daemon, way } = await startBehind(t, work);
    const worker = startWorker(t, 'one', redis);
    await daemon.until('the agent works', () => begun() === '1');
    way.cut();
    await worker.printed(/coordinator_silent/);
    go();
    way.mend({ forgets: true });
    await assertDoneOnce(forge, daemon, issue);
    assert.equal(begun(), '1');
    assertUncounted(daemon);
  });

  test('worker and coordinator, until the attempt is lost: the worker ends it, and makes the next one', async (t) => {
    const work = await setUp(t);
    const { forge, redis, issue, begun, go } = work;
    const { daemon, way } = await startBehind(t, work);
    const worker = startWorker(t, 'one', redis);
    await daemon.until('the agent works', () => begun() !== '');
    way.cut();
    const before = daemon.log.length;
    await daemon.until('it is lost', () => /The worker one fell silent/.test(daemon.log.slice(before)));
    way.mend({ forgets: false });
    await worker.printed(wordsLike(FLEET_CODES.attempt_superseded));
    go();
    await assertDoneOnce(forge, daemon, issue);
    assertUncounted(daemon);
  });

  test('worker and store, until its lock is gone: the attempt goes on, and the worker takes another one', async (t) => {
    const { forge, redis, issue, yaml, way, begun, attemptsOf, go } = await setUp(t);
    const daemon = await startCoordinator(t, forge, redis, { yaml, leaseMs: LEASE_MS });
    const worker = startWorker(t, 'one', way, ['--slots', '2']);
    await daemon.until('the agent works', () => begun() === '1');
    way.cut();
    await daemon.until('its lock is gone', async () => !/:lock$/m.test(await redis.dump()));
    await worker.printed(/queue_interrupted/);
    go();
    await assertDoneOnce(forge, daemon, issue);
    way.mend({ forgets: true });
    const another = await forge.open('Do another');
    await assertDoneOnce(forge, daemon, another);
    assert.deepEqual([begun(), attemptsOf(another)], ['1', '1']);
    assertUncounted(daemon);
  });

  test('coordinator and store, until its lease is gone: it takes it again, and its agents go on', async (t) => {
    const { forge, redis, issue, yaml, way, begun, go } = await setUp(t);
    const daemon = await startCoordinator(t, forge, way, { yaml, leaseMs: LEASE_MS });
    startWorker(t, 'one', redis);
    await daemon.until('the agent works', () => begun() === '1');
    way.cut();
    await daemon.logged(/repository_lease_lost/);
    way.mend({ forgets: true });
    await daemon.logged(/its agent of attempt 1 goes on/);
    go();
    await assertDoneOnce(forge, daemon, issue);
    assert.equal(begun(), '1', daemon.log);
    assertUncounted(daemon);
  });
});
