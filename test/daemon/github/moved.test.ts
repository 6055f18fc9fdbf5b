// Things that are no longer where they were, on a service that redirects.

import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import test from 'node:test';
import { HostingClient } from '../../../src/daemon/github/client.ts';
import { GitHubTracker } from '../../../src/daemon/github/tracker.ts';
import { TrackerError } from '../../../src/daemon/rules/tracker-error.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { type Cleanup, finallyDo } from '../../support/temp.ts';

type Handler = (path: string, request: IncomingMessage) => [number, unknown, Record<string, string>?];

async function service(t: Cleanup, handle: Handler) {
  const seen: string[] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    seen.push(`${request.method} ${path}`);
    request.resume();
    const [status, body, headers = {}] = handle(path, request);
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  finallyDo(t, () => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const clock = new FakeClock(Date.now());
  const client = new HostingClient({
    apiUrl: url,
    token: async () => 'token',
    onUnauthorized: () => undefined,
    userAgent: 'toolcrew-test',
    clock,
    timeoutMs: 5_000,
  });
  finallyDo(t, () => client.close());
  return { url, seen, client, tracker: new GitHubTracker({ client, slug: { owner: 'o', repo: 'r' }, clock }) };
}

const { signal } = new AbortController();

const issue = (number: number, repository: string) => ({
  number,
  title: 't',
  html_url: 'u',
  state: 'open',
  labels: [],
  created_at: '',
  updated_at: '',
  repository_url: `https://host/repos/${repository}`,
});

async function refusal(promise: Promise<unknown>): Promise<TrackerError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof TrackerError, String(error));
  return error;
}

test('a transferred issue is gone from here: nothing is read from or written to where it is now', async (t) => {
  for (const status of [301, 302, 307, 308]) {
    const { tracker, seen } = await service(t, (path) =>
      path === '/repos/o/r'
        ? [200, { permissions: { push: true } }]
        : path.startsWith('/repos/o/r/issues/1')
          ? [
              status,
              { message: 'Moved' },
              { location: path.replace('/repos/o/r/issues/1', '/repositories/9/issues/4') },
            ]
          : [200, issue(4, 'other/place')],
    );
    assert.equal(await tracker.readIssue(1, signal), null);
    const added = await refusal(tracker.addLabel(1, 'x', signal));
    assert.equal(added.failure, 'refused');
    assert.equal(added.status, 410);
    assert.deepEqual([added.code, added.values.repository], ['issue_moved', 'o/r']);
    assert.equal((await refusal(tracker.addComment(1, 'x', 'm', signal))).status, 410);
    await tracker.removeLabel(1, 'x', signal);
    assert.deepEqual(
      seen.filter((line) => line.includes('/repositories/')),
      [],
    );
  }
});

test('a renamed repository is said with its new name; none of its issues is taken for gone', async (t) => {
  const { tracker } = await service(t, (path) =>
    path === '/repositories/9'
      ? [200, { full_name: 'o/new' }]
      : [301, { message: 'Moved Permanently' }, { location: path.replace('/repos/o/r', '/repositories/9') }],
  );
  for (const ask of [
    () => tracker.listActive(['x'], signal),
    () => tracker.readIssue(1, signal),
    () => tracker.addLabel(1, 'x', signal),
    () => tracker.findPullRequest('b', signal),
  ]) {
    const error = await refusal(ask());
    assert.deepEqual([error.code, error.values], ['repository_renamed', { old: 'o/r', new: 'o/new' }]);
    assert.notEqual(error.status, 410);
  }
});

test('an answer about another issue or repository is refused', async (t) => {
  const answers: unknown[] = [issue(2, 'o/r'), issue(1, 'else/where'), issue(1, 'O/R')];
  const { tracker } = await service(t, (path) =>
    path === '/repos/o/r/issues' ? [200, [issue(1, 'else/where')]] : [200, answers.shift()],
  );
  assert.match((await refusal(tracker.readIssue(1, signal))).message, /expected issue #1 of o\/r, got o\/r#2/);
  assert.match((await refusal(tracker.readIssue(1, signal))).message, /got else\/where#1/);
  assert.equal((await tracker.readIssue(1, signal))?.number, 1);
  assert.match((await refusal(tracker.listActive(['x'], signal))).message, /got else\/where#1/);
});

test('an issue that was deleted is gone', async (t) => {
  const { tracker } = await service(t, () => [410, { message: 'This issue was deleted' }]);
  assert.equal(await tracker.readIssue(1, signal), null);
});

test('a failing service is described by its status and its own words', async (t) => {
  const { tracker } = await service(t, () => [502, { message: 'Server Error' }]);
  const { code, values } = await refusal(tracker.readIssue(1, signal));
  assert.deepEqual([code, values], ['tracker_unavailable', { status: 502, said: 'it answered 502 (Server Error)' }]);
});

test('requests leave nothing behind on the signal of the daemon', async (t) => {
  const { tracker } = await service(t, () => [200, issue(1, 'o/r')]);
  const stop = new AbortController();
  let listeners = 0;
  const add = stop.signal.addEventListener.bind(stop.signal);
  const remove = stop.signal.removeEventListener.bind(stop.signal);
  stop.signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners += 1;
    add(...args);
  };
  stop.signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...args);
  };
  for (let n = 0; n < 5; n++) await tracker.readIssue(1, stop.signal);
  assert.equal(listeners, 0);
});
