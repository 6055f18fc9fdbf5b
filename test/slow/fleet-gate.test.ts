// Work that must pass the checks, from workers that end before they measured it: another one does, and nothing counts.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { agentRunning } from '../support/agents.ts';
import type { Daemon } from '../support/daemon.ts';
import { RedisServer, startCoordinator, startWorker } from '../support/fleet.ts';
import { startForge, type TestForge } from '../support/forge.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

const MEASURED = { 'a.txt': 'a', '.tool/config/workflow.yaml': 'quality:\n  commands:\n    tests: node -e 0\n' };
const DONE = 'echo done > work.txt; git add -A; git commit -qm "Do the work"; tool issue done';
/** Nothing that counts may happen. */
const REQUIRED = 'gate: { mode: required, max_rounds: 0 }\nagent: { max_attempts: 1, max_retry_backoff_ms: 100 }';

async function setUp(t: Cleanup, after: string) {
  const [forge, redis, place] = await Promise.all([startForge(t, MEASURED), RedisServer.start(t), tempDir(t)]);
  const issue = await forge.open('Do it');
  const script = `echo begun >> ${place}/begun; ${DONE}; echo said >> ${place}/said; ${after}`;
  const daemon = await startCoordinator(t, forge, redis, { yaml: `${REQUIRED}\n${agentRunning(script)}` });
  const isSaid = () => existsSync(join(place, 'said'));
  const begun = () => readFileSync(join(place, 'begun'), 'utf8');
  return { forge, redis, issue, daemon, isSaid, begun };
}

async function assertMeasured(forge: TestForge, daemon: Daemon, issue: number): Promise<void> {
  await daemon.until('it has an end', async () => !(await forge.labelsOf(issue)).includes('tool-todo'));
  assert.ok((await forge.labelsOf(issue)).includes('tool-done'), daemon.log);
  const [pull, ...more] = await forge.pulls();
  assert.match(pull?.body ?? '', /node -e 0/);
  assert.equal(more.length, 0);
  assert.doesNotMatch(daemon.log, /no worker measured|gate_rounds_exhausted/);
}

test('a worker is drained, or dies, after its agent was done: another one measures, and starts no agent', async (t) => {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const { forge, redis, issue, daemon, isSaid, begun } = await setUp(t, 'while :; do sleep 0.1; done');
    const first = startWorker(t, 'first', redis, ['--drain', 'return']);
    await daemon.until('the agent is done', isSaid);
    first.signal(signal);
    await first.ended;
    await daemon.until('the commit waits for a worker', async () => (await daemon.state()).queue?.waiting === 1);
    const second = startWorker(t, 'second', redis);
    await assertMeasured(forge, daemon, issue);
    assert.equal(begun(), 'begun\n');
    second.signal('SIGTERM');
    await second.ended;
    assert.doesNotMatch(second.stderr, /work_left_on_worker/, 'a measurement has no work');
    assert.deepEqual(readdirSync(join(second.directory, 'root', 'attempts')), []);
    assert.equal(await daemon.stop(), 143);
  }
});

test('an agent whose program fails after it was done: its worker measures all the same', async (t) => {
  const { forge, redis, issue, daemon, begun } = await setUp(t, 'exit 3');
  const worker = startWorker(t, 'one', redis);
  await assertMeasured(forge, daemon, issue);
  assert.equal(begun(), 'begun\n');
  // It took one job.
  assert.equal(worker.stderr.match(/is handed in/g)?.length, 1, worker.stderr);
});
