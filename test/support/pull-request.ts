// An open pull request of the played service, and the feed that reads it through the real client.

import assert from 'node:assert/strict';
import type { Environment } from '../../src/base/rules/environment.ts';
import { HostingClient } from '../../src/daemon/github/client.ts';
import { GitHubTracker } from '../../src/daemon/github/tracker.ts';
import { TrackerError } from '../../src/daemon/rules/tracker-error.ts';
import { FakeClock } from './fake-clock.ts';
import { FaultyProxy } from './faulty-proxy.ts';
import { BASE, commitFiles, DAEMON_TOKEN, fields, gitAs, startForge } from './forge.ts';
import { type Cleanup, finallyDo } from './temp.ts';

export type Access = { readonly token?: string; readonly authorities?: readonly string[]; readonly env?: Environment };

export function trackerAt(t: Cleanup, apiUrl: string, { token = DAEMON_TOKEN, ...more }: Access = {}) {
  const clock = new FakeClock(Date.now());
  const client = new HostingClient({
    ...{ apiUrl, token: async () => token, onUnauthorized: () => undefined },
    ...{ userAgent: 'toolcrew-test', clock, timeoutMs: 120_000, ...more },
  });
  finallyDo(t, () => client.close());
  return new GitHubTracker({ client, slug: { owner: 'maintainer', repo: 'project' }, clock });
}

export async function startPullRequest(t: Cleanup) {
  const service = await startForge(t);
  const { forge, work, bare } = service;
  const proxy = await FaultyProxy.start(t, forge.url);
  const tracker = trackerAt(t, proxy.url);
  const push = async (files: Readonly<Record<string, string>>, branch = 'topic') => {
    const sha = await commitFiles(work, files, 'change');
    await gitAs(work, 'push', '--quiet', bare, branch);
    return sha;
  };
  await gitAs(work, 'checkout', '--quiet', '-b', 'topic');
  const head = await push({ 'a.txt': 'one\n' });
  const call = async (login: string, method: string, path: string, body: unknown, status = 200) => {
    const answer = await forge.call(login, method, `${BASE}${path}`, body);
    assert.equal(answer.status, status, JSON.stringify(answer.data));
    return fields(answer.data);
  };
  const request = { title: 'p', head: 'topic', base: 'main' };
  const number = Number((await call('toolcrew-bot', 'POST', '/pulls', request, 201)).number);
  const pull = `/pulls/${number}`;
  /** A review as somebody; gives its id. */
  const review = async (login: string, event: string | undefined, body: string, comments: unknown[] = []) =>
    Number((await call(login, 'POST', `${pull}/reviews`, { event, body, comments })).id);
  /** What was asked since, with the status of the answer. */
  const since = (from: number) =>
    proxy.seen.slice(from).map(({ method, path, status }) => {
      const [bare = ''] = path.replace(BASE, '').split('?');
      return `${method} ${bare} ${status}`;
    });
  return { ...service, proxy, tracker, feed: tracker.feed, number, pull, head, push, call, review, since };
}

export async function trackerRefusal(promise: Promise<unknown>): Promise<TrackerError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof TrackerError, `expected a TrackerError, got ${String(error)}`);
  return error;
}
