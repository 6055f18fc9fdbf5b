// A worker and a coordinator whose clocks are an hour ahead: leases, ages and heartbeats hold, and each issue is done once.

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { agentRunning } from '../support/agents.ts';
import type { Daemon } from '../support/daemon.ts';
import { RedisServer, startCoordinator, startWorker } from '../support/fleet.ts';
import { assertDoneOnce, knowsAgent, ONE_TRY } from '../support/fleet-ends.ts';
import { startForge } from '../support/forge.ts';
import { tempDir } from '../support/temp.ts';

const AHEAD = { NODE_OPTIONS: `--require ${join(process.cwd(), 'test', 'support', 'programs', 'hour-ahead.cjs')}` };
const HOUR_MS = 3_600_000;
const COMMIT = 'echo "done for $TOOL_ISSUE" > work.txt; git add -A; git commit -qm "Do the work"';

/** Ages of the one worker and of its heartbeat, by the clock of the coordinator, ms. */
async function ages(daemon: Daemon): Promise<readonly [up: number, heard: number] | null> {
  const { workers: [worker] = [], generated_at: now } = await daemon.state();
  if (worker === undefined) return null;
  return [Date.parse(now) - Date.parse(worker.started_at), Date.parse(now) - Date.parse(worker.last_heartbeat_at)];
}

async function assertAges(daemon: Daemon): Promise<void> {
  await daemon.until('the worker is shown', async () => (await ages(daemon)) !== null);
  const [up, heard] = (await ages(daemon)) ?? assert.fail();
  assert.ok(up >= -60_000 && up < HOUR_MS / 2, `up for ${up} ms`);
  assert.ok(heard >= 0 && heard <= 15_000, `heard of ${heard} ms ago`);
}

test('a worker ahead, then a second coordinator ahead that takes over, and the first one again', async (t) => {
  const [forge, redis, place] = await Promise.all([startForge(t), RedisServer.start(t), tempDir(t)]);
  const begun = (issue: number) => join(place, `begun-${issue}`);
  const script = `if mkdir ${place}/begun-$TOOL_ISSUE; then while [ ! -e ${place}/go-$TOOL_ISSUE ]; do sleep 0.1; done; fi; ${COMMIT}`;
  const options = { yaml: `${ONE_TRY}\n${agentRunning(script)}` };
  const first = await startCoordinator(t, forge, redis, options);
  const worker = startWorker(t, 'ahead', redis, [], AHEAD);
  const one = await forge.open('Do it');
  await first.until('the agent works', () => existsSync(begun(one)));
  await assertAges(first);
  writeFileSync(join(place, `go-${one}`), '');
  await assertDoneOnce(forge, first, one);

  const second = await startCoordinator(t, forge, redis, { ...options, env: AHEAD });
  await second.logged(/repository_held/);
  const two = await forge.open('Do another');
  await first.until('the agent works', () => existsSync(begun(two)));
  await knowsAgent(first, redis, two);
  assert.equal(await first.stop('SIGKILL'), 'SIGKILL');
  await second.logged(/its agent of attempt 1 goes on/);
  writeFileSync(begun(two).replace('begun-', 'go-'), '');
  await assertDoneOnce(forge, second, two);
  await worker.kill();
  startWorker(t, 'right', redis);
  await second.until('the other worker', async () => (await second.state()).workers?.[0]?.name === 'right');
  await assertAges(second);

  first.start();
  await first.until('it waits', () => first.log.split('repository_held').length > 1);
  assert.equal(await second.stop(), 143);
  await first.until('it acts again', () => first.log.split('watching').length === 3);
  const three = await forge.open('Do a third');
  await first.until('the agent works', () => existsSync(begun(three)));
  writeFileSync(join(place, `go-${three}`), '');
  for (const issue of [one, two, three]) await assertDoneOnce(forge, first, issue);
});
