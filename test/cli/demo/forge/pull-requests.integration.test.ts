// Pull requests of the embedded forge: what it refuses, as the original does.

import assert from 'node:assert/strict';
import test from 'node:test';
import { BASE, DAEMON_TOKEN, fields } from '../../../support/forge.ts';
import { startPullRequest } from '../../../support/pull-request.ts';

/** No account. */
const NOBODY = '';

test('writing needs an account, and each field is checked', async (t) => {
  const { forge, pull, head, call } = await startPullRequest(t);
  const comment = { path: 'a.txt', line: 1, body: 'Why?' };
  const thread = (await call('maintainer', 'POST', `${pull}/comments`, comment, 201)).id;
  const reply = (await call('stranger', 'POST', `${pull}/comments/${thread}/replies`, { body: 'x' }, 201)).id;
  const review = await call('maintainer', 'POST', `${pull}/reviews`, { event: 'COMMENT', body: 'Hm.' });
  const sha = '/statuses/'.concat(head);
  const cases: readonly (readonly [string, string, string, unknown, number])[] = [
    [NOBODY, 'POST', `${pull}/reviews`, { event: 'COMMENT', body: 'x' }, 401],
    [NOBODY, 'POST', `${pull}/comments`, comment, 401],
    [NOBODY, 'POST', `${pull}/comments/${thread}/replies`, { body: 'x' }, 401],
    [NOBODY, 'POST', `${pull}/requested_reviewers`, { reviewers: ['triager'] }, 401],
    [NOBODY, 'DELETE', `/pulls/comments/${thread}`, undefined, 401],
    [NOBODY, 'POST', sha, { state: 'success' }, 401],
    ['stranger', 'POST', sha, { state: 'success' }, 403],
    ['stranger', 'POST', `${pull}/requested_reviewers`, { reviewers: ['triager'] }, 403],
    ['stranger', 'DELETE', `/pulls/comments/${thread}`, undefined, 403],
    ['maintainer', 'POST', sha, { state: 'done' }, 422],
    ['maintainer', 'POST', `${pull}/reviews`, { event: 'COMMENT' }, 422],
    ['maintainer', 'POST', `${pull}/reviews`, { event: 'OTHER', body: 'x' }, 422],
    ['maintainer', 'POST', `${pull}/reviews`, { event: 'COMMENT', comments: [{ ...comment, line: 'x' }] }, 422],
    ['maintainer', 'POST', `${pull}/comments`, { ...comment, line: undefined }, 422],
    ['maintainer', 'POST', `${pull}/comments`, { ...comment, body: ' ' }, 422],
    ['maintainer', 'POST', `${pull}/comments`, { ...comment, body: 'x'.repeat(65_537) }, 422],
    ['maintainer', 'POST', `${pull}/comments/${thread}/replies`, { body: '' }, 422],
    ['maintainer', 'POST', `${pull}/comments/${reply}/replies`, { body: 'x' }, 422],
    ['maintainer', 'POST', `${pull}/comments/1/replies`, { body: 'x' }, 404],
    ['maintainer', 'PUT', `${pull}/reviews/${review.id}/dismissals`, { message: 'x' }, 422],
    ['maintainer', 'PUT', `${pull}/reviews/1/dismissals`, { message: 'x' }, 404],
    ['maintainer', 'POST', `${pull}/requested_reviewers`, { reviewers: [] }, 422],
    ['maintainer', 'POST', `${pull}/requested_reviewers`, { reviewers: ['toolcrew-bot'] }, 422],
    ['maintainer', 'POST', `${pull}/requested_reviewers`, { reviewers: ['helper[bot]'] }, 422],
    ['maintainer', 'GET', '/pulls/99/reviews', undefined, 404],
    ['maintainer', 'GET', '/pulls/99/comments', undefined, 404],
    ['maintainer', 'GET', `/commits/${'f'.repeat(40)}/check-runs`, undefined, 422],
    ['maintainer', 'GET', `/commits/${'f'.repeat(40)}/status`, undefined, 422],
    ['maintainer', 'GET', '/actions/jobs/1', undefined, 404],
    ['maintainer', 'GET', '/actions/jobs/1/logs', undefined, 404],
  ];
  for (const [login, method, path, body, status] of cases) {
    const answer = await forge.call(login, method, BASE + path, body);
    assert.equal(answer.status, status, `${login} ${method} ${path}: ${JSON.stringify(answer.data)}`);
  }
  assert.equal((await forge.call(NOBODY, 'POST', '/graphql', { query: 'x' })).status, 401);
  assert.ok(fields((await forge.call('stranger', 'POST', '/graphql', { query: 'x' })).data).errors);
});

test('a list has links to its other pages, and a validator', async (t) => {
  const { forge, pull, review } = await startPullRequest(t);
  for (const body of ['one', 'two', 'three']) await review('maintainer', 'COMMENT', body);
  const url = `${forge.url}${BASE}${pull}/reviews`;
  const first = await fetch(`${url}?per_page=2`);
  assert.equal(
    first.headers.get('link'),
    `<${url}?per_page=2&page=2>; rel="next", <${url}?per_page=2&page=2>; rel="last"`,
  );
  const second = await fetch(`${url}?per_page=2&page=2`);
  assert.equal(second.headers.get('link'), null);
  const rows: unknown = await second.json();
  assert.deepEqual(Array.isArray(rows) ? rows.map((row) => fields(row).body) : rows, ['three']);
  const etag = first.headers.get('etag') ?? '';
  const again = await fetch(`${url}?per_page=2`, { headers: { 'if-none-match': etag } });
  assert.deepEqual([again.status, await again.text()], [304, '']);
});

test('a log lies at a signed address that takes no other credential', async (t) => {
  const { forge, head } = await startPullRequest(t);
  const job = forge.checks.start(head, 'job');
  const path = `${BASE}/actions/jobs/${job}/logs`;
  const authorization = `token ${DAEMON_TOKEN}`;
  const ask = () => fetch(forge.url + path, { headers: { authorization }, redirect: 'manual' });
  assert.equal((await ask()).status, 404, 'the job is under way');
  forge.checks.finish(job, 'failure', { log: 'the log' });
  assert.equal((await fetch(forge.url + path, { redirect: 'manual' })).status, 403, 'nobody');
  const answer = await ask();
  assert.equal(answer.status, 302);
  const location = answer.headers.get('location') ?? '';
  const statuses = [
    (await fetch(location, { headers: { authorization } })).status,
    (await fetch(location, { method: 'POST' })).status,
    (await fetch(location.replace(/sig=.*/, 'sig=x'))).status,
    (await fetch(location.replace(String(job), '1'))).status,
  ];
  assert.deepEqual(statuses, [400, 403, 403, 403]);
  assert.equal(await (await fetch(location)).text(), 'the log');
});

test('GraphQL has a quota of its own', async (t) => {
  const { forge } = await startPullRequest(t);
  const used = async (path: string, method: string) => {
    const headers = { authorization: 'token token-of-a-stranger' };
    const answer = await fetch(forge.url + path, { method, headers });
    return [answer.headers.get('x-ratelimit-resource'), answer.headers.get('x-ratelimit-used')];
  };
  assert.deepEqual(await used(BASE, 'GET'), ['core', '1']);
  assert.deepEqual(await used('/graphql', 'POST'), ['graphql', '1']);
  assert.deepEqual(await used(BASE, 'GET'), ['core', '2']);
});

test('the list of pull requests shows the head of each', async (t) => {
  const { forge, head, push } = await startPullRequest(t);
  const heads = async () => {
    const { data } = await forge.call('maintainer', 'GET', `${BASE}/pulls`);
    return Array.isArray(data) ? data.map((row) => fields(fields(row).head).sha) : data;
  };
  assert.deepEqual(await heads(), [head]);
  assert.deepEqual([await push({ 'b.txt': 'b\n' })], await heads());
});
