import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import test from 'node:test';
import { Accounts } from '../../../../src/cli/demo/forge/accounts.ts';
import { RestLayer } from '../../../../src/cli/demo/forge/rest.ts';
import { tryGit } from '../../../../src/git/git.ts';
import { BASE, commitFiles, DAEMON_TOKEN, fields, gitAs, startForge } from '../../../support/forge.ts';

const REMOTE = (url: string, token: string) => url.replace('http://', `http://x:${token}@`);

test('a stranger may read and open issues, and may not label, push or open pull requests', async (t) => {
  const { forge, work } = await startForge(t);
  const opened = await forge.call('stranger', 'POST', `${BASE}/issues`, { title: 'hello', labels: ['tool-todo'] });
  assert.equal(opened.status, 201);
  assert.deepEqual(fields(opened.data).labels, [], 'the labels of a stranger’s issue are left out');
  assert.equal(
    (await forge.call('stranger', 'POST', `${BASE}/issues/1/labels`, { labels: ['tool-todo'] })).status,
    403,
  );
  assert.equal((await forge.call('stranger', 'DELETE', `${BASE}/issues/1/labels/tool-todo`)).status, 403);
  assert.equal(
    (await forge.call('stranger', 'POST', `${BASE}/pulls`, { title: 't', head: 'x', base: 'main' })).status,
    403,
  );
  assert.equal((await forge.call('stranger', 'GET', `${BASE}/collaborators/maintainer/permission`)).status, 403);
  const pushed = await tryGit(['push', REMOTE(forge.cloneUrl, 'token-of-a-stranger'), 'HEAD:refs/heads/x'], {
    cwd: work,
  });
  assert.match(pushed.stderr, /403/);
  const anonymous = await tryGit(['push', forge.cloneUrl, 'HEAD:refs/heads/x'], { cwd: work });
  assert.match(anonymous.stderr, /could not read Username|Authentication failed/);
  const wrong = await fetch(`${forge.url}${BASE}/issues`, { headers: { authorization: 'token nonsense' } });
  assert.equal(wrong.status, 401);
});

test('a triager may label; labels of a writer’s new issue are events of that writer', async (t) => {
  const { forge, labelsOf } = await startForge(t);
  await forge.call('stranger', 'POST', `${BASE}/issues`, { title: 'hello' });
  assert.equal((await forge.call('triager', 'POST', `${BASE}/issues/1/labels`, { labels: ['TOOL-TODO'] })).status, 200);
  assert.deepEqual(await labelsOf(1), ['tool-todo'], 'spelled as the repository spells it');
  await forge.call('triager', 'POST', `${BASE}/issues/1/labels`, { labels: ['Tool-Todo'] });
  const { data } = await forge.call('maintainer', 'GET', `${BASE}/issues/1/events`);
  assert.equal(
    Array.isArray(data) && data.filter((event) => fields(event).event === 'labeled').length,
    1,
    'a label that is there is not put on again',
  );
  assert.equal((await forge.call('maintainer', 'DELETE', `${BASE}/issues/1/labels/TOOL-todo`)).status, 200);
  await forge.call('maintainer', 'POST', `${BASE}/issues`, { title: 'two', labels: ['tool-todo'] });
  assert.deepEqual(await labelsOf(2), ['tool-todo']);
  const listed = await forge.call('maintainer', 'GET', `${BASE}/issues?labels=Tool-Todo&state=open`);
  assert.equal(Array.isArray(listed.data) && listed.data.length, 1);
});

test('permissions as the original answers them', async (t) => {
  const { forge } = await startForge(t);
  const ask = async (login: string) => {
    const { status, data } = await forge.call(
      'toolcrew-bot',
      'GET',
      `${BASE}/collaborators/${encodeURIComponent(login)}/permission`,
    );
    return `${status} ${String(fields(data).permission ?? '')} ${String(fields(data).role_name ?? '')}`.trim();
  };
  assert.deepEqual(await Promise.all(['maintainer', 'toolcrew-bot', 'triager', 'stranger', 'nobody'].map(ask)), [
    '200 admin admin',
    '200 write write',
    '200 read triage',
    '200 read read',
    '404',
  ]);
});

test('bots are of type Bot', async (t) => {
  const { open, forge } = await startForge(t);
  const number = await open('from a bot', { author: 'helper[bot]' });
  const { data } = await forge.call('maintainer', 'GET', `${BASE}/issues/${number}`);
  assert.equal(fields(fields(data).user).type, 'Bot');
});

test('conditional requests: the same answer is "not modified" and costs nothing', async (t) => {
  const { forge } = await startForge(t);
  const headers = { authorization: `token ${DAEMON_TOKEN}` };
  const first = await fetch(`${forge.url}${BASE}/issues`, { headers });
  const etag = first.headers.get('etag') ?? '';
  const second = await fetch(`${forge.url}${BASE}/issues`, { headers: { ...headers, 'if-none-match': etag } });
  assert.equal(second.status, 304);
  assert.equal(second.headers.get('x-ratelimit-remaining'), first.headers.get('x-ratelimit-remaining'));
  await forge.call('maintainer', 'POST', `${BASE}/issues`, { title: 'new' });
  assert.equal(
    (await fetch(`${forge.url}${BASE}/issues`, { headers: { ...headers, 'if-none-match': etag } })).status,
    200,
  );
});

test('git over HTTP: reading is free, writing needs a writer; a pull request needs real commits', async (t) => {
  const { forge, work, directory, pulls } = await startForge(t);
  await gitAs(directory, 'clone', '--quiet', forge.cloneUrl, `${directory}/clone`);
  assert.match(await gitAs(`${directory}/clone`, 'log', '--format=%s'), /First commit/);
  const create = (head: string) =>
    forge.call('toolcrew-bot', 'POST', `${BASE}/pulls`, { title: 't', head, base: 'main' });
  assert.equal((await create('invented')).status, 422);
  await gitAs(work, 'checkout', '--quiet', '-b', 'topic');
  await commitFiles(work, { 'big.txt': 'x'.repeat(2_000_000) }, 'big');
  await gitAs(work, 'push', '--quiet', REMOTE(forge.cloneUrl, DAEMON_TOKEN), 'topic');
  assert.equal((await create('maintainer:topic')).status, 201);
  const second = await create('topic');
  assert.equal(second.status, 422);
  assert.match(JSON.stringify(second.data), /already exists/);
  assert.equal((await pulls()).length, 1);
});

test('what is too long is refused as the original does, a draft where there are none, and times have whole seconds', async (t) => {
  const { forge, work } = await startForge(t, undefined, { drafts: false });
  await gitAs(work, 'checkout', '--quiet', '-b', 'topic');
  await commitFiles(work, { 'new.txt': 'new' }, 'new');
  await gitAs(work, 'push', '--quiet', REMOTE(forge.cloneUrl, DAEMON_TOKEN), 'topic');
  const post = (path: string, more: object) =>
    forge.call('maintainer', 'POST', `${BASE}/${path}`, { title: 't', head: 'topic', base: 'main', ...more });
  const issue = await post('issues', { body: 'b'.repeat(65_536) });
  assert.equal(issue.status, 201);
  assert.match(JSON.stringify(issue.data), /"updated_at":"[^".]+Z"/);
  for (const path of ['issues', 'pulls', 'issues/1/comments']) {
    const long = await post(path, { body: 'b'.repeat(65_537) });
    assert.equal(long.status, 422);
    assert.match(JSON.stringify(long.data), /"errors":\[.*body is too long/);
  }
  for (const path of ['issues', 'pulls']) assert.equal((await post(path, { title: 't'.repeat(257) })).status, 422);
  assert.equal((await post('pulls', { draft: true })).status, 422);
  assert.equal((await post('pulls', { draft: false, title: 't'.repeat(256) })).status, 201);
});

test('pages for people: the list, an issue, a pull request with its diff; markup in a title is text', async (t) => {
  const { forge, open, work } = await startForge(t);
  const issue = await open('<b>bold</b> & "quoted"', { body: '<script>alert(1)</script>' });
  await gitAs(work, 'checkout', '--quiet', '-b', 'topic');
  await commitFiles(work, { 'new.txt': '<i>new</i>\n' }, 'new');
  await gitAs(work, 'push', '--quiet', REMOTE(forge.cloneUrl, DAEMON_TOKEN), 'topic');
  await forge.call('toolcrew-bot', 'POST', `${BASE}/pulls`, {
    title: 'A pull',
    head: 'topic',
    base: 'main',
    body: 'words',
  });
  const page = async (path: string) => (await fetch(`${forge.url}/maintainer/project${path}`)).text();
  assert.match(await page(''), /#38;|bold/);
  const shown = await page(`/issues/${issue}`);
  assert.doesNotMatch(shown, /<script|<b>/);
  assert.match(shown, /tool-todo/);
  assert.match(await page('/pull/2'), /\+&#60;i&#62;new/);
});

test('a service that closes its connections when they are used again is asked on new ones', async (t) => {
  const used = new WeakSet<Socket>();
  const service = createServer((request, response) => {
    if (used.has(request.socket)) request.socket.resetAndDestroy();
    else response.end('[]');
    used.add(request.socket);
  });
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  t.after(() => service.close());
  const { port } = service.address() as AddressInfo;
  const upstream = `http://127.0.0.1:${port}`;
  const rest = new RestLayer({
    upstream,
    url: upstream,
    owner: 'o',
    repo: 'r',
    repository: '/',
    accounts: new Accounts([]),
  });
  for (let count = 0; count < 3; count++) assert.equal((await rest.upstream('GET', '/labels', undefined)).body, '[]');
});
