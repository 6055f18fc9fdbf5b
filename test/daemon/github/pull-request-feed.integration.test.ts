// The feed of pull requests as the real client reads them from the played service.

import assert from 'node:assert/strict';
import test from 'node:test';
import { BASE, fields, gitAs } from '../../support/forge.ts';
import { startPullRequest, trackerAt, trackerRefusal } from '../../support/pull-request.ts';

const { signal } = new AbortController();

const CLEAN = {
  ...{ state: 'open', conflicts: false, merge: 'clean', draft: false, awaited: [], updatedAt: '' },
} as const;

test('head, conflicts and time of a pull request follow its branch and its base', async (t) => {
  const { feed, number, head, push, work, forge } = await startPullRequest(t);
  const first = await feed.read(number, signal);
  assert.deepEqual({ ...first, updatedAt: '' }, { ...CLEAN, head });
  const next = await push({ 'a.txt': 'two\n' });
  const pushed = await feed.read(number, signal);
  assert.deepEqual([pushed?.head, pushed?.conflicts], [next, null]);
  assert.deepEqual(await feed.read(number, signal), { ...pushed, conflicts: false, merge: 'clean' });
  assert.ok((pushed?.updatedAt ?? '') > (first?.updatedAt ?? ''));
  await gitAs(work, 'checkout', '--quiet', 'main');
  await push({ 'a.txt': 'other\n' }, 'main');
  assert.equal((await feed.read(number, signal))?.conflicts, null);
  const conflicting = await feed.read(number, signal);
  assert.deepEqual(conflicting, { ...pushed, conflicts: true, merge: 'dirty' });
  assert.equal((await forge.call('maintainer', 'PUT', `${BASE}/pulls/${number}/merge`, {})).status, 405);
  forge.pulls.setConflicts(number, false);
  assert.equal((await feed.read(number, signal))?.conflicts, false);
  assert.equal(await feed.read(99, signal), null);
});

test('rules of the branch: checks, approvals, open threads and the base decide whether it can be merged', async (t) => {
  const { forge, feed, number, pull, head, call, review, push, work } = await startPullRequest(t);
  const merge = async () => {
    await feed.read(number, signal);
    return (await feed.read(number, signal))?.merge;
  };
  forge.pulls.rules = { approvals: 1, checks: ['build'], isStrict: true, resolvedThreads: true };
  assert.equal(await merge(), 'blocked');
  const run = forge.checks.start(head, 'build');
  await review('stranger', 'APPROVE', '');
  await review('maintainer', 'APPROVE', '', [{ path: 'a.txt', line: 1, body: 'Why?' }]);
  assert.equal(await merge(), 'blocked', 'the check runs');
  forge.checks.finish(run, 'success');
  assert.equal(await merge(), 'blocked', 'a thread is open');
  await call('maintainer', 'PUT', `${pull}/merge`, {}, 405);
  const [thread] = await feed.threads(number, signal);
  forge.reviews.resolve(thread?.id ?? 0);
  assert.equal(await merge(), 'clean');
  forge.checks.finish(forge.checks.start(head, 'nightly'), 'failure');
  assert.equal(await merge(), 'unstable', 'a check that nobody wants');
  await gitAs(work, 'checkout', '--quiet', 'main');
  await push({ 'other.txt': 'other\n' }, 'main');
  assert.equal(await merge(), 'behind');
  await call('maintainer', 'PUT', `${pull}/merge`, {}, 405);
  await review('maintainer', 'REQUEST_CHANGES', 'No.');
  assert.equal(await merge(), 'blocked');
});

test('a pull request is closed, opened again and merged', async (t) => {
  const { feed, number, pull, head, call, bare } = await startPullRequest(t);
  await call('maintainer', 'PATCH', pull, { state: 'closed' });
  assert.equal((await feed.read(number, signal))?.state, 'closed');
  await call('maintainer', 'PATCH', pull, { state: 'open' });
  assert.equal((await feed.read(number, signal))?.state, 'open');
  await call('stranger', 'PUT', `${pull}/merge`, {}, 403);
  await call('maintainer', 'PUT', `${pull}/merge`, { sha: 'f'.repeat(40) }, 409);
  const { sha } = await call('maintainer', 'PUT', `${pull}/merge`, {});
  const merged = await feed.read(number, signal);
  assert.deepEqual(
    { ...merged, updatedAt: '' },
    { ...CLEAN, state: 'merged', head, conflicts: null, merge: 'unknown' },
  );
  const parents = (await gitAs(bare, 'rev-parse', 'main', 'main^2')).split('\n');
  assert.deepEqual(parents.slice(0, 2), [sha, head]);
  await call('maintainer', 'PUT', `${pull}/merge`, {}, 405);
});

test('a quiet pull request costs no quota, and what changes costs what belongs to it', async (t) => {
  const { forge, feed, tracker, number, pull, head, call, review, since, proxy } = await startPullRequest(t);
  forge.checks.finish(forge.checks.start(head, 'test'), 'failure', { step: 'Test' });
  await call('maintainer', 'POST', `/statuses/${head}`, { state: 'success', context: 'ci' }, 201);
  await review('maintainer', 'REQUEST_CHANGES', 'No.', [{ path: 'a.txt', line: 1, body: 'Why?' }]);
  await call('stranger', 'POST', `/issues/${number}/comments`, { body: 'Hello' }, 201);
  const watch = async () => [
    await feed.read(number, signal),
    await feed.checks(head, signal),
    await feed.reviews(number, signal),
    await feed.threads(number, signal),
    await feed.comments(number, signal),
  ];
  await watch();
  // The service answers the first question about conflicts later.
  const known = await watch();
  const [from, quota] = [proxy.seen.length, tracker.rateLimit.remaining];
  for (let n = 0; n < 3; n++) assert.deepEqual(await watch(), known);
  const asked = since(from);
  assert.ok(asked.length === 18 && asked.every((line) => line.endsWith(' 304')), asked.join('\n'));
  assert.equal(tracker.rateLimit.remaining, quota);

  const changed = async () => {
    const at = proxy.seen.length;
    await watch();
    return since(at).filter((line) => !line.endsWith(' 304'));
  };
  forge.checks.start(head, 'test');
  assert.deepEqual(
    await changed(),
    [`GET /commits/${head}/check-runs 200`],
    'checks leave the time of change as it is',
  );
  await call('stranger', 'POST', `/issues/${number}/comments`, { body: 'Again' }, 201);
  assert.deepEqual(
    await changed(),
    [`GET ${pull} 200`, 'POST /graphql 200', `GET /issues/${number}/comments 200`],
    'the unresolved thread is asked for, as it may be resolved by now',
  );
  const [thread] = await feed.threads(number, signal);
  assert.ok(thread);
  forge.reviews.resolve(thread.id);
  assert.deepEqual(await changed(), [], 'the service tells nobody that a thread was resolved');
  await review('maintainer', 'APPROVE', '');
  assert.deepEqual(await changed(), [`GET ${pull} 200`, `GET ${pull}/reviews 200`, 'POST /graphql 200']);
  assert.equal((await feed.threads(number, signal))[0]?.isResolved, true);
  await review('maintainer', 'COMMENT', 'Thanks.');
  assert.deepEqual(await changed(), [`GET ${pull} 200`, `GET ${pull}/reviews 200`], 'no thread is unresolved');
});

test('many pages of checks, reviews and threads are read to the end, and are quiet afterwards', async (t) => {
  const { forge, feed, number, head, review, proxy, since } = await startPullRequest(t);
  for (let n = 0; n < 250; n++) forge.checks.finish(forge.checks.start(head, `check-${n}`), 'success');
  const comments = Array.from({ length: 230 }, (_, n) => ({ path: 'a.txt', line: 1, body: `comment ${n}` }));
  await review('maintainer', 'COMMENT', 'Many.', comments);
  const read = async () => [(await feed.checks(head, signal)).checks, await feed.threads(number, signal)] as const;
  const [checks, threads] = await read();
  assert.equal(new Set(checks.map(({ name }) => name)).size, 250);
  assert.deepEqual(
    threads.map(({ comments: [first] }) => first?.body),
    comments.map(({ body }) => body),
  );
  let from = proxy.seen.length;
  await read();
  assert.ok(since(from).length === 7 && since(from).every((line) => line.endsWith(' 304')), since(from).join('\n'));
  // Page 3 is full now: nothing on it tells that there is a fourth one.
  await review('maintainer', 'COMMENT', '', comments.slice(0, 70));
  assert.equal((await read())[1].length, 300);
  await review('maintainer', 'COMMENT', '', comments.slice(0, 1));
  from = proxy.seen.length;
  assert.equal((await read())[1].length, 301);
  assert.equal(since(from).filter((line) => line.endsWith('/comments 304')).length, 3);
});

test('reviews that were handed in, with their verdicts; a draft of one is nobody’s business', async (t) => {
  const { feed, number, pull, call, review } = await startPullRequest(t);
  const first = await review('maintainer', 'REQUEST_CHANGES', 'No.');
  await review('toolcrew-bot', undefined, 'not yet');
  await review('stranger', 'COMMENT', 'Hm.');
  await review('maintainer', 'APPROVE', '');
  await call('toolcrew-bot', 'POST', `${pull}/reviews`, { event: 'APPROVE' }, 422);
  await call('maintainer', 'POST', `${pull}/reviews`, { event: 'REQUEST_CHANGES' }, 422);
  await call('stranger', 'PUT', `${pull}/reviews/${first}/dismissals`, { message: 'x' }, 403);
  await call('maintainer', 'PUT', `${pull}/reviews/${first}/dismissals`, { message: 'x' });
  const maintainer = { login: 'maintainer', type: 'User' };
  const reviews = await feed.reviews(number, signal);
  assert.deepEqual(
    reviews.map(({ id: _, ...rest }) => rest),
    [
      { author: maintainer, verdict: 'dismissed', body: 'No.' },
      { author: { login: 'stranger', type: 'User' }, verdict: 'commented', body: 'Hm.' },
      { author: maintainer, verdict: 'approved', body: '' },
    ],
  );
  assert.equal(reviews[0]?.id, first);
});

test('threads: answers, a line that is gone, a first comment that was deleted, and a refused GraphQL', async (t) => {
  const { forge, feed, proxy, number, pull, call, tracker } = await startPullRequest(t);
  const comment = async (body: string, login = 'maintainer') =>
    Number((await call(login, 'POST', `${pull}/comments`, { path: 'a.txt', line: 1, body }, 201)).id);
  const [first, second] = [await comment('One?'), await comment('Two?', 'helper[bot]')];
  const answered = await call('stranger', 'POST', `${pull}/comments/${first}/replies`, { body: 'Me too' }, 201);
  forge.reviews.outdate(second);
  forge.reviews.resolve(second);
  const remark = (id: number, login: string, body: string, type = 'User') => ({ id, author: { login, type }, body });
  const reply = remark(Number(answered.id), 'stranger', 'Me too');
  const open = { path: 'a.txt', line: 1, isResolved: false };
  const done = { path: 'a.txt', line: null, isResolved: true };
  const two = { id: second, ...done, comments: [remark(second, 'helper[bot]', 'Two?', 'Bot')] };
  assert.deepEqual(await feed.threads(number, signal), [
    { id: first, ...open, comments: [remark(first, 'maintainer', 'One?'), reply] },
    two,
  ]);
  assert.equal((await feed.reviews(number, signal)).length, 3, 'each comment has a review of its own');
  await call('maintainer', 'DELETE', `/pulls/comments/${first}`, undefined, 204);
  assert.deepEqual(await feed.threads(number, signal), [two, { id: reply.id, ...open, comments: [reply] }]);
  await feed.reply(number, reply.id, 'Changed.', 'mark', signal);
  const quota = tracker.rateLimit.remaining;
  proxy.choose = (method) => (method === 'POST' ? 'forbidden' : undefined);
  const unknown = await feed.threads(number, signal);
  assert.deepEqual(
    unknown.map(({ id, isResolved, comments }) => [id, isResolved, comments.length]),
    [
      [second, false, 1],
      [reply.id, false, 2],
    ],
  );
  await feed.threads(number, signal);
  assert.equal(proxy.times('forbidden'), 1, 'it is asked again when something changes');
  assert.equal(tracker.rateLimit.remaining, (quota ?? 0) - 1);
});

test('of more than a hundred threads, the last ones are told apart as well', async (t) => {
  const { forge, feed, number, review } = await startPullRequest(t);
  const comments = Array.from({ length: 130 }, (_, n) => ({ path: 'a.txt', line: 1, body: `comment ${n}` }));
  await review('maintainer', 'COMMENT', 'Many.', comments);
  const threads = await feed.threads(number, signal);
  for (const { id } of threads.slice(0, 129)) forge.reviews.resolve(id);
  await review('maintainer', 'COMMENT', 'One more.', comments.slice(0, 1));
  const open = (await feed.threads(number, signal)).filter(({ isResolved }) => !isResolved);
  assert.deepEqual(
    open.map(({ id }) => id),
    [threads.at(-1)?.id, (await feed.threads(number, signal)).at(-1)?.id],
  );
});

test('an answer stands in its thread once, and a deleted thread is told', async (t) => {
  const { feed, number, pull, call } = await startPullRequest(t);
  const comment = { path: 'a.txt', line: 1, body: 'Why?' };
  const thread = Number((await call('maintainer', 'POST', `${pull}/comments`, comment, 201)).id);
  for (let n = 0; n < 2; n++) await feed.reply(number, thread, 'Done.', '1-2-answer', signal);
  await feed.reply(number, thread, 'More.', '1-3-answer', signal);
  const [read] = await feed.threads(number, signal);
  assert.deepEqual(
    read?.comments.map(({ author, body }) => `${author?.login}: ${body}`),
    [
      'maintainer: Why?',
      'toolcrew-bot: Done.\n\n<!-- toolcrew:1-2-answer -->',
      'toolcrew-bot: More.\n\n<!-- toolcrew:1-3-answer -->',
    ],
  );
  for (const { id } of read?.comments ?? [])
    await call('maintainer', 'DELETE', `/pulls/comments/${id}`, undefined, 204);
  const gone = await trackerRefusal(feed.reply(number, thread, 'Late.', '1-4-answer', signal));
  assert.deepEqual(
    [gone.code, gone.failure, gone.status, gone.values],
    ['review_thread_gone', 'refused', 404, { thread, pull_request: number }],
  );
});

test('a thread that is deleted between the question and the answer is told as well', async (t) => {
  const { feed, number, pull, call, proxy } = await startPullRequest(t);
  const comment = { path: 'a.txt', line: 1, body: 'Why?' };
  const thread = Number((await call('maintainer', 'POST', `${pull}/comments`, comment, 201)).id);
  proxy.choose = (method) => (method === 'POST' ? 'notFound' : undefined);
  const gone = await trackerRefusal(feed.reply(number, thread, 'Late.', 'mark', signal));
  assert.equal(gone.code, 'review_thread_gone');
  assert.equal(proxy.times('notFound'), 1);
});

test('people are asked for another review; whoever cannot be asked is left out', async (t) => {
  const { feed, number, pull, call, forge, proxy } = await startPullRequest(t);
  await feed.requestReview(number, [], signal);
  assert.equal(proxy.seen.length, 0);
  await feed.requestReview(number, ['stranger', 'maintainer', 'toolcrew-bot', 'nobody-at-all', 'triager'], signal);
  const asked = async () => {
    const { requested_reviewers: people } = fields((await forge.call('maintainer', 'GET', BASE + pull)).data);
    return Array.isArray(people) ? people.map((one) => fields(one).login) : people;
  };
  assert.deepEqual(await asked(), ['maintainer', 'triager']);
  await call('maintainer', 'POST', `${pull}/reviews`, { event: 'APPROVE' });
  assert.deepEqual(await asked(), ['triager']);
  assert.equal((await trackerRefusal(feed.requestReview(99, ['maintainer'], signal))).status, 404);
});

test('the account of the token; the token of an app has none', async (t) => {
  const { feed, proxy, forge } = await startPullRequest(t);
  for (let n = 0; n < 2; n++) assert.equal(await feed.account(signal), 'toolcrew-bot');
  assert.equal(proxy.seen.length, 1);
  const app = trackerAt(t, proxy.url, { token: 'token-of-a-bot' });
  for (let n = 0; n < 2; n++) assert.equal(await app.feed.account(signal), null);
  assert.equal(proxy.seen.length, 2);
  assert.equal(
    (await trackerRefusal(trackerAt(t, forge.url, { token: 'wrong' }).feed.account(signal))).failure,
    'unauthorized',
  );
});
