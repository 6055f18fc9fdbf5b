// Two coordinators of one repository, over real stores: one acts, and the other takes over when that one is gone or stands still.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { FLEET_CODES } from '../../src/fleet/rules/fleet-codes.ts';
import { agentRunning, COMMITS } from '../support/agents.ts';
import { lineLike } from '../support/codes.ts';
import { Daemon } from '../support/daemon.ts';
import { FaultyProxy } from '../support/faulty-proxy.ts';
import { FLEET_KEY, RedisServer, type StoreAddress, startWorker } from '../support/fleet.ts';
import { assertDoneOnce } from '../support/fleet-ends.ts';
import { startForge, type TestForge } from '../support/forge.ts';
import { testOverStores } from '../support/stores.ts';
import { type Cleanup, finallyDo, tempDir } from '../support/temp.ts';

const LEASE_MS = 5_000;
const OTHER_TOKEN = 'token-of-the-maintainer';
const WAITS = { host: hostname(), repository: /\S*maintainer\/project/ };
const HELD = lineLike(FLEET_CODES.repository_held, WAITS);
const COMMIT = 'echo "done for $TOOL_ISSUE" > work.txt; git add -A; git commit -qm "Do the work"';

function coordinator(
  t: Cleanup,
  forge: TestForge,
  store: StoreAddress,
  script: string,
  apiUrl?: string,
  token?: string,
  leaseMs = LEASE_MS,
) {
  return Daemon.start(t, forge, {
    yaml: `queue: { url: $QUEUE_URL, key: $FLEET_KEY, lease_ms: ${leaseMs} }\nagent: { max_attempts: 1, max_retry_backoff_ms: 100 }\n${agentRunning(script)}`,
    env: { FLEET_KEY, QUEUE_URL: store.url, ...(token === undefined ? {} : { GITHUB_TOKEN: token }) },
    ...(apiUrl === undefined ? {} : { apiUrl }),
  });
}

// Most of their time is spent waiting; more at once would lose their leases on a busy machine.
describe('two coordinators', { concurrency: 2 }, () => {
  test('of two coordinators one acts; the other names it, asks nothing, and starts when that one ends', async (t) => {
    const [forge, redis] = await Promise.all([startForge(t), RedisServer.start(t)]);
    const proxy = await FaultyProxy.start(t, forge.forge.url);
    const first = await coordinator(t, forge, redis, COMMITS, proxy.url);
    await first.logged('watching');
    const second = await coordinator(t, forge, redis, COMMITS, proxy.url, OTHER_TOKEN);
    await second.logged(HELD);
    await second.until('it names the other one', async () => (await second.state()).coordinators?.length === 1);
    const page = await (await fetch(`http://127.0.0.1:${second.port}/`, { headers: { accept: 'text/html' } })).text();
    assert.ok(page.includes(`http://localhost:${first.port} acts for maintainer/project`), page);
    startWorker(t, 'one', redis);
    const issue = await forge.open('Do it');
    await assertDoneOnce(forge, first, issue);
    const encoded = Buffer.from(`x-access-token:${OTHER_TOKEN}`).toString('base64');
    const ofSecond = () => proxy.seen.filter(({ from }) => from.includes(OTHER_TOKEN) || from.includes(encoded));
    assert.ok(proxy.seen.length > 0);
    assert.deepEqual(ofSecond(), []);
    assert.equal(await first.stop(), 143);
    await second.logged('watching');
    const next = await forge.open('Do another');
    await assertDoneOnce(forge, second, next);
    assert.ok(ofSecond().length > 0);
  });

  testOverStores(
    'the holder is killed while a worker works: its agent goes on under the other coordinator',
    async (t, store) => {
      const [forge, place] = await Promise.all([startForge(t), tempDir(t)]);
      const issue = await forge.open('Do it');
      const script = `if mkdir ${place}/begun; then while [ ! -e ${place}/go ]; do sleep 0.1; done; fi; ${COMMIT}`;
      const first = await coordinator(t, forge, store, script);
      await first.logged('watching');
      startWorker(t, 'one', store);
      await first.until('the agent works', () => existsSync(join(place, 'begun')));
      const second = await coordinator(t, forge, store, script);
      await second.logged(HELD);
      await first.stop('SIGKILL');
      await second.logged(/its agent of attempt 1 goes on/);
      writeFileSync(join(place, 'go'), '');
      await assertDoneOnce(forge, second, issue);
    },
  );

  test('a holder that stood still beyond its lease acts no more, and takes up again when the lease is free', async (t) => {
    const [forge, redis, place] = await Promise.all([startForge(t), RedisServer.start(t), tempDir(t)]);
    const issue = await forge.open('Do it');
    const script = `if mkdir ${place}/begun; then while [ ! -e ${place}/go ]; do sleep 0.1; done; touch first.txt; fi; ${COMMIT}`;
    const first = await coordinator(t, forge, redis, script);
    startWorker(t, 'one', redis);
    await first.until('the agent works', () => existsSync(join(place, 'begun')));
    const second = await coordinator(t, forge, redis, script);
    await second.logged(HELD);
    process.kill(first.pid, 'SIGSTOP');
    finallyDo(t, () => void (first.ended || process.kill(first.pid, 'SIGCONT')));
    await second.logged(/its agent of attempt 1 goes on/);
    writeFileSync(join(place, 'go'), '');
    await assertDoneOnce(forge, second, issue);
    process.kill(first.pid, 'SIGCONT');
    await first.logged(/repository_lease_lost/);
    await first.logged(HELD);
    assert.equal((await forge.pulls()).length, 1);
    assert.equal(await second.stop(), 143);
    await first.until('it acts again', () => first.log.split('watching').length === 3);
    const next = await forge.open('Do another');
    await assertDoneOnce(forge, first, next);
    await assertDoneOnce(forge, first, issue);
    // The attempt that was cut off counted for nothing.
    const ends = readFileSync(join(first.stateDir, 'journal.jsonl'), 'utf8').match(
      /"type":"attempt_ended".*?"outcome":"\w+"/g,
    );
    assert.match(ends?.[0] ?? '', /interrupted/);
  });

  test('a store that is away beyond the lease: agents at work go on under the same coordinator when it is back', async (t) => {
    const [forge, redis, place] = await Promise.all([startForge(t), RedisServer.start(t), tempDir(t)]);
    const issue = await forge.open('Do it');
    const script = `if mkdir ${place}/begun; then while [ ! -e ${place}/go ]; do sleep 0.1; done; fi; ${COMMIT}`;
    const daemon = await coordinator(t, forge, redis, script);
    startWorker(t, 'one', redis);
    await daemon.until('the agent works', () => existsSync(join(place, 'begun')));
    await redis.stop();
    await daemon.logged(/repository_lease_lost/);
    await redis.begin();
    await daemon.logged(/its agent of attempt 1 goes on/);
    writeFileSync(join(place, 'go'), '');
    await assertDoneOnce(forge, daemon, issue);
    await redis.stop();
    await daemon.until('it has none', () => daemon.log.split('repository_lease_lost').length === 3);
    assert.equal(await daemon.stop(), 143);
  });

  test('a store that lost everything: whoever waits with an older journal leaves the holder its lease', async (t) => {
    const [forge, redis] = await Promise.all([startForge(t), RedisServer.start(t)]);
    // Nothing here lasts for a lease.
    const start = () => coordinator(t, forge, redis, COMMITS, undefined, undefined, 60_000);
    startWorker(t, 'one', redis);
    const second = await start();
    await assertDoneOnce(forge, second, await forge.open('Do it'));
    const first = await start();
    await first.logged(HELD);
    assert.equal(await second.stop(), 143);
    await first.logged('watching');
    await assertDoneOnce(forge, first, await forge.open('Do another'));
    const stopped = second.log.length;
    second.start();
    const saysAgain = () => second.log.slice(stopped).split('(repository_held)').length - 1;
    await second.until('it waits', () => saysAgain() === 1);
    // So that the other one looks first.
    process.kill(first.pid, 'SIGSTOP');
    finallyDo(t, () => void (first.ended || process.kill(first.pid, 'SIGCONT')));
    await redis.stop();
    await redis.begin();
    await second.logged(/repository_forgotten/);
    process.kill(first.pid, 'SIGCONT');
    await assertDoneOnce(forge, first, await forge.open('Do one more'));
    await second.until('it waits again', () => saysAgain() === 2);
    assert.doesNotMatch(first.log, /repository_lease_lost/);
    assert.doesNotMatch(second.log.slice(stopped), /watching/);
    assert.equal(await first.stop(), 143);
    await second.until('it acts', () => second.log.slice(stopped).includes('watching'));
    // It knows what was done meanwhile.
    const journal = readFileSync(join(second.stateDir, 'journal.jsonl'), 'utf8');
    assert.match(journal, /"snapshot"/);
    assert.match(second.log.slice(stopped), /journal_replaced/);
  });
});
