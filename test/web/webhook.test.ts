// Deliveries of webhooks at the real server, over sockets, signed as the service signs them.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { request as httpRequest, IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import test from 'node:test';
import { textOf } from '../../src/base/rules/codes.ts';
import { decodeDelivery, isSigned } from '../../src/daemon/github/delivery.ts';
import { HTTP_CODES } from '../../src/daemon/rules/codes/http-codes.ts';
import { type Look, NO_LOOK } from '../../src/daemon/rules/look.ts';
import { renderMetrics } from '../../src/web/metrics.ts';
import { StatusServer } from '../../src/web/server.ts';
import { Webhook } from '../../src/web/webhook.ts';
import { wordsLike } from '../support/codes.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { type Cleanup, finallyDo } from '../support/temp.ts';
import { NO_HISTORY, viewWith } from '../support/view.ts';

const SECRET = 'a secret of the webhook';
const PATH = '/webhooks/github';

async function start(t: Cleanup, hasWebhook = true) {
  const clock = new FakeClock();
  const lines: string[] = [];
  const looks: [string, Look][] = [];
  const webhook = new Webhook({
    secret: SECRET,
    ours: 'Owner/repo',
    takes: (name) =>
      name.toLowerCase() === 'owner/repo' ? (event, look) => void looks.push([event, look]) : undefined,
    clock,
    log: { log: (_, __, said) => lines.push(typeof said === 'string' ? said : textOf(said)) },
    isSigned,
    decode: decodeDelivery,
  });
  const server = new StatusServer({
    source: {
      state: () => viewWith(),
      issue: () => undefined,
      history: () => NO_HISTORY,
      output: () => undefined,
      refresh: () => ({ coalesced: false }),
      steer: () => assert.fail(),
      tell: () => assert.fail(),
      onChange: () => () => undefined,
      now: clock.now,
    },
    log: { log: () => undefined },
    host: '127.0.0.1',
    port: 0,
    allowedHosts: ['localhost'],
    token: 'the token of the server',
    webhook: hasWebhook ? webhook : null,
  });
  await server.listen();
  finallyDo(t, () => server.close());
  return { clock, lines, looks, webhook, port: Number(new URL(server.url).port) };
}

type Sent = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly chunked?: boolean;
};

function signed(body: string | Buffer, secret = SECRET): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

let lastId = 0;

/** The headers and the body of a delivery; what `headers` says counts more. */
function delivery(event: string, payload: unknown, { headers = {}, chunked }: Sent = {}) {
  const body = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : JSON.stringify(payload);
  lastId += 1;
  const all = {
    // The name of a proxy in front.
    host: 'hooks.example.org',
    'content-type': 'application/json',
    'x-github-event': event,
    'x-github-delivery': `delivery-${lastId}`,
    'x-hub-signature-256': signed(body),
    ...(chunked === true ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
  };
  return { headers: all, body };
}

type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

/** Sends a delivery as the service does. */
function send(port: number, event: string, payload: unknown, sent: Sent = {}) {
  const { method = 'POST' } = sent;
  const { headers: all, body } = delivery(event, payload, sent);
  return new Promise<Answer>((resolve, reject) => {
    let answer: Answer | undefined;
    const sent = httpRequest(
      {
        ...{ host: '127.0.0.1', port, path: PATH, method, agent: false },
        headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)),
      },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        response.once('end', () => {
          answer = { status: response.statusCode ?? 0, body: JSON.parse(text) };
        });
      },
    );
    // A body that is refused may still be on its way when the answer is there: it cannot be written to the end.
    sent.on('error', (error) => {
      if (answer === undefined) reject(error);
    });
    sent.once('close', () => {
      if (answer !== undefined) resolve(answer);
    });
    sent.end(body);
  });
}

const repository = { full_name: 'owner/Repo', default_branch: 'trunk' };
const labelled = (number: number) => ({ action: 'labeled', issue: { number }, repository });
const codeOf = ({ body }: { readonly body: Readonly<Record<string, unknown>> }) =>
  JSON.parse(JSON.stringify(body.error ?? {})).code;

test('without a secret there is no such route', async (t) => {
  const { port } = await start(t, false);
  const { status, body } = await send(port, 'issues', labelled(1), {
    headers: { host: 'localhost', authorization: 'Bearer the token of the server' },
  });
  assert.deepEqual([status, codeOf({ body })], [404, 'not_found']);
});

test('a delivery needs neither the token nor a known name; it is JSON or a form', async (t) => {
  const { port, looks, webhook, clock } = await start(t);
  assert.equal(webhook.status.lastAt, null);
  const answer = await send(port, 'issues', labelled(7));
  assert.deepEqual([answer.status, answer.body.result], [202, 'accepted']);
  const form = new URLSearchParams({ payload: JSON.stringify(labelled(8)) }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  assert.equal((await send(port, 'issues', form, { headers })).status, 202);
  assert.deepEqual(
    looks.map(([event, { list, issues }]) => [event, list, issues]),
    [
      ['issues', true, [7]],
      ['issues', true, [8]],
    ],
  );
  assert.equal(webhook.status.lastAt, clock.now());
  assert.equal(webhook.status.counts.accepted, 2);
});

test('each event has the smallest reading', async (t) => {
  const { port, looks } = await start(t);
  const pull = { number: 5 };
  const cases: readonly [string, Readonly<Record<string, unknown>>, Partial<Look>][] = [
    ['issues', { action: 'labeled', issue: { number: 3 } }, { list: true, issues: [3] }],
    ['issues', { action: 'closed', issue: { number: 3 } }, { list: true, blockers: true, issues: [3] }],
    ['issue_comment', { issue: { number: 3 } }, { issues: [3] }],
    ['issue_comment', { issue: { number: 5, pull_request: { url: 'u' } } }, { pulls: [5] }],
    ['pull_request', { action: 'synchronize', pull_request: pull }, { pulls: [5] }],
    [
      'pull_request',
      { action: 'closed', pull_request: pull },
      { list: true, blockers: true, pulls: [5], allPulls: true },
    ],
    ['pull_request', { action: 'reopened', pull_request: pull }, { list: true, blockers: true, pulls: [5] }],
    ['push', { ref: 'refs/heads/trunk' }, { allPulls: true }],
    ['push', { ref: 'refs/heads/topic' }, {}],
    ['push', { ref: 'refs/tags/trunk' }, {}],
    ['pull_request_review', { pull_request: pull }, { pulls: [5] }],
    ['pull_request_review_comment', { pull_request: pull }, { pulls: [5] }],
    ['pull_request_review_thread', { pull_request: pull }, { pulls: [5] }],
    ['check_run', { check_run: { head_sha: 'a', status: 'completed' } }, { commits: ['a'] }],
    ['check_run', { check_run: { head_sha: 'b', status: 'in_progress' } }, {}],
    ['check_suite', { check_suite: { head_sha: 'c', status: 'completed' } }, { commits: ['c'] }],
    ['status', { sha: 'd', state: 'failure' }, { commits: ['d'] }],
    ['status', { sha: 'e', state: 'pending' }, {}],
    [
      'sub_issues',
      { parent_issue: { number: 1 }, sub_issue: { number: 2 } },
      { list: true, blockers: true, issues: [1, 2] },
    ],
    ['issue_dependencies', { blocked_issue: { number: 1 } }, { list: true, blockers: true, issues: [1] }],
    ['issues', { issue: 'of another shape' }, { list: true }],
  ];
  for (const [index, [event, payload]] of cases.entries())
    assert.equal((await send(port, event, { ...payload, index, repository })).status, 202, event);
  assert.deepEqual(
    looks,
    cases.map(([event, , look]) => [event, { ...NO_LOOK, ...look }]),
  );
});

test('a ping is answered, and events that nothing is read for are', async (t) => {
  const { port, looks, webhook } = await start(t);
  const ping = await send(port, 'ping', { zen: 'z', hook_id: 1, repository });
  assert.deepEqual([ping.status, ping.body.result], [200, 'ping']);
  for (const event of ['star', 'constructor', '__proto__'])
    assert.deepEqual((await send(port, event, { event, repository })).body.result, 'ignored');
  assert.equal((await send(port, 'issues', { action: 'labeled' })).body.result, 'ignored');
  assert.deepEqual(looks, []);
  assert.deepEqual([webhook.status.counts.ping, webhook.status.counts.ignored], [1, 4]);
});

test('what is unsigned, forged or changed on its way is refused, and starts nothing', async (t) => {
  const { port, looks, lines, webhook } = await start(t);
  const body = JSON.stringify(labelled(1));
  const cases: readonly [Sent['headers'], string][] = [
    [{ 'x-hub-signature-256': undefined }, 'webhook_unsigned'],
    [{ 'x-hub-signature-256': 'sha256=' }, 'webhook_unsigned'],
    [{ 'x-hub-signature-256': signed(body).toUpperCase() }, 'webhook_unsigned'],
    [{ 'x-hub-signature-256': signed(body, 'another secret') }, 'webhook_forged'],
    [{ 'x-hub-signature-256': signed(`${body} `) }, 'webhook_forged'],
  ];
  for (const [headers = {}, code] of cases) {
    const answer = await send(port, 'issues', body, { headers });
    assert.deepEqual([answer.status, codeOf(answer)], [401, code]);
  }
  const empty = await send(port, 'issues', '');
  assert.deepEqual([empty.status, codeOf(empty)], [401, 'webhook_forged']);
  assert.deepEqual(looks, []);
  assert.equal(webhook.status.lastAt, null);
  assert.equal(webhook.status.counts.forged, 6);
  assert.equal(lines.length, 6);
  assert.ok(
    lines.every((line) => wordsLike(HTTP_CODES.webhook_refused, { from: /(?:::ffff:)?127\.0\.0\.1/ }).test(line)),
  );
  assert.ok(!lines.join().includes(SECRET));
});

test('a delivery that comes again is known, whatever id it has', async (t) => {
  const { port, looks, clock, webhook } = await start(t);
  const headers = { 'x-github-delivery': 'the-same' };
  assert.equal((await send(port, 'issues', labelled(1), { headers })).status, 202);
  const first = webhook.status.lastAt;
  await clock.pass(1_000);
  for (const again of [await send(port, 'issues', labelled(2), { headers }), await send(port, 'issues', labelled(1))])
    assert.deepEqual([again.status, again.body.result], [200, 'known']);
  assert.equal(looks.length, 1);
  assert.equal(webhook.status.lastAt, first, 'it proves nothing');
});

test('only the last ten thousand deliveries are remembered', async (t) => {
  const { port, webhook } = await start(t);
  // A connection that is kept ends while the loop below leaves the server no time.
  const headers = { 'x-github-delivery': 'the-first', connection: 'close' };
  const first = labelled(1);
  const repeat = async () => (await send(port, 'star', first, { headers })).body.result;
  assert.equal(await repeat(), 'ignored');
  assert.equal(await repeat(), 'known');
  for (let number = 1; number <= 10_000; number++) {
    if (number === 10_000) assert.equal(await repeat(), 'known');
    const request = new IncomingMessage(new Socket());
    const { headers: all, body } = delivery('star', { number, repository });
    Object.assign(request.headers, all);
    request.push(body);
    request.push(null);
    await webhook.receive(request);
  }
  assert.equal(await repeat(), 'ignored');
});

test('a delivery for another repository is answered, ignored, and named in a line', async (t) => {
  const { port, looks, lines, webhook } = await start(t);
  const other = { ...labelled(1), repository: { full_name: 'owner/other' } };
  const answer = await send(port, 'issues', other);
  assert.deepEqual([answer.status, answer.body.result], [202, 'ignored']);
  assert.deepEqual(looks, []);
  assert.equal(webhook.status.lastAt, null);
  assert.match(
    lines.join('\n'),
    wordsLike(HTTP_CODES.webhook_elsewhere, { repository: 'Owner/repo', got: 'owner/other' }),
  );
});

test('another repository is named once, and leaves the lines of a minute to others', async (t) => {
  const { port, lines, clock } = await start(t);
  const from = (name: string, number: number) =>
    send(port, 'issues', { ...labelled(number), repository: { full_name: name } });
  for (let number = 0; number < 20; number++) await from(number % 2 === 0 ? 'owner/other' : 'Owner/Other', number);
  assert.equal(lines.length, 1);
  await from('owner/third', 20);
  assert.equal(lines.length, 2);
  await clock.pass(120_000);
  await from('owner/other', 21);
  assert.equal(lines.length, 2);
});

test('a body over 25 MB is refused, announced or not', async (t) => {
  const { port, webhook } = await start(t);
  const body = Buffer.alloc(26 * 1024 * 1024, 0x20);
  for (const chunked of [false, true]) {
    const answer = await send(port, 'issues', body, { chunked });
    assert.deepEqual([answer.status, codeOf(answer)], [413, 'too_large']);
  }
  assert.equal(webhook.status.counts.malformed, 2);
  const most = JSON.stringify({ ...labelled(1), more: 'x'.repeat(24 * 1024 * 1024) });
  assert.equal((await send(port, 'issues', most)).status, 202);
});

test('signed, but no delivery: each gets its answer', async (t) => {
  const { port, looks } = await start(t);
  const cases: readonly [unknown, Sent, number, string][] = [
    [labelled(1), { headers: { 'content-type': 'text/plain' } }, 415, 'unsupported_media_type'],
    [labelled(1), { headers: { 'content-type': undefined } }, 415, 'unsupported_media_type'],
    [labelled(1), { headers: { 'x-github-delivery': undefined } }, 400, 'bad_request'],
    [labelled(1), { headers: { 'x-github-delivery': 'x'.repeat(101) } }, 400, 'bad_request'],
    [labelled(1), { headers: { 'x-github-event': undefined } }, 400, 'bad_request'],
    ['{ no JSON', {}, 400, 'bad_request'],
    ['[]', {}, 400, 'bad_request'],
    [Buffer.from([0x7b, 0xff, 0x7d]), {}, 400, 'bad_request'],
    ['payload=x', { headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 400, 'bad_request'],
  ];
  for (const [payload, sent, status, code] of cases) {
    const answer = await send(port, 'issues', payload, sent);
    assert.deepEqual([answer.status, codeOf(answer)], [status, code], JSON.stringify(sent));
  }
  const answer = await send(port, 'issues', labelled(1), { method: 'PUT' });
  assert.deepEqual([answer.status, codeOf(answer)], [405, 'method_not_allowed']);
  assert.deepEqual(looks, []);
});

test('the log gets at most ten lines a minute', async (t) => {
  const { port, lines, clock, webhook } = await start(t);
  const forge = () => send(port, 'issues', labelled(1), { headers: { 'x-hub-signature-256': 'x' } });
  for (let count = 0; count < 25; count++) await forge();
  assert.equal(lines.length, 10);
  await clock.pass(60_000);
  await forge();
  assert.equal(lines.length, 11);
  assert.equal(webhook.status.counts.forged, 26);
});

test('work begins after the answer', async (t) => {
  const { port, webhook } = await start(t);
  const order: string[] = [];
  const receive = webhook.receive.bind(webhook);
  webhook.receive = async (request) => {
    const answer = await receive(request);
    if ('why' in answer) return answer;
    return { ...answer, work: () => order.push(`work, answered ${request.socket.bytesWritten > 0}`) };
  };
  await send(port, 'issues', labelled(1));
  assert.deepEqual(order, ['work, answered true']);
});

test('the metrics count deliveries by result', async (t) => {
  const { port, webhook } = await start(t);
  await send(port, 'issues', labelled(1));
  const { counts } = webhook.status;
  const { body } = await renderMetrics(viewWith({ webhook: { last_delivery_at: null, deliveries: counts } }));
  assert.match(body, /^toolcrew_webhook_deliveries_total\{result="accepted"\} 1$/m);
  assert.match(body, /^toolcrew_webhook_deliveries_total\{result="forged"\} 0$/m);
  assert.doesNotMatch((await renderMetrics(viewWith())).body, /webhook/);
});
