// A coordinator that waits for others shows what those act for, as they do: state, pages, output, events, and commands.

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { HTTP_CODES } from '../../src/daemon/rules/codes/http-codes.ts';
import type { StateView } from '../../src/daemon/view.ts';
import { FLEET_CODES } from '../../src/fleet/rules/fleet-codes.ts';
import { agentRunning, COMMITS } from '../support/agents.ts';
import { lineLike } from '../support/codes.ts';
import { cleanEnv, Daemon, runTool } from '../support/daemon.ts';
import { FLEET_KEY, RedisServer, type StoreAddress, startWorker } from '../support/fleet.ts';
import { assertDoneOnce } from '../support/fleet-ends.ts';
import { startForge } from '../support/forge.ts';
import { testOverStores } from '../support/stores.ts';
import { finallyDo, tempDir } from '../support/temp.ts';
import { daemonFor, startForges } from '../support/two-forges.ts';

const TOKEN = 'canary-status-token-0123456789';
const HELD = lineLike(FLEET_CODES.repository_held);

/** Long enough for a busy machine. */
function queueOf(leaseMs = 10_000): string {
  return `queue: { url: $QUEUE_URL, key: $FLEET_KEY, lease_ms: ${leaseMs} }\nagent: { max_retry_backoff_ms: 100, max_concurrent_agents: 2 }\n`;
}

function envOf(store: StoreAddress): Record<string, string> {
  return { FLEET_KEY, QUEUE_URL: store.url };
}

/** What its server answers, as the operator. */
async function asked(daemon: Daemon, path: string, init: RequestInit = {}, token = TOKEN) {
  const headers = { authorization: `Bearer ${token}`, ...Object.fromEntries(new Headers(init.headers)) };
  const response = await fetch(`http://127.0.0.1:${daemon.port}${path}`, { ...init, headers });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

async function stateOf(daemon: Daemon, query = ''): Promise<StateView> {
  return JSON.parse((await asked(daemon, `/api/v1/state${query}`)).text);
}

testOverStores(
  'a coordinator that waits shows and steers what the other one does, and takes over',
  async (t, store) => {
    const [forge, place] = await Promise.all([startForge(t), tempDir(t)]);
    const script = `echo "<b>reading</b>"; while [ ! -e ${place}/go ]; do sleep 0.1; done; ${COMMITS}`;
    const start = () =>
      Daemon.start(t, forge, {
        yaml: `${queueOf()}${agentRunning(script)}`,
        env: envOf(store),
        server: `token: ${TOKEN}`,
      });
    const first = await start();
    await first.logged('watching');
    const second = await start();
    await second.logged(HELD);
    await second.logged('status on');
    startWorker(t, 'one', store);
    const issue = await forge.open('Do <i>it</i>');
    const running = async () => (await stateOf(second)).running.map((row) => [row.issue_number, row.last_message]);
    const isReading = async () => JSON.stringify(await running()) === `[[${issue},"<b>reading</b>"]]`;
    await second.until('it shows the agent at work', isReading);
    const [own, shown] = [await stateOf(first), await stateOf(second)];
    assert.deepEqual(
      [shown.repository, shown.counts, shown.running[0]?.started_at],
      [own.repository, own.counts, own.running[0]?.started_at],
    );
    await second.until('it shows the worker', async () => (await stateOf(second)).workers?.length === 1);
    assert.deepEqual(
      shown.coordinators?.map(({ address, problem }) => [address, problem]),
      [[`http://localhost:${first.port}`, null]],
    );
    assert.equal(own.coordinators, undefined);
    const board = await asked(second, '/', { headers: { accept: 'text/plain' } });
    for (const part of [`http://localhost:${first.port} `, 'maintainer/project', `#${issue} `])
      assert.ok(board.text.includes(part), board.text);

    const page = await asked(second, `/issues/${issue}`, { headers: { accept: 'text/html' } });
    assert.match(page.text, /<h1>.*Do &lt;i&gt;it&lt;\/i&gt;/);
    assert.match(page.text, /&lt;b&gt;reading&lt;\/b&gt;/);
    assert.match(page.text, /pause/);
    assert.match(page.headers.get('content-security-policy') ?? '', /nonce-/);
    assert.equal((await asked(second, `/issues/${issue}`, {}, 'another-token')).status, 401);
    assert.equal(JSON.parse((await asked(second, `/api/v1/issues/${issue}`)).text).running.phase, 'agent');
    assert.match((await asked(second, `/api/v1/issues/${issue}/output`)).text, /<b>reading<\/b>/);
    assert.equal((await asked(second, '/api/v1/issues/99')).status, 404);
    assert.match(
      (await asked(second, '/metrics')).text,
      /^toolcrew_issues\{state="running"\} 0$/m,
      'counted once by all',
    );
    const gone = new AbortController();
    const events = await fetch(`http://127.0.0.1:${second.port}/api/v1/events?view=page&issue=${issue}`, {
      headers: { authorization: `Bearer ${TOKEN}` },
      signal: gone.signal,
    });
    const { value } = (await events.body?.getReader().read()) ?? {};
    assert.match(Buffer.from(value ?? []).toString(), /retry: 2000/);
    gone.abort();

    const json = { 'content-type': 'application/json' };
    const order = (path: string, body = '') =>
      asked(second, `/api/v1/issues/${path}`, { method: 'POST', headers: json, ...(body === '' ? {} : { body }) });
    assert.deepEqual(JSON.parse((await order(`${issue}/tell`, '{"text":"in French"}')).text).command, 'tell');
    await first.logged(`issue #${issue}: tool tell`);
    assert.equal((await order(`${issue}/pause`)).status, 200);
    await second.until('it is paused', async () =>
      (await stateOf(second)).queued.some((row) => row.issue_number === issue),
    );
    const refused = await order('99/pause');
    assert.deepEqual([refused.status, JSON.parse(refused.text).error.code], [404, HTTP_CODES.not_found.code]);
    assert.equal((await order(`${issue}/resume`)).status, 200);
    await second.until('it works again', async () => (await running()).length === 1);
    const tool = async (command: string) => {
      const args = [command, `${issue}`, second.workflow, '--state-dir', second.stateDir, '--json'];
      const { code, stdout, stderr } = await runTool(args, { env: cleanEnv(second.home) });
      assert.equal(code, 0, stderr);
      return JSON.parse(stdout).standing;
    };
    assert.equal(await tool('pause'), 'paused');
    await second.until('it is paused from its machine', async () => (await stateOf(second)).queued.length === 1);
    await tool('resume');
    await second.until('it works once more', async () => (await running()).length === 1);

    // Nobody without the key of the fleet reads anything.
    const closed = await fetch(`http://127.0.0.1:${first.port}/fleet/v1/pages/issues/${issue}`);
    assert.deepEqual(
      [closed.status, JSON.parse(await closed.text()).error.code],
      [403, FLEET_CODES.fleet_key_wrong.code],
    );

    process.kill(first.pid, 'SIGSTOP');
    finallyDo(t, () => void (first.ended || process.kill(first.pid, 'SIGCONT')));
    const unanswered = await asked(second, `/issues/${issue}`);
    if (unanswered.status !== 200)
      assert.deepEqual(
        [unanswered.status, JSON.parse(unanswered.text).error.code],
        [503, FLEET_CODES.coordinator_unasked.code],
      );
    await second.logged('watching');
    await second.until('it has the agent', async () => (await running()).length === 1);
    assert.equal(await tool('pause'), 'paused');
    await second.until('it is paused here', async () => (await stateOf(second)).queued.length === 1);
    await tool('resume');
    // The agent before has ended by then, without commits.
    await second.until('it reads anew', isReading);
    writeFileSync(join(place, 'go'), '');
    await second.until('it is done', async () => (await stateOf(second)).counts.completed === 1);
    assert.equal((await stateOf(second)).coordinators, undefined);
    assert.equal((await forge.pulls()).length, 1);
  },
);

test('coordinators that share repositories between them show all, a page after the other', async (t) => {
  const [all, redis, place] = await Promise.all([startForges(t, ['shop', 'site']), RedisServer.start(t), tempDir(t)]);
  const [shop, site] = [...all.forges.values()];
  assert.ok(shop && site);
  const yaml = `${queueOf()}${agentRunning(`while [ ! -e ${place}/go ]; do sleep 0.1; done; ${COMMITS}`)}`;
  const start = (names: string) => daemonFor(t, all, `repositories: [${names}]`, yaml, { env: envOf(redis) });
  const first = await start('maintainer/site');
  first.start();
  await first.logged('watching');
  const second = await start('maintainer/site, maintainer/shop');
  second.start();
  await second.logged(HELD);
  await second.logged('status on');
  await second.logged('watching');
  const opened: string[] = [];
  for (const title of ['one', 'two', 'three']) {
    opened.push(`maintainer/shop#${await shop.open(title)}`, `maintainer/site#${await site.open(title)}`);
  }
  startWorker(t, 'one', redis, ['--slots', '2']);
  await second.until('it shows all', async () => {
    const { counts } = await stateOf(second);
    // Then nothing moves from a list to another.
    return counts.running === 4 && counts.queued === 2;
  });
  const view = await stateOf(second);
  assert.equal(view.repository, '2 repositories');
  assert.deepEqual(view.repositories?.map(({ repository, problem }) => [repository, problem]).sort(), [
    ['maintainer/shop', null],
    ['maintainer/site', null],
  ]);
  assert.equal(view.poll.last_error, null);
  const rows: string[] = [];
  for (const list of ['running', 'queued'] as const)
    for (let query = '?limit=1'; query !== ''; ) {
      const part = await stateOf(second, query);
      rows.push(...part[list].map((row) => row.issue_identifier));
      query = part.next[list] === null ? '' : `?limit=1&after=${part.next[list]}`;
    }
  assert.deepEqual(rows.sort(), opened.sort());
  assert.match((await asked(second, '/repositories/maintainer/site/issues/1')).text, /^maintainer\/site#1 one\n/);
  assert.equal(existsSync(join(second.stateDir, 'maintainer', 'site', 'journal.jsonl')), false);

  writeFileSync(join(place, 'go'), '');
  await second.until('all is done', async () => (await stateOf(second)).counts.completed === 6);
  await first.stop('SIGKILL');
  await second.until('it acts for both', async () => {
    const { coordinators, repositories } = await stateOf(second);
    return coordinators === undefined && repositories?.every(({ problem }) => problem === null) === true;
  });
  assert.equal((await stateOf(second)).counts.completed, 6);
  await assertDoneOnce(shop, second, 1);
});
