// The feed of pull requests on services that do one unusual thing each.

import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import test from 'node:test';
import { HostingClient } from '../../../src/daemon/github/client.ts';
import { GitHubTracker } from '../../../src/daemon/github/tracker.ts';
import type { Check } from '../../../src/daemon/rules/pull-request-status.ts';
import { TrackerError } from '../../../src/daemon/rules/tracker-error.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { type Cleanup, finallyDo } from '../../support/temp.ts';

const { signal } = new AbortController();
const TOKEN = 'canary-of-the-feed';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

type Service = { readonly url: string; readonly seen: { readonly route: string; readonly headers: string }[] };

async function serve(t: Cleanup, handle: Handler): Promise<Service> {
  const seen: Service['seen'] = [];
  const server = createServer((request, response) => {
    seen.push({ route: `${request.method} ${request.url}`, headers: JSON.stringify(request.rawHeaders) });
    request.resume();
    handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  finallyDo(t, () => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return { seen, url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}` };
}

function feedAt(t: Cleanup, apiUrl: string, clock = new FakeClock(Date.now())) {
  const client = new HostingClient({
    ...{ apiUrl, token: async () => TOKEN, onUnauthorized: () => undefined },
    ...{ userAgent: 'toolcrew-test', clock, timeoutMs: 60_000 },
  });
  finallyDo(t, () => client.close());
  return new GitHubTracker({ client, slug: { owner: 'o', repo: 'r' }, clock }).feed;
}

function answer(response: ServerResponse, value: unknown, status = 200, headers: Record<string, string> = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

const CHECK: Check = { name: 'test', state: 'failed', url: null, run: 7, summary: 'its own words' };
const JOB = {
  steps: [
    { name: 'Build', conclusion: 'success' },
    { name: 'Test', conclusion: 'failure' },
  ],
};

/** A service whose logs lie at an address. */
function withLogsAt(t: Cleanup, location: string): Promise<Service> {
  return serve(t, ({ url = '' }, response) => {
    if (url.endsWith('/logs')) response.writeHead(302, { location }).end();
    else answer(response, JOB);
  });
}

test('the token goes to the service, and not to the address of a log', async (t) => {
  const store = await serve(t, (_, response) => response.end('2026-11-29T02:00:00.1234567Z it failed\n'));
  const api = await withLogsAt(t, `${store.url}/log?sig=1`);
  assert.deepEqual(await feedAt(t, api.url).explain(CHECK, signal), { step: 'Test', log: 'it failed' });
  assert.ok(api.seen.length === 2 && api.seen.every(({ headers }) => headers.includes(TOKEN)));
  assert.deepEqual(
    store.seen.map(({ route }) => route),
    ['GET /log?sig=1'],
  );
  assert.doesNotMatch(store.seen[0]?.headers ?? '', new RegExp(`${TOKEN}|authorization|cookie`, 'i'));
});

test('a redirect of a log is not followed any further', async (t) => {
  const api = await serve(t, ({ url = '' }, response) => {
    if (url === '/again') answer(response, 'reached');
    else if (url === '/store') response.writeHead(302, { location: '/again' }).end();
    else if (url.endsWith('/logs')) response.writeHead(302, { location: '/store' }).end();
    else answer(response, JOB);
  });
  assert.deepEqual(await feedAt(t, api.url).explain(CHECK, signal), { step: 'Test', log: 'its own words' });
  assert.deepEqual(api.seen.at(-1)?.route, 'GET /store');
});

test('the words of the check take the place of a log that cannot be read', async (t) => {
  const cut = await serve(t, (_, response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('half');
    setImmediate(() => response.destroy());
  });
  const expired = await serve(t, (_, response) => answer(response, {}, 403));
  for (const location of [cut.url, expired.url, 'file:///etc/hostname', 'ftp://127.0.0.1/log', 'http://', '']) {
    const api = await withLogsAt(t, location);
    const failure = await feedAt(t, api.url).explain(CHECK, signal);
    assert.deepEqual(failure, { step: 'Test', log: 'its own words' }, location);
    assert.equal(api.seen.filter(({ route }) => route.endsWith('/logs')).length, 1);
  }
  assert.equal(cut.seen.length + expired.seen.length, 2);
});

test('a caller that stops ends the reading of a log', async (t) => {
  const stop = new AbortController();
  const store = await serve(t, (_, response) => {
    response.write('half');
    stop.abort();
  });
  const api = await withLogsAt(t, store.url);
  await assert.rejects(feedAt(t, api.url).explain(CHECK, stop.signal), { name: 'AbortError' });
});

test('a service of one’s own has GraphQL beside its REST service', async (t) => {
  const comment = { id: 5, path: 'a', line: 1, user: null, body: 'x' };
  const node = { isResolved: true, comments: { nodes: [{ url: 'https://h/o/r/pull/1#discussion_r5' }] } };
  const pageInfo = { endCursor: 'x', hasNextPage: false };
  const repository = { pullRequest: { reviewThreads: { nodes: [node], pageInfo } } };
  const api = await serve(t, ({ method }, response) =>
    answer(response, method === 'POST' ? { data: { repository } } : [comment]),
  );
  const [thread] = await feedAt(t, `${api.url}/api/v3`).threads(1, signal);
  assert.equal(thread?.isResolved, true);
  assert.deepEqual(
    api.seen.map(({ route }) => route.split('?')[0]),
    ['GET /api/v3/repos/o/r/pulls/1/comments', 'POST /api/graphql'],
  );
});

test('the used-up quota of GraphQL is a failure of now: no thread counts as unresolved for it', async (t) => {
  const errors = [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded' }];
  const comment = { id: 5, path: 'a', line: 1, user: null, body: 'x' };
  const api = await serve(t, ({ method }, response) => answer(response, method === 'POST' ? { errors } : [comment]));
  const feed = feedAt(t, api.url);
  for (let n = 0; n < 2; n++)
    await assert.rejects(
      feed.threads(1, signal),
      (error) => error instanceof TrackerError && error.failure === 'unavailable',
    );
  assert.equal(api.seen.filter(({ route }) => route === 'POST /graphql').length, 2);
});

test('"not modified" to a request without a validator is no answer', async (t) => {
  const api = await serve(t, (_, response) => response.writeHead(304).end());
  const feed = feedAt(t, api.url);
  for (const ask of [() => feed.read(1, signal), () => feed.reviews(1, signal), () => feed.checks('c', signal)])
    await assert.rejects(ask(), (error) => error instanceof TrackerError && error.failure === 'unavailable');
});

test('lists of checks that the credential may not read are named, and asked for again after a while', async (t) => {
  const refused = { message: 'Resource not accessible by integration' };
  for (const [path, unread] of [
    ['/check-runs', 'Checks'],
    ['/status', 'Commit statuses'],
  ] as const) {
    const api = await serve(t, ({ url = '' }, response) => {
      if (url.includes(path)) answer(response, refused, 403);
      else if (url.includes('/check-runs'))
        answer(response, { check_runs: [{ id: 7, name: 'ci', status: 'completed', conclusion: 'failure' }] });
      else answer(response, { statuses: [{ context: 'ci', state: 'error' }] });
    });
    const clock = new FakeClock(Date.now());
    const feed = feedAt(t, api.url, clock);
    const asked = (commit: string) => api.seen.filter(({ route }) => route.includes(`/${commit}${path}`)).length;
    for (const commit of ['c1', 'c1', 'c2']) {
      const read = await feed.checks(commit, signal);
      assert.deepEqual(
        [read.unread, read.checks.map(({ name, state }) => [name, state])],
        [[unread], [['ci', 'failed']]],
      );
    }
    assert.deepEqual([asked('c1'), asked('c2')], [1, 1]);
    await clock.pass(600_000);
    await feed.checks('c1', signal);
    assert.equal(asked('c1'), 2);
  }
});

test('of what ended without a failure, some passed, some were cut off, and some wait for a person', async (t) => {
  const states = {
    ...{ success: 'passed', neutral: 'passed', skipped: 'passed', failure: 'failed', timed_out: 'failed' },
    ...{ startup_failure: 'failed', cancelled: 'cancelled', stale: 'cancelled', action_required: 'waiting' },
  };
  const ended = Object.keys(states).map((conclusion, id) => ({
    id,
    name: conclusion,
    status: 'completed',
    conclusion,
  }));
  const begun = ['queued', 'in_progress', 'waiting'].map((status, id) => ({ id: 50 + id, name: status, status }));
  const api = await serve(t, ({ url = '' }, response) => {
    answer(response, url.includes('/check-runs') ? { check_runs: [...ended, ...begun] } : { statuses: [] });
  });
  const { checks } = await feedAt(t, api.url).checks('c', signal);
  const expected = { ...states, queued: 'pending', in_progress: 'pending', waiting: 'waiting' };
  assert.deepEqual(Object.fromEntries(checks.map(({ name, state }) => [name, state])), expected);
});

test('an outcome that is not known counts as failed, with its word', async (t) => {
  const run = { id: 1, name: 'run', status: 'completed', conclusion: 'halted', output: { title: 'T' } };
  const none = { id: 2, name: 'none', status: 'completed', conclusion: null };
  const api = await serve(t, ({ url = '' }, response) => {
    const statuses = [{ context: 'status', state: 'constructor' }];
    answer(response, url.includes('/check-runs') ? { check_runs: [run, none] } : { statuses });
  });
  const { checks } = await feedAt(t, api.url).checks('c', signal);
  assert.deepEqual(
    checks.map(({ name, state, summary }) => [name, state, summary]),
    [
      ['run', 'failed', 'T\n\nUnknown outcome: "halted"'],
      ['none', 'failed', 'Unknown outcome: null'],
      ['status', 'failed', 'Unknown outcome: "constructor"'],
    ],
  );
});

test('each word of the service on whether a pull request can be merged', async (t) => {
  let row: Record<string, unknown> = {};
  const api = await serve(t, (_, response) =>
    answer(response, { state: 'open', head: { sha: 'c' }, updated_at: 'now', ...row }),
  );
  const feed = feedAt(t, api.url);
  for (const [word, mergeable, merge, conflicts] of [
    ['clean', true, 'clean', false],
    ['has_hooks', true, 'clean', false],
    ['unstable', true, 'unstable', false],
    ['behind', true, 'behind', false],
    ['blocked', true, 'blocked', false],
    ['draft', true, 'blocked', false],
    ['dirty', false, 'dirty', true],
    ['unknown', null, 'unknown', null],
    ['unknown', true, 'unknown', null],
    ['a word of later', true, 'blocked', false],
    [undefined, true, 'clean', false],
    [undefined, false, 'dirty', true],
    [undefined, undefined, 'unknown', null],
  ] as const) {
    row = { mergeable_state: word, mergeable, draft: word === 'draft' };
    const read = await feed.read(1, signal);
    assert.deepEqual([read?.merge, read?.conflicts, read?.draft], [merge, conflicts, word === 'draft'], String(word));
  }
  row = { requested_reviewers: [{ login: 'ann' }], requested_teams: [{ slug: 'core' }] };
  assert.deepEqual((await feed.read(1, signal))?.awaited, ['ann', 'team core']);
});

test('whether a pull request can be merged is asked anew when its checks change, and every ten minutes', async (t) => {
  let [word, status] = ['blocked', 'in_progress'];
  const api = await serve(t, ({ url = '', headers }, response) => {
    const isKnown = headers['if-none-match'] === '"same"';
    const row = { state: 'open', head: { sha: 'c' }, updated_at: 'now', mergeable: true, mergeable_state: word };
    if (url.includes('/check-runs'))
      answer(response, { check_runs: [{ id: 1, name: 'ci', status, conclusion: 'success' }] });
    else if (url.includes('/status')) answer(response, { statuses: [] });
    else if (isKnown) response.writeHead(304).end();
    else answer(response, row, 200, { etag: '"same"' });
  });
  const clock = new FakeClock(Date.now());
  const feed = feedAt(t, api.url, clock);
  const poll = async () => {
    const read = await feed.read(1, signal);
    await feed.checks('c', signal);
    return read?.merge;
  };
  /** Answers in full since the last call. */
  let before = 0;
  const paid = () => {
    const all = api.seen.filter(({ route, headers }) => route.includes('/pulls/') && !headers.includes('same')).length;
    const since = all - before;
    before = all;
    return since;
  };
  assert.deepEqual([await poll(), await poll(), paid()], ['blocked', 'blocked', 1]);
  status = 'completed';
  await poll();
  word = 'unstable';
  assert.deepEqual([await poll(), await poll(), paid()], ['unstable', 'unstable', 1]);
  word = 'clean';
  await clock.pass(599_000);
  assert.deepEqual([await poll(), paid()], ['unstable', 0]);
  await clock.pass(1_000);
  assert.deepEqual([await poll(), paid()], ['clean', 1]);
  await clock.pass(3_600_000);
  assert.deepEqual([await poll(), paid()], ['clean', 0]);
});

test('a pull request of a repository with another name is not gone', async (t) => {
  const api = await serve(t, ({ url = '' }, response) => {
    if (url === '/repositories/9') answer(response, { full_name: 'o/new' });
    else answer(response, {}, 301, { location: url.replace('/repos/o/r', '/repositories/9') });
  });
  const feed = feedAt(t, api.url);
  for (const ask of [() => feed.read(1, signal), () => feed.explain(CHECK, signal)])
    await assert.rejects(ask(), (error) => error instanceof TrackerError && error.code === 'repository_renamed');
});
