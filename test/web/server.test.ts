// Over 400 lines: its cases share one running server.

import assert from 'node:assert/strict';
import { createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import test from 'node:test';
import { failure, ToolError } from '../../src/base/rules/errors.ts';
import { HTTP_CODES } from '../../src/daemon/rules/codes/http-codes.ts';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import type { StateView } from '../../src/daemon/view.ts';
import type { Page } from '../../src/daemon/view-page.ts';
import { StatusServer } from '../../src/web/server.ts';
import { isOf, wordsLike, wordsOf } from '../support/codes.ts';
import { type Cleanup, finallyDo } from '../support/temp.ts';
import { issueWith, NO_HISTORY, viewWith } from '../support/view.ts';
import { evidenceOf } from '../support/world.ts';

const NOT_OPEN = { repository: 'o/r', said: 'another coordinator has it' };

type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string };

function ask(
  port: number,
  path: string,
  options: { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      { host: '127.0.0.1', port, path, method: options.method ?? 'GET', headers: options.headers ?? {} },
      (response) => {
        let body = '';
        response.on('data', (chunk: Buffer) => {
          body += chunk.toString();
        });
        response.once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
      },
    );
    sent.once('error', reject);
    sent.end(options.body);
  });
}

async function start(t: Cleanup, options: { readonly token?: string; readonly allowedHosts?: readonly string[] } = {}) {
  const world = {
    view: viewWith(),
    refreshes: 0,
    listeners: new Set<() => void>(),
    pages: [] as (Page | undefined)[],
    steered: [] as string[],
    history: NO_HISTORY,
    output: { name: '1-2', from: 0, to: 9, text: '<b>hello\n' },
  };
  const server = new StatusServer({
    source: {
      state: (page) => {
        world.pages.push(page);
        return world.view;
      },
      issue: (number) => {
        if (number === 503) throw failure(WORK_CODES.repository_not_open, NOT_OPEN);
        return number === 1 ? issueWith() : undefined;
      },
      history: () => world.history,
      output: (issue, asked) => (issue === 1 && asked?.of !== '9-9' ? world.output : undefined),
      refresh: () => {
        world.refreshes += 1;
        return { coalesced: world.refreshes > 1 };
      },
      steer: async (command, issue) => {
        world.steered.push(`${command} ${issue}`);
        if (issue === 503) throw failure(WORK_CODES.repository_not_open, NOT_OPEN);
        if (issue === 404) throw failure(WORK_CODES.issue_not_known, { issue });
        const values = { issue, standing: 'done', command: `tool ${command}`, expected: ['queued'] };
        if (issue === 409) throw failure(WORK_CODES.issue_not_steerable, values);
        return { issue, command, standing: 'paused' };
      },
      tell: async (issue, text) => {
        world.steered.push(`tell ${issue} ${text}`);
        return { issue, command: 'tell', standing: 'running' };
      },
      onChange: (listener) => {
        world.listeners.add(listener);
        return () => world.listeners.delete(listener);
      },
      now: () => Date.UTC(2026, 0, 1),
    },
    log: { log: () => undefined },
    host: '127.0.0.1',
    port: 0,
    allowedHosts: ['localhost', '127.0.0.1', '[::1]', ...(options.allowedHosts ?? [])],
    token: options.token ?? null,
    webhook: null,
  });
  await server.listen();
  finallyDo(t, () => server.close());
  const change = (view: StateView) => {
    world.view = view;
    for (const listener of world.listeners) listener();
  };
  return { server, world, change, port: Number(new URL(server.url).port) };
}

test('limit and after page the lists of state and page; what is neither is refused', async (t) => {
  const { port, world } = await start(t);
  const asked: readonly [string, Page][] = [
    ['/api/v1/state', { limit: 100, after: null }],
    ['/api/v1/state?limit=7&after=queued:1-33', { limit: 7, after: { list: 'queued', place: [1, 33] } }],
    ['/?after=completed:1767268800000-4', { limit: 20, after: { list: 'completed', place: [1767268800000, 4] } }],
  ];
  for (const [path, expected] of asked) {
    assert.equal((await ask(port, path)).status, 200);
    assert.deepEqual(world.pages.at(-1), expected, path);
  }
  await ask(port, '/', { headers: { accept: 'text/html' } });
  assert.deepEqual(world.pages.at(-1), { limit: 100, after: null });
  for (const path of [
    '/api/v1/state?limit=0',
    '/api/v1/state?limit=1001',
    '/?limit=x',
    '/?after=queued',
    '/?after=a:1-1',
  ]) {
    const { status, body } = await ask(port, path);
    assert.equal(status, 400, path);
    assert.equal(JSON.parse(body).error.code, 'bad_request');
  }
});

test('the text dashboard for a terminal, the page for a browser, at both paths', async (t) => {
  const { port } = await start(t);
  for (const path of ['/', '/status', '/?x=1']) {
    const text = await ask(port, path);
    assert.equal(text.status, 200);
    assert.match(text.headers['content-type'] ?? '', /^text\/plain/);
    assert.match(
      text.body,
      /^toolcrew 1\.2\.3 · o\/r · polled 10s ago · every 30s · quota 4990\/5000\n1 running \(slots: 2\) · 1 retrying · 1 waiting · 1 done · 1 failed/,
    );
    const page = await ask(port, path, { headers: { accept: 'text/html,*/*' } });
    assert.match(page.headers['content-type'] ?? '', /^text\/html/);
    assert.match(String(page.headers['content-security-policy']), /default-src 'none'/);
    assert.doesNotMatch(page.body, /<b>bold|<script>alert/);
    assert.match(page.body, /First &lt;b&gt;bold/);
  }
});

test('the state, as fixed', async (t) => {
  const { port } = await start(t);
  const { status, headers, body } = await ask(port, '/api/v1/state');
  assert.equal(status, 200);
  assert.match(headers['content-type'] ?? '', /^application\/json/);
  assert.equal(headers['cache-control'], 'no-store');
  const state = JSON.parse(body);
  for (const key of [
    'generated_at',
    'version',
    'workflow',
    'counts',
    'running',
    'retrying',
    'completed',
    'poll',
    'totals',
    'rate_limit',
  ])
    assert.ok(key in state, key);
  assert.equal(state.running[0].issue_number, 1);
});

test('one issue, or 404 with what was asked for', async (t) => {
  const { port, world } = await start(t);
  assert.deepEqual(JSON.parse((await ask(port, '/api/v1/issues/1')).body), issueWith());
  world.history = { ...NO_HISTORY, evidence: evidenceOf('a'.repeat(40)) };
  const { evidence } = JSON.parse((await ask(port, '/api/v1/issues/1')).body);
  assert.deepEqual(evidence, world.history.evidence, 'of an issue that is over the journal tells');
  const cases: readonly [string, RegExp][] = [
    ['/api/v1/issues/2', wordsLike(HTTP_CODES.issue_unknown, { issue: 2 })],
    ['/api/v1/issues/x', wordsLike(HTTP_CODES.issue_number_invalid, { got: 'x' })],
    ['/api/v1/issues/0', wordsLike(HTTP_CODES.issue_number_invalid, { got: '0' })],
    ['/api/v1/issues/', wordsLike(HTTP_CODES.issue_number_invalid)],
    ['/api/v1', wordsLike(HTTP_CODES.not_found, { path: '/api/v1' })],
    ['/../etc/passwd', wordsLike(HTTP_CODES.not_found, { path: '/../etc/passwd' })],
    ['/login', wordsLike(HTTP_CODES.not_found, { path: '/login' })],
  ];
  for (const [path, message] of cases) {
    const { status, body } = await ask(port, path);
    assert.equal(status, 404, path);
    const { error } = JSON.parse(body);
    assert.equal(error.code, 'not_found');
    assert.match(error.message, message);
  }
});

test('the page of an issue for a browser, its story for a terminal, a sentence for one that nobody knows', async (t) => {
  const { port } = await start(t);
  const accept = { accept: 'text/html' };
  const known = await ask(port, '/issues/1', { headers: accept });
  assert.equal(known.status, 200);
  assert.match(String(known.headers['content-security-policy']), /default-src 'none'; script-src 'nonce-/);
  assert.match(known.body, /<pre id="output"[^>]*>&lt;b&gt;hello\n<\/pre>/);
  const unknown = await ask(port, '/issues/2', { headers: accept });
  assert.equal(unknown.status, 404);
  assert.equal((await ask(port, '/api/v1/issues/503')).status, 503);
  assert.match(unknown.body, new RegExp(`<p>${wordsOf(HTTP_CODES.issue_unknown, { issue: 2 })}</p>.*<a href="/">`));
  const text = await ask(port, '/issues/1');
  assert.match(text.headers['content-type'] ?? '', /^text\/plain/);
  assert.equal(text.body, '#1 First <b>bold</b>\nnow: attempt 2: agent at work\n');
  assert.match(
    (await ask(port, '/issues/1/', { headers: accept })).body,
    /<p>Expected an issue&#39;s number, got 1\/\.<\/p>/,
  );
  for (const path of ['/issues/2', '/issues/x']) assert.equal((await ask(port, path)).status, 404, path);
  assert.equal((await ask(port, '/issues/1', { method: 'POST' })).status, 405);
});

test('an output is text, with the bytes that it is; what names none is refused', async (t) => {
  const { port } = await start(t);
  const { status, headers, body } = await ask(port, '/api/v1/issues/1/output?of=1-2&from=0');
  assert.equal(status, 200);
  assert.match(headers['content-type'] ?? '', /^text\/plain/);
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.deepEqual([headers['x-output'], headers['x-output-from'], headers['x-output-to']], ['1-2', '0', '9']);
  assert.equal(body, '<b>hello\n');
  for (const [path, code] of [
    ['1/output?of=..%2Fx', 400],
    ['1/output?from=-1', 400],
    ['1/output?of=9-9', 404],
    ['2/output', 404],
    ['x/output', 404],
  ] as const)
    assert.equal((await ask(port, `/api/v1/issues/${path}`)).status, code, path);
});

test('refresh: 202, coalesced when one is on its way; with an empty or a JSON body, nothing else', async (t) => {
  const { port, world } = await start(t);
  const first = await ask(port, '/api/v1/refresh', { method: 'POST' });
  assert.equal(first.status, 202);
  assert.deepEqual(JSON.parse(first.body), {
    queued: true,
    coalesced: false,
    requested_at: '2026-01-01T00:00:00.000Z',
    operations: ['poll', 'reconcile'],
  });
  assert.equal(
    JSON.parse(
      (
        await ask(port, '/api/v1/refresh', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{}',
        })
      ).body,
    ).coalesced,
    true,
  );
  assert.equal(world.refreshes, 2);
  const form = await ask(port, '/api/v1/refresh', {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: 'x',
  });
  assert.equal(form.status, 415);
  const large = await ask(port, '/api/v1/refresh', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: 'x'.repeat(100_000),
  });
  assert.equal(large.status, 413);
  assert.equal(world.refreshes, 2);
});

test('a wrong method is 405 with what is allowed; HEAD has no body', async (t) => {
  const { port } = await start(t);
  const cases: readonly [string, string, string][] = [
    ['GET', '/api/v1/refresh', 'POST'],
    ['POST', '/api/v1/state', 'GET, HEAD'],
    ['DELETE', '/', 'GET, HEAD'],
    ['POST', '/api/v1/events', 'GET'],
    ['PUT', '/metrics', 'GET, HEAD'],
  ];
  for (const [method, path, allow] of cases) {
    const { status, headers, body } = await ask(port, path, { method });
    assert.equal(status, 405, `${method} ${path}`);
    assert.equal(headers.allow, allow);
    assert.equal(JSON.parse(body).error.code, 'method_not_allowed');
  }
  const head = await ask(port, '/api/v1/state', { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(head.body, '');
});

test('a foreign Host is 421, a foreign Origin 403; its own page is let in', async (t) => {
  const { port, world } = await start(t, { allowedHosts: ['status.example.com'] });
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, '[::1]', 'LOCALHOST', 'status.example.com'])
    assert.equal((await ask(port, '/healthz', { headers: { host } })).status, 200, host);
  for (const host of ['evil.example', 'localhost.evil.example', `127.0.0.1.evil:${port}`, 'status.example.com.evil']) {
    const { status, body } = await ask(port, '/api/v1/state', { headers: { host } });
    assert.equal(status, 421, host);
    assert.equal(JSON.parse(body).error.code, 'foreign_host');
    assert.ok(JSON.parse(body).error.message.includes(host), body);
  }
  const own = { host: `localhost:${port}`, origin: `http://localhost:${port}` };
  assert.equal((await ask(port, '/api/v1/refresh', { method: 'POST', headers: own })).status, 202);
  for (const origin of ['http://evil.example', 'http://localhost:1', 'null', 'not a url']) {
    const { status, body } = await ask(port, '/api/v1/refresh', { method: 'POST', headers: { ...own, origin } });
    assert.equal(status, 403, origin);
    assert.equal(JSON.parse(body).error.code, 'foreign_origin');
  }
  assert.equal(world.refreshes, 1);
});

test('a request without a Host is turned away', async (t) => {
  const { port } = await start(t);
  const said = await new Promise<string>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.end('GET /api/v1/state HTTP/1.0\r\n\r\n'));
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.once('close', () => resolve(text));
  });
  assert.match(said, /^HTTP\/1\.1 (400|421)/);
});

test('with a token every route but the health check needs it; a browser gets a cookie for it', async (t) => {
  const { port } = await start(t, { token: 'the token' });
  assert.equal((await ask(port, '/healthz')).status, 200);
  for (const path of [
    '/',
    '/issues/1',
    '/api/v1/state',
    '/metrics',
    '/api/v1/events',
    '/api/v1/issues/1',
    '/api/v1/issues/1/output',
  ]) {
    const { status, headers } = await ask(port, path);
    assert.equal(status, 401, path);
    assert.equal(headers['www-authenticate'], 'Bearer');
    assert.equal((await ask(port, path, { headers: { authorization: 'Bearer wrong' } })).status, 401);
  }
  assert.equal((await ask(port, '/api/v1/refresh', { method: 'POST' })).status, 401);
  assert.equal((await ask(port, '/api/v1/state', { headers: { authorization: 'Bearer the token' } })).status, 200);
  const login = await ask(port, '/', { headers: { accept: 'text/html' } });
  assert.equal(login.status, 401);
  assert.match(login.body, /<form method="post" action="\/login">/);
  const deep = await ask(port, '/issues/1?x=1', { headers: { accept: 'text/html' } });
  assert.match(deep.body, /<input type="hidden" name="then" value="\/issues\/1\?x=1">/);
  const form = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' };
  const to = async (then: string) =>
    (await ask(port, '/login', { method: 'POST', headers: form, body: `token=the+token&then=${then}` })).headers
      .location;
  assert.deepEqual([await to('%2Fissues%2F1'), await to('%2F%2Fevil.example')], ['/issues/1', '/']);
  const wrong = await ask(port, '/login', { method: 'POST', headers: form, body: 'token=nope' });
  assert.equal(wrong.status, 401);
  assert.match(wrong.body, /That is not the token/);
  assert.equal(
    (await ask(port, '/login', { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' })).status,
    415,
  );
  const right = await ask(port, '/login', { method: 'POST', headers: form, body: 'token=the+token' });
  assert.equal(right.status, 303);
  const cookie = right.headers['set-cookie']?.[0] ?? '';
  assert.match(cookie, /HttpOnly; SameSite=Strict; Path=\//);
  assert.doesNotMatch(cookie, /the.token/);
  assert.ok(cookie.includes(`_${port}=`), 'another daemon on this machine has a cookie of its own');
  const page = await ask(port, '/', { headers: { accept: 'text/html', cookie: `a=b; ${cookie.split(';')[0]}` } });
  assert.equal(page.status, 200);
  assert.equal((await ask(port, '/', { headers: { cookie: `toolcrew_session_${port}=forged` } })).status, 401);
});

/** Reads server-sent events until `count` of them have come. */
function events(
  port: number,
  path: string,
  count: number,
  onEvent: (index: number) => void = () => undefined,
  lastId?: string,
): Promise<{ readonly name: string; readonly data: string; readonly id: string }[]> {
  return new Promise((resolve, reject) => {
    const found: { name: string; data: string; id: string }[] = [];
    const headers = lastId === undefined ? {} : { 'last-event-id': lastId };
    const sent = httpRequest({ host: '127.0.0.1', port, path, headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
          const block = text.slice(0, end);
          text = text.slice(end + 2);
          const name = /^event: (.*)$/m.exec(block)?.[1];
          if (name === undefined) continue;
          found.push({
            name,
            data: /^data: (.*)$/m.exec(block)?.[1] ?? '',
            id: /^id: (.*)$/m.exec(block)?.[1] ?? '',
          });
          onEvent(found.length);
          if (found.length === count) {
            sent.destroy();
            resolve(found);
          }
        }
      });
    });
    sent.once('error', (error) => (found.length === count ? undefined : reject(error)));
    sent.end();
  });
}

test('events: a snapshot, then what changed; who comes back gets what it missed', async (t) => {
  const { port, change } = await start(t);
  const [snapshot, changed] = await events(port, '/api/v1/events', 2, () => change(viewWith({ running: [] })));
  assert.deepEqual([snapshot?.name, changed?.name], ['snapshot', 'change']);
  const { set } = JSON.parse(snapshot?.data ?? '');
  assert.equal(set['running/1'].title, 'First <b>bold</b>');
  assert.equal(set.counts.queued, 1);
  const { now: _, ...rest } = JSON.parse(changed?.data ?? '');
  assert.deepEqual(rest, { set: {}, removed: ['running/1'], fetch: [], last: true });
  change(viewWith({ slots: 7 }));
  const [missed] = await events(port, '/api/v1/events', 1, () => undefined, snapshot?.id);
  assert.equal(missed?.name, 'change');
  const [again] = await events(port, '/api/v1/events', 1, () => undefined, 'of-another-daemon-1');
  assert.equal(again?.name, 'snapshot');
  assert.equal(JSON.parse(again?.data ?? '').set.slots, 7);
});

test('events for the page: the markup of the rows that changed', async (t) => {
  const { port, change } = await start(t);
  const [first, then] = await events(port, '/api/v1/events?view=page', 2, () => change(viewWith({ retrying: [] })));
  assert.match(JSON.parse(first?.data ?? '').set['run-1'], /^<tr id="run-1" /);
  const { set, removed } = JSON.parse(then?.data ?? '');
  assert.deepEqual([set, removed], [{}, ['retry-2']]);
});

test('events for the page of an issue: its parts, then those that changed', async (t) => {
  const { port, change, world } = await start(t);
  const path = '/api/v1/events?view=page&issue=1';
  const [first, then] = await events(port, path, 2, () => {
    world.history = { ...NO_HISTORY, story: [{ at: 0, words: 'taken up' }] };
    world.output = { ...world.output, to: 12 };
    change(viewWith());
  });
  assert.match(JSON.parse(first?.data ?? '').set.state, /attempt 2: agent at work/);
  const { set, removed } = JSON.parse(then?.data ?? '');
  assert.deepEqual([Object.keys(set), removed], [['output-at', 'line-0'], []]);
  assert.equal(set['output-at'], '1-2 12');
  const [again] = await events(port, path, 1, () => undefined, first?.id);
  assert.equal(again?.name, 'snapshot', 'the feed of an issue goes with its last reader');
});

test('changes that come together are sent together', async (t) => {
  const { port, change, world } = await start(t);
  const found = await events(port, '/api/v1/events', 2, (index) => {
    if (index === 1) for (let n = 0; n < 100; n++) change(viewWith({ slots: n }));
  });
  assert.equal(JSON.parse(found[1]?.data ?? '').set.slots, 99);
  assert.equal(world.listeners.size, 1);
});

test('metrics that Prometheus reads', async (t) => {
  const { port } = await start(t);
  const { body, headers } = await ask(port, '/metrics');
  assert.match(headers['content-type'] ?? '', /^text\/plain; version=0\.0\.4/);
  for (const line of [
    'toolcrew_issues{state="running"} 1',
    'toolcrew_issues_finished_total{outcome="failed"} 1',
    'toolcrew_tokens_total{direction="input"} 12000',
    'toolcrew_poll_ok 1',
    'toolcrew_issues_waiting{reason="issue_untrusted"} 1',
    'toolcrew_issues_postponed 0',
    'toolcrew_last_poll_timestamp_seconds 1767268790',
    'toolcrew_tracker_not_modified_total 8',
  ]) {
    assert.ok(body.includes(`\n${line}\n`), line);
  }
});

test('commands on an issue need a token in the file, the token in the request, JSON, and a state in which they make sense', async (t) => {
  const json = { 'content-type': 'application/json' };
  const bearer = { ...json, authorization: 'Bearer the token' };
  const code = (answer: Answer) => [answer.status, JSON.parse(answer.body).error.code];
  const open = await start(t);
  const closed = await ask(open.port, '/api/v1/issues/1/pause', { method: 'POST', headers: json });
  assert.deepEqual(code(closed), [403, 'steering_locked']);
  assert.match(closed.body, /server\.token/);
  const { port, world } = await start(t, { token: 'the token' });
  const post = (path: string, headers: Record<string, string>) =>
    ask(port, `/api/v1/issues/${path}`, { method: 'POST', headers });
  assert.deepEqual(code(await post('1/pause', json)), [401, 'unauthorized']);
  const { authorization } = bearer;
  assert.deepEqual(code(await post('1/pause', { authorization })), [415, 'unsupported_media_type']);
  const foreign = await post('1/pause', { ...bearer, origin: 'https://elsewhere' });
  assert.deepEqual(code(foreign), [403, 'foreign_origin']);
  assert.deepEqual(code(await post('x/pause', bearer)), [404, 'not_found']);
  assert.deepEqual(code(await ask(port, '/api/v1/issues/1/pause', { headers: bearer })), [405, 'method_not_allowed']);
  assert.deepEqual(world.steered, []);
  assert.deepEqual(code(await post('404/pause', bearer)), [404, 'not_found']);
  assert.deepEqual(code(await post('409/retry', bearer)), [409, 'issue_not_steerable']);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const login = await ask(port, '/login', { method: 'POST', headers: form, body: 'token=the+token' });
  const cookie = String(login.headers['set-cookie']).split(';')[0] ?? '';
  for (const command of ['pause', 'resume', 'cancel', 'retry']) {
    const { status, body } = await post(`7/${command}`, { ...json, cookie });
    assert.deepEqual([status, JSON.parse(body)], [200, { issue: 7, command, standing: 'paused' }]);
  }
  assert.deepEqual(world.steered.slice(2), ['pause 7', 'resume 7', 'cancel 7', 'retry 7']);
  assert.deepEqual(code(await post('503/retry', bearer)), [503, 'repository_not_open']);
});

test('a text for an agent is taken as JSON with a token', async (t) => {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer the token' };
  const { port, world } = await start(t, { token: 'the token' });
  const tell = (body: string) => ask(port, '/api/v1/issues/7/tell', { method: 'POST', headers, body });
  const told = await tell('{"text":"Take the red one."}');
  assert.deepEqual([told.status, JSON.parse(told.body)], [200, { issue: 7, command: 'tell', standing: 'running' }]);
  for (const body of ['', 'Take it', '{}', '{"text":7}', 'null']) {
    const refused = await tell(body);
    assert.deepEqual([refused.status, JSON.parse(refused.body).error.code], [400, 'request_invalid'], body);
  }
  assert.deepEqual(world.steered, ['tell 7 Take the red one.']);
  const open = await start(t);
  const locked = await ask(open.port, '/api/v1/issues/7/tell', { method: 'POST', headers, body: '{"text":"x"}' });
  assert.equal(locked.status, 403);
});

test('a busy port is said with both ways out', async (t) => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  finallyDo(t, () => other.close());
  const address = other.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const source = {
    state: () => viewWith(),
    issue: () => undefined,
    history: () => NO_HISTORY,
    output: () => undefined,
    refresh: () => ({ coalesced: false }),
    steer: async () => assert.fail(),
    tell: async () => assert.fail(),
    onChange: () => () => undefined,
    now: () => 0,
  };
  const log = { log: () => undefined };
  const where = { host: '127.0.0.1', port, allowedHosts: [] };
  const server = new StatusServer({ source, log, ...where, token: null, webhook: null });
  await assert.rejects(server.listen(), (error: unknown) => {
    assert.ok(error instanceof ToolError && error.kind === 'port_in_use' && error.exitCode === 2);
    assert.match(error.message, /--port <n>.*server\.port: 0/);
    return isOf(HTTP_CODES.port_in_use, { port, host: '127.0.0.1' })(error);
  });
  await server.close();
});

test('closing ends open event streams and keeps nobody waiting', async (t) => {
  const { server, port } = await start(t);
  const ended = new Promise<void>((resolve) => {
    const sent = httpRequest({ host: '127.0.0.1', port, path: '/api/v1/events' }, (response) => {
      response.resume();
      response.once('close', () => resolve());
      void server.close();
    });
    sent.once('error', () => resolve());
    sent.end();
  });
  await ended;
});

test('a fault of our own is a 500 with its words, and the server goes on', async (t) => {
  const { port, world } = await start(t);
  Object.defineProperty(world, 'view', {
    get() {
      throw new Error('a bug');
    },
  });
  assert.equal((await ask(port, '/api/v1/state')).status, 500);
  assert.equal((await ask(port, '/healthz')).status, 200);
});
