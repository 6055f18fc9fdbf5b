// A coordinator, workers and Redis as processes: each fault ends with one pull request, and counts for nobody.

import assert from 'node:assert/strict';
import test from 'node:test';
import { agentRunning, COMMITS } from '../support/agents.ts';
import { startCoordinator, startWorker, RedisServer } from '../support/fleet.ts';
import { startForge } from '../support/forge.ts';

test('an issue is done by a worker: one pull request, one done label', async (t) => {
  const [forge, redis] = await Promise.all([startForge(t), RedisServer.start(t)]);
  const issue = await forge.open('Do it');
  const daemon = await startCoordinator(t, forge, redis, { yaml: agentRunning(COMMITS) });
  const worker = startWorker(t, 'one', redis);
  await daemon.logged(/done, pull request/);
  await daemon.until('it is done', async () => (await forge.labelsOf(issue)).includes('tool-done'));
  assert.equal((await forge.pulls()).length, 1);
  assert.match(worker.stderr, /attempt 1 is handed in/);
});
