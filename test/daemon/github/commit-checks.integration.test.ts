// Checks of commits and logs of their jobs as the real client reads them from the played service.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import test from 'node:test';
import { LOG_SHOWN } from '../../../src/daemon/rules/pull-request-status.ts';
import { ConnectProxy } from '../../support/connect-proxy.ts';
import { DAEMON_TOKEN } from '../../support/forge.ts';
import { type Access, startPullRequest, trackerAt } from '../../support/pull-request.ts';
import { finallyDo } from '../../support/temp.ts';
import { TlsFront } from '../../support/tls-front.ts';

const { signal } = new AbortController();

test('checks by name: the newest run counts, and each conclusion has a state', async (t) => {
  const { forge, feed, call, head } = await startPullRequest(t);
  const flapping = forge.checks.start(head, 'flapping');
  const state = async () => (await feed.checks(head, signal)).checks.map(({ name, state: is, run }) => [name, is, run]);
  assert.deepEqual(await state(), [['flapping', 'pending', flapping]]);
  forge.checks.finish(flapping, 'failure');
  assert.deepEqual(await state(), [['flapping', 'failed', flapping]]);
  const again = forge.checks.start(head, 'flapping', { suite: 2 });
  assert.deepEqual(await state(), [['flapping', 'pending', again]]);
  forge.checks.finish(again, 'success');
  assert.deepEqual(await state(), [['flapping', 'passed', again]]);
  const third = forge.checks.start(head, 'flapping', { suite: 1 });
  forge.checks.finish(third, 'failure');
  assert.deepEqual(await state(), [['flapping', 'failed', third]]);
  const expected = {
    ...{ success: 'passed', neutral: 'passed', skipped: 'passed' },
    ...{ failure: 'failed', timed_out: 'failed', cancelled: 'cancelled' },
    ...{ action_required: 'waiting', startup_failure: 'failed', stale: 'cancelled' },
  } as const;
  for (const conclusion of Object.keys(expected) as (keyof typeof expected)[])
    forge.checks.finish(forge.checks.start(head, conclusion), conclusion, { title: 'T', summary: 'S', text: 'X' });
  const states = { success: 'passed', pending: 'pending', error: 'failed' } as const;
  for (const name of ['failure', ...Object.keys(states)])
    await call('maintainer', 'POST', `/statuses/${head}`, { state: name, context: `ci-${name}` }, 201);
  const again2 = {
    state: 'success',
    context: 'ci-failure',
    description: 'Fine \u001b[1mnow',
    target_url: 'https://ci',
  };
  await call('maintainer', 'POST', `/statuses/${head}`, again2, 201);
  const { checks } = await feed.checks(head, signal);
  const found = Object.fromEntries(checks.map((check) => [check.name, check.state]));
  const ci = Object.fromEntries(Object.entries(states).map(([name, is]) => [`ci-${name}`, is]));
  assert.deepEqual(found, { flapping: 'failed', ...expected, ...ci, 'ci-failure': 'passed' });
  const stale = checks.find(({ name }) => name === 'stale');
  assert.deepEqual([stale?.summary, stale?.url], ['T\n\nS\n\nX', `${forge.url}/maintainer/project/runs/${stale?.run}`]);
  const status = { name: 'ci-failure', state: 'passed', url: 'https://ci', run: null, summary: 'Fine now' };
  assert.deepEqual(
    checks.find(({ name }) => name === 'ci-failure'),
    status,
  );
});

test('jobs of one name in two workflows are two checks, and a workflow that ran again is one', async (t) => {
  const { forge, feed, head } = await startPullRequest(t);
  const run = (conclusion: 'success' | 'failure', suite: number, workflow?: string, app?: string) => {
    const options = { suite, ...(workflow === undefined ? {} : { workflow }), ...(app === undefined ? {} : { app }) };
    forge.checks.finish(forge.checks.start(head, 'build', options), conclusion);
  };
  const states = async () => (await feed.checks(head, signal)).checks.map(({ state }) => state).sort();
  run('failure', 1, 'ci');
  run('success', 2, 'docs');
  assert.deepEqual(await states(), ['failed', 'passed']);
  run('success', 3, 'ci');
  assert.deepEqual(await states(), ['passed', 'passed']);
  run('failure', 4, undefined, 'other-app');
  assert.deepEqual(await states(), ['failed', 'passed', 'passed']);
  run('success', 5, undefined, 'other-app');
  assert.deepEqual(await states(), ['passed', 'passed', 'passed']);
});

test('a failed job is explained by its step and the readable end of its log', async (t) => {
  const { forge, feed, head, number, call } = await startPullRequest(t);
  const log = [
    '\ufeff2026-11-29T02:00:00.1234567Z ##[group]Run npm test',
    '2026-11-29T02:00:01.0000000Z \u001b[31mexpected 1,\u001b[0m got\t2\u0007\u202e',
    '2026-11-29T02:00:02.0000000Z ##[error]Process completed with exit code 1.\r\n',
  ].join('\n');
  const result = { summary: 'of the check', step: 'Run npm test', log };
  const explain = async (name: string) => {
    const check = (await feed.checks(head, signal)).checks.find((one) => one.name === name);
    assert.ok(check, name);
    return feed.explain(check, signal);
  };
  forge.checks.finish(forge.checks.start(head, 'job'), 'failure', result);
  assert.deepEqual(await explain('job'), {
    step: 'Run npm test',
    log: '##[group]Run npm test\nexpected 1, got\t2\n##[error]Process completed with exit code 1.',
  });
  forge.checks.finish(forge.checks.start(head, 'gone'), 'failure', { summary: 'of the check', step: 'Build' });
  assert.deepEqual(await explain('gone'), { step: 'Build', log: 'of the check' }, 'a log that is not there any more');
  forge.checks.finish(forge.checks.start(head, 'other', { app: 'other-app' }), 'failure', result);
  assert.deepEqual(await explain('other'), { step: null, log: 'of the check' }, 'the check of another app');
  await call('maintainer', 'POST', `/statuses/${head}`, { state: 'error', context: 'ci', description: 'broken' }, 201);
  assert.deepEqual(await explain('ci'), { step: null, log: 'broken' });
  assert.equal((await feed.read(number, signal))?.head, head);
});

test('of a log of 50 MB, only the end is shown', async (t) => {
  const { forge, feed, head, proxy } = await startPullRequest(t);
  const line = (n: number) => `2026-11-29T02:00:00.1234567Z line ${String(n).padStart(7, '0')} ${'x'.repeat(58)}\n`;
  const lines = 500_000;
  let made = 0;
  function* pieces() {
    for (let n = 0; n < lines; n += 1_000) {
      const piece = Array.from({ length: 1_000 }, (_, more) => line(n + more)).join('');
      made += piece.length;
      yield piece;
    }
  }
  forge.checks.finish(forge.checks.start(head, 'long'), 'failure', { step: 'Test', log: pieces() });
  const {
    checks: [check],
  } = await feed.checks(head, signal);
  assert.ok(check);
  const { step, log } = await feed.explain(check, signal);
  assert.ok(made >= 50_000_000, `${made} characters were sent`);
  assert.equal(step, 'Test');
  assert.ok(log.length <= LOG_SHOWN && log.length > LOG_SHOWN - 100);
  assert.match(log, /\nline 0499999 x+$/);
  assert.doesNotMatch(log, /2026/);
  assert.ok(!proxy.seen.some(({ path }) => path.includes('signed-logs')), 'the log lies at another address');
});

test('a log comes by the trust of the client, and never without TLS where the service has it', async (t) => {
  const { forge, feed: plain, head } = await startPullRequest(t);
  forge.checks.finish(forge.checks.start(head, 'job'), 'failure', { summary: 'words', step: 'Test', log: 'the log' });
  const {
    checks: [check],
  } = await plain.checks(head, signal);
  assert.ok(check);
  const [store, bare] = [await TlsFront.start(t, forge.url), await TlsFront.start(t, forge.url)];
  // The service, with its logs behind TLS.
  const moved = createServer(async ({ url = '' }, response) => {
    const { status, headers } = await fetch(forge.url + url, {
      headers: { authorization: `token ${DAEMON_TOKEN}` },
      redirect: 'manual',
    });
    const location = headers.get('location')?.replace(forge.url, store.url) ?? '';
    response.writeHead(status, { 'content-type': 'application/json', location }).end('{"steps":[]}');
  });
  await new Promise<void>((resolve) => moved.listen(0, '127.0.0.1', resolve));
  finallyDo(t, () => {
    moved.closeAllConnections();
    moved.close();
  });
  const address = moved.address();
  const front = await TlsFront.start(
    t,
    `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
  );
  const trusting = (...fronts: TlsFront[]) => ({
    authorities: fronts.map(({ caFile }) => readFileSync(caFile, 'utf8')),
  });
  const explain = (url: string, access: Access) => trackerAt(t, url, access).feed.explain(check, signal);
  assert.deepEqual(await explain(front.url, trusting(front, store)), { step: null, log: 'the log' });
  assert.deepEqual(await explain(front.url, trusting(front)), { step: null, log: 'words' }, 'an unknown authority');
  assert.deepEqual(await explain(bare.url, trusting(bare)), { step: 'Test', log: 'words' }, 'an address without TLS');
});

test('a log comes through the proxy that the environment names for its address', async (t) => {
  const { forge, proxy, head } = await startPullRequest(t);
  forge.checks.finish(forge.checks.start(head, 'job'), 'failure', { step: 'Test', log: 'the log' });
  const company = await ConnectProxy.start(t);
  const [service, store] = [new URL(proxy.url).host, new URL(forge.url).host];
  const { feed } = trackerAt(t, proxy.url, { env: { http_proxy: company.url, no_proxy: service } });
  const {
    checks: [check],
  } = await feed.checks(head, signal);
  assert.ok(check);
  assert.deepEqual(await feed.explain(check, signal), { step: 'Test', log: 'the log' });
  assert.deepEqual(company.seen, [`CONNECT ${store}`]);
});
