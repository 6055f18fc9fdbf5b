import assert from 'node:assert/strict';
import test from 'node:test';
import { HostingClient } from '../../../src/daemon/github/client.ts';
import { GitHubTracker } from '../../../src/daemon/github/tracker.ts';
import { TrackerError, type TrackerFailure } from '../../../src/daemon/rules/tracker-error.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { type Fault, FaultyProxy } from '../../support/faulty-proxy.ts';
import { BASE, DAEMON_TOKEN, startForge } from '../../support/forge.ts';
import { type Cleanup, finallyDo } from '../../support/temp.ts';

const { signal } = new AbortController();

function trackerAt(
  t: Cleanup,
  apiUrl: string,
  options: { readonly token?: string; readonly timeoutMs?: number; readonly clock?: FakeClock } = {},
) {
  const clock = options.clock ?? new FakeClock(Date.now());
  let rejected = 0;
  const client = new HostingClient({
    apiUrl,
    token: async () => options.token ?? DAEMON_TOKEN,
    onUnauthorized: () => {
      rejected += 1;
    },
    userAgent: 'toolcrew-test',
    clock,
    timeoutMs: options.timeoutMs ?? 5_000,
  });
  finallyDo(t, () => client.close());
  const tracker = new GitHubTracker({ client, slug: { owner: 'maintainer', repo: 'project' }, clock });
  return { tracker, client, clock, rejections: () => rejected };
}

async function failure(promise: Promise<unknown>): Promise<TrackerError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof TrackerError, `expected a TrackerError, got ${String(error)}`);
  return error;
}

test('labelled issues, oldest first, pull requests left out, several labels meaning any of them', async (t) => {
  const { forge, open, label, work, bare } = await startForge(t);
  const first = await open('first');
  const second = await open('second', { label: 'urgent' });
  const third = await open('third', { label: null });
  await label(first, 'urgent');
  const { gitAs, commitFiles } = await import('../../support/forge.ts');
  await gitAs(work, 'checkout', '--quiet', '-b', 'topic');
  await commitFiles(work, { 'a.txt': 'a' }, 'a');
  await gitAs(work, 'push', '--quiet', bare, 'topic');
  const pull = await forge.call('maintainer', 'POST', `${BASE}/pulls`, { title: 'p', head: 'topic', base: 'main' });
  assert.equal(pull.status, 201);
  await label(4, 'tool-todo');
  const { tracker } = trackerAt(t, forge.url);
  const listed = await tracker.listActive(['tool-todo', 'URGENT'], signal);
  assert.deepEqual(
    listed.map(({ number }) => number),
    [first, second],
  );
  assert.deepEqual([...(listed[0]?.labels ?? [])].sort(), ['tool-todo', 'urgent']);
  assert.deepEqual(listed[0]?.author, { login: 'maintainer', type: 'User' });
  assert.equal(listed[0]?.url, `${forge.url}/maintainer/project/issues/${first}`);
  assert.equal((await tracker.readIssue(third, signal))?.title, 'third');
  assert.equal(await tracker.readIssue(99, signal), null);
});

test('a poll is one conditional request for each label and page; "not modified" costs no quota', async (t) => {
  const { forge, open } = await startForge(t);
  await open('one');
  const proxy = await FaultyProxy.start(t, forge.url);
  const { tracker } = trackerAt(t, proxy.url);
  await tracker.listActive(['tool-todo', 'urgent'], signal);
  const quota = tracker.rateLimit.remaining;
  for (let poll = 0; poll < 3; poll++)
    assert.equal((await tracker.listActive(['tool-todo', 'urgent'], signal)).length, 1);
  assert.equal(proxy.seen.length, 8);
  // The first poll asks for the oldest, the second for what changed last.
  assert.deepEqual(
    proxy.seen.slice(4).map(({ etag, status }) => `${etag} ${status}`),
    Array(4).fill('true 304'),
  );
  assert.deepEqual(tracker.stats, { requests: 8, notModified: 4 });
  assert.equal(tracker.rateLimit.remaining, (quota ?? 0) - 2);
  await open('two');
  assert.equal((await tracker.listActive(['tool-todo', 'urgent'], signal)).length, 2);
  assert.equal(proxy.seen.at(-2)?.status, 200);
});

test('every kind of broken answer is told apart, nothing is taken for an empty list, and the next poll works', async (t) => {
  const { forge, open } = await startForge(t);
  await open('one');
  const proxy = await FaultyProxy.start(t, forge.url);
  const cases: readonly [Fault, TrackerFailure, RegExp][] = [
    ['status502', 'unavailable', /it answered 502/],
    ['html', 'unavailable', /^tracker_unavailable: it answered a page of HTML/],
    ['truncated', 'unavailable', /^tracker_unavailable: it answered text that is not JSON \(\[\{"number": 1/],
    ['cut', 'unavailable', /^tracker_unavailable: /],
    ['hang', 'unavailable', /no answer within 3 s/],
    ['badShape', 'unavailable', /JSON of another shape/],
    ['empty', 'unavailable', /an empty body/],
    ['unauthorized', 'unauthorized', /^tracker_unauthorized: Bad credentials/],
    ['forbidden', 'refused', /^tracker_refused: Resource protected by organization SAML enforcement/],
  ];
  for (const [fault, kind, said] of cases) {
    const { tracker, rejections } = trackerAt(t, proxy.url, { timeoutMs: fault === 'hang' ? 3_000 : 60_000 });
    assert.equal((await tracker.listActive(['tool-todo'], signal)).length, 1);
    proxy.choose = () => fault;
    const error = await failure(tracker.listActive(['tool-todo'], signal));
    assert.equal(proxy.times(fault), 1, `${fault} was played`);
    assert.equal(error.failure, kind, fault);
    assert.match(`${error.code}: ${error.said}`, said);
    assert.equal(error.values.status, fault === 'forbidden' ? 403 : fault === 'status502' ? 502 : undefined);
    assert.doesNotMatch(error.message, /\n/);
    assert.equal(rejections(), fault === 'unauthorized' ? 1 : 0);
    proxy.choose = () => undefined;
    assert.equal((await tracker.listActive(['tool-todo'], signal)).length, 1, `${fault}: afterwards`);
  }
});

test('a service that is not there', async (t) => {
  const { tracker } = trackerAt(t, 'http://127.0.0.1:59999');
  const error = await failure(tracker.listActive(['tool-todo'], signal));
  assert.equal(error.failure, 'unavailable');
  assert.match(error.message, /no answer \(ECONNREFUSED/);
});

test('limits are honoured: no request before their end, and the state says until when and why', async (t) => {
  const { forge } = await startForge(t);
  const proxy = await FaultyProxy.start(t, forge.url);
  const cases: readonly [Fault, number, RegExp][] = [
    ['retryAfter', 7_000, /asked to wait \(Retry-After\)/],
    ['primary', 600_000, /quota of requests is used up/],
    ['secondary', 60_000, /a secondary limit/],
  ];
  for (const [fault, pause, reason] of cases) {
    const { tracker, clock } = trackerAt(t, proxy.url);
    proxy.choose = () => fault;
    const error = await failure(tracker.listActive(['tool-todo'], signal));
    assert.equal(error.failure, 'paused', fault);
    assert.ok(
      Math.abs((error.retryAt ?? 0) - clock.now() - pause) < 2_000,
      `${fault}: ${(error.retryAt ?? 0) - clock.now()}`,
    );
    assert.match(tracker.rateLimit.reason ?? '', reason);
    assert.equal(tracker.rateLimit.paused_until, new Date(error.retryAt ?? 0).toISOString());
    proxy.choose = () => undefined;
    const before = proxy.seen.length;
    assert.equal((await failure(tracker.readIssue(1, signal))).failure, 'paused');
    assert.equal(proxy.seen.length, before, `${fault}: nothing was asked during the pause`);
    await clock.pass(pause + 2_000);
    await tracker.listActive(['tool-todo'], signal);
    assert.equal(tracker.rateLimit.paused_until, null);
  }
});

test('who put the label on, and who may write', async (t) => {
  const { forge, open, label, unlabel } = await startForge(t);
  const issue = await open('one', { author: 'stranger', by: 'triager' });
  const { tracker } = trackerAt(t, forge.url);
  const first = await tracker.readLabelEvent(issue, 'TOOL-TODO', signal);
  assert.deepEqual(first?.actor, { login: 'triager', type: 'User' });
  await unlabel(issue, 'tool-todo');
  await label(issue, 'tool-todo', 'maintainer');
  const second = await tracker.readLabelEvent(issue, 'tool-todo', signal);
  assert.deepEqual(second?.actor, { login: 'maintainer', type: 'User' });
  assert.notEqual(second?.id, first?.id);
  assert.equal(await tracker.readLabelEvent(issue, 'never', signal), null);
  const may = (login: string, type = 'User') => tracker.mayWrite({ login, type }, signal);
  const asked = tracker.stats.requests;
  assert.deepEqual(
    await Promise.all([
      may('maintainer'),
      may('toolcrew-bot'),
      may('triager'),
      may('stranger'),
      may('nobody-at-all'),
      may('helper[bot]', 'Bot'),
      may('maintainer'),
    ]),
    [true, true, false, false, false, true, true],
  );
  assert.equal(tracker.stats.requests - asked, 5, 'of each person once, also when asked together');
  const before = tracker.stats.requests;
  assert.equal(await may('stranger'), false);
  assert.equal(tracker.stats.requests, before, 'an answer serves for a while');
});

test('the last of many events is found on its page', async (t) => {
  const { forge, open, label, unlabel } = await startForge(t);
  const issue = await open('one', { by: 'triager' });
  for (let n = 0; n < 60; n++) {
    await label(issue, 'noise', 'maintainer');
    await unlabel(issue, 'noise');
  }
  const { tracker } = trackerAt(t, forge.url);
  assert.equal((await tracker.readLabelEvent(issue, 'tool-todo', signal))?.actor?.login, 'triager');
});

test('labels one by one, comments with a mark, pull requests found or opened', async (t) => {
  const { forge, open, labelsOf, comments, work, bare, pulls } = await startForge(t);
  const issue = await open('one');
  const { tracker } = trackerAt(t, forge.url);
  await tracker.addLabel(issue, 'tool-done', signal);
  await tracker.removeLabel(issue, 'tool-todo', signal);
  await tracker.removeLabel(issue, 'tool-todo', signal);
  assert.deepEqual(await labelsOf(issue), ['tool-done']);
  assert.equal(await tracker.hasComment(issue, '1-1-x', signal), false);
  await tracker.addComment(issue, 'Hello', '1-1-x', signal);
  assert.equal(await tracker.hasComment(issue, '1-1-x', signal), true);
  assert.deepEqual(await comments(issue), ['Hello\n\n<!-- toolcrew:1-1-x -->']);
  assert.equal((await tracker.readComments(issue, signal))[0]?.author?.login, 'toolcrew-bot');
  const { gitAs, commitFiles } = await import('../../support/forge.ts');
  assert.equal(await tracker.findPullRequest('tool/issue-1', signal), null);
  const request = { branch: 'tool/issue-1', base: 'main', title: 'T', body: 'B', draft: true };
  const unknown = await failure(tracker.createPullRequest(request, signal));
  assert.equal(unknown.status, 422);
  await gitAs(work, 'checkout', '--quiet', '-b', 'tool/issue-1');
  await gitAs(work, 'push', '--quiet', bare, 'tool/issue-1');
  assert.match(
    (await failure(tracker.createPullRequest(request, signal))).message,
    /422.*No commits between main and tool\/issue-1/s,
  );
  await commitFiles(work, { 'a.txt': 'a' }, 'a');
  await gitAs(work, 'push', '--quiet', bare, 'tool/issue-1');
  const made = await tracker.createPullRequest(request, signal);
  assert.deepEqual(await tracker.findPullRequest('tool/issue-1', signal), made);
  assert.match((await failure(tracker.createPullRequest(request, signal))).message, /already exists/);
  assert.deepEqual(
    (await pulls()).map(({ title, draft }) => ({ title, draft })),
    [{ title: 'T', draft: true }],
  );
});

test('an aborted request is an abort, not a failure of the service', async (t) => {
  const { forge } = await startForge(t);
  const proxy = await FaultyProxy.start(t, forge.url);
  proxy.choose = () => 'hang';
  const { tracker } = trackerAt(t, proxy.url);
  const stop = new AbortController();
  const listing = tracker.listActive(['tool-todo'], stop.signal);
  setTimeout(() => stop.abort(), 50);
  await assert.rejects(listing, { name: 'AbortError' });
});
