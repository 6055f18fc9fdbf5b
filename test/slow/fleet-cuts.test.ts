// Ways between coordinator, worker and store that are cut for longer than their limits, and connections that stay dead afterwards: one pull request each.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { FLEET_CODES } from '../../src/fleet/rules/fleet-codes.ts';
import { agentRunning } from '../support/agents.ts';
import { wordsLike } from '../support/codes.ts';
import { CutProxy } from '../support/cut-proxy.ts';
import type { Daemon } from '../support/daemon.ts';
import { RedisServer, startCoordinator, startWorker } from '../support/fleet.ts';
import { assertDoneOnce, ONE_TRY } from '../support/fleet-ends.ts';
import { startForge } from '../support/forge.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

const LEASE_MS = 2_000;
const COMMIT = 'echo "done for $TOOL_ISSUE" > work.txt; git add -A; git commit -qm "Do the work"';

async function setUp(t: Cleanup) {
  const [forge, redis, place] = await Promise.all([startForge(t), RedisServer.start(t), tempDir(t)]);
  const issue = await forge.open('Do it');
  const script = `echo "$TOOL_ATTEMPT" >> ${place}/begun; while [ ! -e ${place}/go ]; do sleep 0.1; done; ${COMMIT}`;
  const yaml = `${ONE_TRY}\n${agentRunning(script)}`;
  const way = await CutProxy.start(t, () => redis.port);
  return {
    ...{ forge, redis, issue, yaml, way },
    begun: () => (existsSync(join(place, 'begun')) ? readFileSync(join(place, 'begun'), 'utf8') : ''),
    go: () => writeFileSync(join(place, 'go'), ''),
  };
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
    const { forge, redis, issue, yaml, begun, go } = await setUp(t);
    let port = 0;
    const way = await CutProxy.start(t, () => port);
    const queue = `address: "${way.address}"`;
    const daemon = await startCoordinator(t, forge, redis, { yaml, queue, leaseMs: LEASE_MS });
    port = daemon.port;
    const worker = startWorker(t, 'one', redis);
    await daemon.until('the agent works', () => begun() === '1\n');
    way.cut();
    await worker.printed(/coordinator_silent/);
    go();
    way.mend({ forgets: true });
    await assertDoneOnce(forge, daemon, issue);
    assert.equal(begun(), '1\n');
    assertUncounted(daemon);
  });

  test('worker and coordinator, until the attempt is lost: the worker ends it, and makes the next one', async (t) => {
    const { forge, redis, issue, yaml, begun, go } = await setUp(t);
    let port = 0;
    const way = await CutProxy.start(t, () => port);
    const queue = `address: "${way.address}"`;
    const daemon = await startCoordinator(t, forge, redis, { yaml, queue, leaseMs: LEASE_MS });
    port = daemon.port;
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
    const { forge, redis, issue, yaml, way, begun, go } = await setUp(t);
    const daemon = await startCoordinator(t, forge, redis, { yaml, leaseMs: LEASE_MS });
    const worker = startWorker(t, 'one', way, ['--slots', '2']);
    await daemon.until('the agent works', () => begun() === '1\n');
    way.cut();
    await daemon.until('its lock is gone', async () => !/:lock$/m.test(await redis.dump()));
    await worker.printed(/queue_interrupted/);
    go();
    await assertDoneOnce(forge, daemon, issue);
    way.mend({ forgets: true });
    await assertDoneOnce(forge, daemon, await forge.open('Do another'));
    assert.equal(begun(), '1\n1\n');
    assertUncounted(daemon);
  });

  test('coordinator and store, until its lease is gone: it takes it again, and its agents go on', async (t) => {
    const { forge, redis, issue, yaml, way, begun, go } = await setUp(t);
    const daemon = await startCoordinator(t, forge, way, { yaml, leaseMs: LEASE_MS });
    startWorker(t, 'one', redis);
    await daemon.until('the agent works', () => begun() === '1\n');
    way.cut();
    await daemon.logged(/repository_lease_lost/);
    way.mend({ forgets: true });
    await daemon.logged(/its agent of attempt 1 goes on/);
    go();
    await assertDoneOnce(forge, daemon, issue);
    assert.equal(begun(), '1\n', daemon.log);
    assertUncounted(daemon);
  });
});
