// Publishing despite refusals of the hosting service between push and pull request, without a second agent run.

import assert from 'node:assert/strict';
import test from 'node:test';
import { execaSync } from 'execa';
import { agentRunning, COMMITS } from '../support/agents.ts';
import { Daemon } from '../support/daemon.ts';
import { FaultyProxy } from '../support/faulty-proxy.ts';
import { BASE, fields, gitAs, startForge, type TestForge } from '../support/forge.ts';
import type { Cleanup } from '../support/temp.ts';

const YAML = `agent: { max_attempts: 1, max_retry_backoff_ms: 250 }\n${agentRunning(COMMITS)}`;

/** A daemon on one issue, behind a proxy that calls `onFirst` at the first request for a pull request. */
async function asking(t: Cleanup, forge: TestForge, onFirst: () => void, tracker?: string) {
  const proxy = await FaultyProxy.start(t, forge.forge.url);
  let asked = 0;
  proxy.choose = (method, path) => {
    if (method === 'POST' && path.endsWith('/pulls') && asked++ === 0) onFirst();
    return undefined;
  };
  const issue = await forge.open('one');
  const options = { yaml: YAML, apiUrl: proxy.url, ...(tracker === undefined ? {} : { tracker }) };
  const daemon = await Daemon.start(t, forge, options);
  await daemon.logged(`issue #${issue} state changed to tool-done`);
  assert.equal(daemon.log.split(`starting on issue #${issue} `).length - 1, 1, daemon.log);
  return { daemon, proxy, asked: () => asked };
}

function gitNow(forge: TestForge, ...args: string[]): void {
  execaSync({ cwd: forge.bare })`git ${args}`;
}

for (const fault of ['unauthorized', 'forbidden'] as const)
  test(`a token that is turned away between push and pull request is waited for, also by the next daemon: ${fault}`, async (t) => {
    const forge = await startForge(t);
    const proxy = await FaultyProxy.start(t, forge.forge.url);
    let isExpired = true;
    proxy.choose = (method, path) => (isExpired && method === 'POST' && path.endsWith('/pulls') ? fault : undefined);
    const issue = await forge.open('one');
    const daemon = await Daemon.start(t, forge, { yaml: YAML, apiUrl: proxy.url });
    await daemon.logged('tried again in');
    await daemon.stop();
    const before = proxy.times(fault);
    assert.ok(before > 0);
    daemon.log = '';
    daemon.start();
    await daemon.logged('tried again in');
    assert.ok(proxy.times(fault) > before);
    assert.deepEqual(await forge.labelsOf(issue), ['tool-todo']);
    assert.deepEqual(await forge.comments(issue), []);
    isExpired = false;
    await daemon.logged(`issue #${issue} state changed to tool-done`);
    assert.doesNotMatch(daemon.log, /starting on issue/);
    assert.equal((await forge.pulls()).length, 1);
  });

test('a base that has the commits already is no endless wait: the issue is given up with the words of the service', async (t) => {
  const forge = await startForge(t);
  const issue = await forge.open('one');
  const proxy = await FaultyProxy.start(t, forge.forge.url);
  let asked = 0;
  proxy.choose = (method, path) => {
    if (method === 'POST' && path.endsWith('/pulls') && asked++ === 0)
      gitNow(forge, 'update-ref', 'refs/heads/main', 'refs/heads/tool/issue-1');
    return undefined;
  };
  const daemon = await Daemon.start(t, forge, { yaml: YAML, apiUrl: proxy.url });
  await daemon.logged(`issue #${issue} state changed to tool-failed`);
  assert.equal(asked, 8);
  assert.deepEqual(await forge.pulls(), []);
  assert.match((await forge.comments(issue))[0] ?? '', /No commits between main and tool\/issue-1/);
});

test('a branch that is deleted after the push is pushed again', async (t) => {
  const forge = await startForge(t);
  const { asked } = await asking(t, forge, () => gitNow(forge, 'branch', '-D', 'tool/issue-1'));
  assert.equal(asked(), 2);
  assert.match(await gitAs(forge.bare, 'log', '-1', '--format=%s', 'tool/issue-1'), /Do the work/);
  assert.equal((await forge.pulls()).length, 1);
});

test('a default branch that is renamed before the pull request is its base', async (t) => {
  const forge = await startForge(t);
  const { asked } = await asking(t, forge, () => gitNow(forge, 'branch', '-m', 'main', 'trunk'));
  assert.equal(asked(), 2);
  const { data } = await forge.forge.call('maintainer', 'GET', `${BASE}/pulls`);
  assert.deepEqual(
    (Array.isArray(data) ? data : []).map((row) => fields(fields(row).base).ref),
    ['trunk'],
  );
});

test('a service without drafts gets a plain pull request', async (t) => {
  const forge = await startForge(t, undefined, { drafts: false });
  const { daemon, asked } = await asking(t, forge, () => undefined, 'draft: true');
  assert.equal(asked(), 2);
  assert.match(daemon.log, /takes no draft of issue #1/);
  assert.deepEqual(
    (await forge.pulls()).map(({ draft }) => draft),
    [false],
  );
});
