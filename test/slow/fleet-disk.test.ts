// Workers whose disk is full before an attempt, or in the middle of it: nobody's fault, and another worker does the issue.

import assert from 'node:assert/strict';
import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { agentRunning } from '../support/agents.ts';
import { cleanEnv, type Daemon, runTool } from '../support/daemon.ts';
import { RedisServer, startCoordinator, startWorker, type Worker } from '../support/fleet.ts';
import { assertDoneOnce, ONE_TRY } from '../support/fleet-ends.ts';
import { startForge } from '../support/forge.ts';
import type { Cleanup } from '../support/temp.ts';

const COMMIT = 'echo "done for $TOOL_ISSUE" > work.txt; git add -A; git commit -qm "Do the work"';
/** All that the worker has lies on a disk of its own, which no other process sees. */
const SMALL_DISK = [
  ...['unshare', '--mount', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])],
  ...['sh', '-ec', 'mount -t tmpfs -o size=24m none "{}"; exec "$@"', 'sh'],
];

/** A path of the worker's, as it is from here. */
function seen(worker: Worker, name: string): string {
  return join('/proc', String(worker.pid), 'root', worker.directory, name);
}

/** Takes all room that there is. */
function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (const size of [1 << 20, 4_096, 1]) {
      const bytes = Buffer.alloc(size);
      try {
        for (;;) writeSync(file, bytes);
      } catch (error) {
        assert.match(String(error), /ENOSPC/);
      }
    }
  } finally {
    closeSync(file);
  }
}

async function setUp(t: Cleanup, script: string) {
  const [forge, redis] = await Promise.all([startForge(t), RedisServer.start(t)]);
  const daemon = await startCoordinator(t, forge, redis, { yaml: `${ONE_TRY}\n${agentRunning(script)}` });
  const small = startWorker(t, 'small', redis, [], {}, SMALL_DISK);
  await small.printed(/takes attempts/);
  return { forge, redis, daemon, small };
}

function outcomes(daemon: Daemon): readonly (string | undefined)[] {
  const journal = readFileSync(join(daemon.stateDir, 'journal.jsonl'), 'utf8');
  return [...journal.matchAll(/"type":"attempt_ended".*?"outcome":"(\w+)"/g)].map(([, outcome]) => outcome);
}

/** The pause before the next attempt is no part of this; the worker without room has a longer one. */
async function goOnElsewhere(t: Cleanup, redis: RedisServer, daemon: Daemon, issue: number): Promise<void> {
  await startWorker(t, 'roomy', redis).printed(/takes attempts/);
  const { code, stderr } = await runTool(['retry', String(issue), daemon.workflow], { env: cleanEnv(daemon.home) });
  assert.equal(code, 0, stderr);
  await daemon.logged(/ attempt 2 .* worker roomy$/m);
}

describe('a full disk', { concurrency: 2 }, () => {
  test('before the attempt: the worker takes no other, and another worker makes it', async (t) => {
    const { forge, redis, daemon, small } = await setUp(t, COMMIT);
    fill(seen(small, 'filler'));
    const issue = await forge.open('Do it');
    await daemon.logged(/attempt 1 on issue #1 found its runtime unavailable: on the worker small: .*no space left/i);
    await small.printed(/worker_unable/);
    await goOnElsewhere(t, redis, daemon, issue);
    await assertDoneOnce(forge, daemon, issue);
    assert.deepEqual(outcomes(daemon), ['unavailable', 'succeeded'], daemon.log);
  });

  test('in the middle: what cannot be handed in stays there, and comes to light at the next start', async (t) => {
    const fills = 'cat /dev/zero > filler';
    const script = `if [ "$TOOL_ATTEMPT" = 1 ]; then echo 1 > early.txt; git add -A; git commit -qm Early; ${fills}; fi; ${COMMIT}`;
    const { forge, redis, daemon, small } = await setUp(t, script);
    const issue = await forge.open('Do it');
    await daemon.logged(/attempt 1 on issue #1 found its runtime unavailable: .*no space left/i);
    await small.printed(/work_left_on_worker/);
    await goOnElsewhere(t, redis, daemon, issue);
    await assertDoneOnce(forge, daemon, issue);
    assert.deepEqual(outcomes(daemon), ['unavailable', 'succeeded'], daemon.log);
    const left = /stays in (\S+)\./.exec(small.stderr)?.[1] ?? assert.fail(small.stderr);
    assert.ok(existsSync(join('/proc', String(small.pid), 'root', left, 'issue-1', 'early.txt')));
  });
});

/** Every object of a repository is there, and holds something else. */
function damage(repository: string): number {
  const objects = join(repository, 'objects');
  const files = readdirSync(objects, { recursive: true })
    .map((name) => join(objects, String(name)))
    .filter((path) => statSync(path).isFile());
  for (const path of files) {
    chmodSync(path, 0o600);
    writeFileSync(path, 'damaged');
  }
  return files.length;
}

test('a copy of the default branch with damaged objects is made anew, once, and the attempt goes on', async (t) => {
  const [forge, redis] = await Promise.all([startForge(t), RedisServer.start(t)]);
  const daemon = await startCoordinator(t, forge, redis, { yaml: `${ONE_TRY}\n${agentRunning(COMMIT)}` });
  const worker = startWorker(t, 'one', redis);
  await assertDoneOnce(forge, daemon, await forge.open('First'));
  const code = join(worker.directory, 'state', 'code');
  const [copy = assert.fail(), ...more] = readdirSync(code);
  assert.deepEqual(more, []);
  assert.ok(damage(join(code, copy)) > 0);
  for (const title of ['Second', 'Third']) await assertDoneOnce(forge, daemon, await forge.open(title));
  assert.deepEqual(outcomes(daemon), ['succeeded', 'succeeded', 'succeeded']);
  assert.equal(worker.stderr.match(/is damaged, and is made again/g)?.length, 1, worker.stderr);
});
