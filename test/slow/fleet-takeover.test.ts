// A coordinator's machine is gone for good: another machine takes the repository over from the journal in the store, with nothing lost.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { agentRunning } from '../support/agents.ts';
import { Daemon } from '../support/daemon.ts';
import { FaultyProxy } from '../support/faulty-proxy.ts';
import { FLEET_KEY, type StoreAddress, startWorker } from '../support/fleet.ts';
import { knowsAgent } from '../support/fleet-ends.ts';
import { BASE, gitAs, startForge, type TestForge } from '../support/forge.ts';
import { testOverStores } from '../support/stores.ts';
import { type Cleanup, tempDir } from '../support/temp.ts';

const LEASE_MS = 5_000;
const COMMIT = 'echo "done for $TOOL_ISSUE" > work.txt; git add -A; git commit -qm "Do the work"';

function coordinator(t: Cleanup, forge: TestForge, store: StoreAddress, script: string, { url }: FaultyProxy) {
  return Daemon.start(t, forge, {
    yaml: [
      `queue: { url: $QUEUE_URL, key: $FLEET_KEY, lease_ms: ${LEASE_MS} }`,
      'agent: { max_concurrent_agents: 2, max_attempts: 2, max_retry_backoff_ms: 100 }',
      agentRunning(script),
    ].join('\n'),
    env: { FLEET_KEY, QUEUE_URL: store.url },
    apiUrl: url,
  });
}

/** As a machine that is gone: nothing of it is left. */
async function vanish(daemon: Daemon): Promise<void> {
  assert.equal(await daemon.stop('SIGKILL'), 'SIGKILL');
  for (const path of [daemon.stateDir, daemon.root]) rmSync(path, { recursive: true, force: true });
}

async function assertDoneOnce(forge: TestForge, daemon: Daemon, issue: number): Promise<void> {
  await daemon.until('it has an end', async () => !(await forge.labelsOf(issue)).includes('tool-todo'));
  const labels = (await forge.labelsOf(issue)).filter((label) => label.startsWith('tool-'));
  assert.deepEqual(labels, ['tool-done'], daemon.log);
  const pulls = (await forge.pulls()).filter(({ head }) => head === `tool/issue-${issue}`);
  assert.equal(pulls.length, 1, daemon.log);
}

function attemptsOf(directory: string, issue: number): string {
  const path = join(directory, `begun-${issue}`);
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').join() : '';
}

// Most of their time is spent waiting; more at once would lose their leases on a busy machine.
describe('a machine that is gone', { concurrency: 2 }, () => {
  testOverStores('effects that were half done are finished, and numbers of attempts go on', async (t, store) => {
    const [forge, place] = await Promise.all([startForge(t), tempDir(t)]);
    const proxy = await FaultyProxy.start(t, forge.forge.url);
    // The branch is there, and nobody knows whether its pull request is.
    proxy.choose = (method, path) => (method === 'POST' && /\/pulls$/.test(path) ? 'hang' : undefined);
    const [pushed, worked] = [await forge.open('First'), await forge.open('Second')];
    const script = [
      `echo "$TOOL_ATTEMPT" >> ${place}/begun-$TOOL_ISSUE`,
      `if [ "$TOOL_ISSUE-$TOOL_ATTEMPT" = ${worked}-1 ]; then exit 3; fi`,
      `if [ "$TOOL_ISSUE-$TOOL_ATTEMPT" = ${worked}-2 ]; then while [ ! -e ${place}/go ]; do sleep 0.1; done; fi`,
      COMMIT,
    ].join('\n');
    const first = await coordinator(t, forge, store, script, proxy);
    await first.logged('watching');
    const worker = startWorker(t, 'one', store, ['--slots', '2']);
    await first.until('both are under way', () => proxy.times('hang') > 0 && attemptsOf(place, worked) === '1,2');
    const second = await coordinator(t, forge, store, script, proxy);
    await second.logged(/repository_held/);
    await vanish(first);
    proxy.choose = () => undefined;
    await second.logged(/its agent of attempt 2 goes on/);
    writeFileSync(join(place, 'go'), '');
    for (const issue of [pushed, worked]) await assertDoneOnce(forge, second, issue);
    // Its agent was not ended.
    assert.deepEqual([attemptsOf(place, pushed), attemptsOf(place, worked)], ['1', '1,2']);
    const kept = join(worker.directory, 'state', 'kept');
    await second.until('nothing of what is published is kept', () => readdirSync(kept).length === 0);
  });

  testOverStores(
    'commits that were handed in and not published come from the worker that kept them',
    async (t, store) => {
      const [forge, place] = await Promise.all([startForge(t), tempDir(t)]);
      const proxy = await FaultyProxy.start(t, forge.forge.url);
      proxy.choose = (_, path) => (path.includes('git-receive-pack') ? 'status502' : undefined);
      const issue = await forge.open('Do it');
      const script = `echo "$TOOL_ATTEMPT" >> ${place}/begun-$TOOL_ISSUE; ${COMMIT}`;
      const first = await coordinator(t, forge, store, script, proxy);
      await first.logged('watching');
      const worker = startWorker(t, 'one', store);
      await first.until('it cannot be pushed', () => proxy.times('status502') > 0);
      const kept = join(worker.directory, 'state', 'kept');
      await first.until('the work is kept', () => readdirSync(kept).some((name) => name.endsWith('.bundle')));
      const second = await coordinator(t, forge, store, script, proxy);
      await second.logged(/repository_held/);
      await vanish(first);
      proxy.choose = () => undefined;
      await assertDoneOnce(forge, second, issue);
      assert.equal(attemptsOf(place, issue), '1');
      assert.match(second.log, /work_awaited/);
      assert.match(worker.stderr, /what was kept of the attempt .* is with the coordinator/);
      await second.until('it is kept no longer', () => readdirSync(kept).length === 0);
    },
  );

  testOverStores(
    'commits beside a question, which were never pushed, are what the attempt after the answer begins with',
    async (t, store) => {
      const [forge, place] = await Promise.all([startForge(t), tempDir(t)]);
      const proxy = await FaultyProxy.start(t, forge.forge.url);
      const issue = await forge.open('Do it');
      const script = [
        `echo "$TOOL_ATTEMPT" >> ${place}/begun-$TOOL_ISSUE`,
        `if [ "$TOOL_ATTEMPT" = 1 ]; then ${COMMIT}; tool issue ask "Which one?"; exit 0; fi`,
        // Fails without what the first attempt has committed.
        'cp work.txt more.txt; git add -A; git commit -qm "Go on"',
      ].join('\n');
      const first = await coordinator(t, forge, store, script, proxy);
      await first.logged('watching');
      const worker = startWorker(t, 'one', store);
      const kept = join(worker.directory, 'state', 'kept');
      await first.until('it waits for an answer', async () => (await forge.labelsOf(issue)).includes('tool-question'));
      await first.until('the work is kept', () => readdirSync(kept).some((name) => name.endsWith('.bundle')));
      const second = await coordinator(t, forge, store, script, proxy);
      await second.logged(/repository_held/);
      await vanish(first);
      await forge.forge.call('maintainer', 'POST', `${BASE}/issues/${issue}/comments`, { body: 'The red one.' });
      await assertDoneOnce(forge, second, issue);
      assert.equal(attemptsOf(place, issue), '1,2', second.log);
      assert.match(second.log, /work_awaited/);
    },
  );

  for (const where of ['another machine', 'the same machine'] as const)
    testOverStores(
      `an agent at work goes on under a coordinator that starts on ${where}, and all its commits are published`,
      async (t, store) => {
        const [forge, place] = await Promise.all([startForge(t), tempDir(t)]);
        const proxy = await FaultyProxy.start(t, forge.forge.url);
        const issue = await forge.open('Do it');
        const script = [
          `echo "$TOOL_ATTEMPT" >> ${place}/begun-$TOOL_ISSUE`,
          'echo one > one.txt; git add -A; git commit -qm "Begin"',
          `touch ${place}/at-work; while [ ! -e ${place}/go ]; do sleep 0.1; done`,
          COMMIT,
        ].join('\n');
        const first = await coordinator(t, forge, store, script, proxy);
        await first.logged('watching');
        const worker = startWorker(t, 'one', store);
        await first.until('it is at work', () => existsSync(join(place, 'at-work')));
        await knowsAgent(first, issue);
        if (where === 'another machine') await vanish(first);
        else assert.equal(await first.stop('SIGKILL'), 'SIGKILL');
        const next = where === 'another machine' ? await coordinator(t, forge, store, script, proxy) : first;
        if (next === first) first.start();
        await next.logged(/its agent of attempt 1 goes on/);
        writeFileSync(join(place, 'go'), '');
        await assertDoneOnce(forge, next, issue);
        assert.equal(attemptsOf(place, issue), '1', next.log);
        const files = await gitAs(forge.bare, 'ls-tree', '-r', '--name-only', `tool/issue-${issue}`);
        assert.match(files, /^one\.txt$[\s\S]*^work\.txt$/m);
        assert.match(worker.stderr, /goes on as attempt 2/);
        const kept = join(worker.directory, 'state', 'kept');
        await next.until('nothing is kept any more', () => readdirSync(kept).length === 0);
      },
    );
});
