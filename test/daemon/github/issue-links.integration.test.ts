// Blockers of issues as the real tracker reads them from the played service.

import assert from 'node:assert/strict';
import test from 'node:test';
import { messageIn } from '../../../src/base/rules/codes.ts';
import { BlockerCheck } from '../../../src/daemon/blocker-check.ts';
import { HostingClient } from '../../../src/daemon/github/client.ts';
import { LabelList } from '../../../src/daemon/github/label-list.ts';
import { GitHubTracker } from '../../../src/daemon/github/tracker.ts';
import { hasBlockers, NO_BLOCKERS } from '../../../src/daemon/rules/blockers.ts';
import { WORK_CODES } from '../../../src/daemon/rules/codes/work-codes.ts';
import type { Issue } from '../../../src/daemon/rules/issue.ts';
import { wordsOf } from '../../support/codes.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { FaultyProxy } from '../../support/faulty-proxy.ts';
import { BASE, commitFiles, DAEMON_TOKEN, fields, gitAs, startForge, type TestForge } from '../../support/forge.ts';
import { type Cleanup, finallyDo } from '../../support/temp.ts';
import { MemoryJournal } from '../../support/world.ts';

const { signal } = new AbortController();

const blockedBy = (blockers: string) => wordsOf(WORK_CODES.issue_blocked, { blockers });

const ISSUE: Issue = {
  ...{ number: 1, title: 'One', body: '', url: 'https://example.com/1', state: 'open', labels: [], author: null },
  ...{ createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-01T00:00:00Z', blockers: NO_BLOCKERS },
};

async function start(t: Cleanup) {
  const forge = await startForge(t);
  const proxy = await FaultyProxy.start(t, forge.forge.url);
  const clock = new FakeClock(Date.now());
  const client = new HostingClient({
    apiUrl: proxy.url,
    token: async () => DAEMON_TOKEN,
    onUnauthorized: () => undefined,
    userAgent: 'toolcrew-test',
    clock,
  });
  finallyDo(t, () => client.close());
  const tracker = new GitHubTracker({ client, slug: { owner: 'maintainer', repo: 'project' }, clock });
  const check = new BlockerCheck({ journal: new MemoryJournal(clock.now), tracker });
  /** Polls, checks this issue, and gives why it waits. */
  const poll = async (issue: number) => {
    const listing = await tracker.listActive(['tool-todo'], signal);
    check.newPoll();
    check.listed(listing);
    const listed = listing.find(({ number }) => number === issue);
    assert.ok(listed, `#${issue} is listed`);
    if (check.isDue(listed)) await check.check(listed, signal);
    const why = check.last(listed);
    return why === null ? null : messageIn(why);
  };
  return { ...forge, proxy, tracker, poll };
}

const idOf = async ({ forge }: TestForge, path: string) =>
  fields((await forge.call('maintainer', 'GET', path)).data).id;

async function add({ forge }: TestForge, issue: number, path: string, body: unknown) {
  const { status, data } = await forge.call('maintainer', 'POST', `${BASE}/issues/${issue}/${path}`, body);
  assert.equal(status, 201, JSON.stringify(data));
}

test('dependencies, sub-issues and blockers in the text hold an issue up until the last one is closed', async (t) => {
  const service = await start(t);
  const { forge, open, close, proxy, tracker, poll } = service;
  const blocked = await open('blocked');
  const [named, dependency, part] = [
    await open('named', { label: null }),
    await open('dependency', { label: null }),
    await open('part', { label: null }),
  ];
  await forge.call('maintainer', 'POST', '/user/repos', { name: 'other' });
  const other = await forge.call('maintainer', 'POST', '/repos/maintainer/other/issues', { title: 'elsewhere' });
  assert.equal(await poll(blocked), null);
  const before = proxy.seen.length;
  assert.equal(await poll(blocked), null);
  assert.deepEqual(
    proxy.seen.slice(before).map(({ path }) => path.split('?')[0]),
    [`${BASE}/issues`],
    'nothing more is asked where nothing blocks',
  );
  await add(service, blocked, 'dependencies/blocked_by', {
    issue_id: await idOf(service, `${BASE}/issues/${dependency}`),
  });
  assert.equal(await poll(blocked), blockedBy(`#${dependency} (dependency)`), 'its time of change is the same');
  await service.write(blocked, `Blocked by ${forge.url}/maintainer/project/issues/${named} and #99`);
  await add(service, blocked, 'dependencies/blocked_by', { issue_id: fields(other.data).id });
  await add(service, blocked, 'sub_issues', { sub_issue_id: await idOf(service, `${BASE}/issues/${part}`) });
  assert.equal(
    await poll(blocked),
    blockedBy(
      `#${named} (in its text), and for #${dependency} and maintainer/other#1 (dependency), and for #${part} (sub-issue)`,
    ),
  );
  const [listed] = await tracker.listActive(['tool-todo'], signal);
  assert.equal(listed?.body, '', 'no text is kept');
  assert.ok(listed !== undefined && hasBlockers(listed.blockers));
  const again = proxy.seen.length;
  await poll(blocked);
  assert.deepEqual(
    proxy.seen
      .slice(again)
      .map(({ path, etag, status }) => `${path.split('?')[0]?.slice(BASE.length)} ${etag} ${status}`)
      .sort(),
    [
      '/issues true 304',
      '/issues/1/dependencies/blocked_by true 304',
      '/issues/1/sub_issues true 304',
      `/issues/${named} true 304`,
      `/issues/${dependency} true 304`,
      `/issues/${part} true 304`,
      '/issues/99 false 404',
    ],
    'the list, both lists of links, and each blocker once, conditional where it exists',
  );
  await close(named);
  await close(part);
  await forge.call('maintainer', 'PATCH', '/repos/maintainer/other/issues/1', { state: 'closed' });
  assert.equal(await poll(blocked), blockedBy(`#${dependency} (dependency)`));
  await close(dependency);
  assert.equal(await poll(blocked), null);
});

test('an open pull request in the text blocks, a closed one does not', async (t) => {
  const service = await start(t);
  const { forge, open, work, bare, tracker, poll } = service;
  const blocked = await open('blocked', { body: 'Depends on #2' });
  await gitAs(work, 'checkout', '--quiet', '-b', 'topic');
  await commitFiles(work, { 'a.txt': 'a' }, 'a');
  await gitAs(work, 'push', '--quiet', bare, 'topic');
  const request = { title: 'p', head: 'topic', base: 'main', body: 'Blocked by #1' };
  const { data } = await forge.call('maintainer', 'POST', `${BASE}/pulls`, request);
  assert.equal(fields(data).number, 2);
  assert.equal((await tracker.readIssue(2, signal))?.title, 'p');
  assert.equal(
    await poll(blocked),
    wordsOf(WORK_CODES.issue_blocked_in_cycle, { chain: ['#1 waits for #2', '#2 waits for #1'] }),
  );
  await forge.call('maintainer', 'PATCH', `${BASE}/pulls/2`, { body: 'nothing' });
  assert.equal(await poll(blocked), blockedBy('#2 (in its text)'));
  await forge.call('maintainer', 'PATCH', `${BASE}/pulls/2`, { state: 'closed' });
  assert.equal(await poll(blocked), null);
});

test('a server without these features, and one with counts of another shape, list issues as before', async (t) => {
  const service = await start(t);
  const { forge, open, proxy, tracker } = service;
  const [first, second] = [await open('first'), await open('second')];
  await add(service, first, 'sub_issues', { sub_issue_id: await idOf(service, `${BASE}/issues/${second}`) });
  assert.equal((await tracker.readLinks(first, 'subIssues', signal)).length, 1);
  proxy.choose = (_, path) => (path.includes('/sub_issues') ? 'notFound' : undefined);
  assert.deepEqual(await tracker.readLinks(first, 'subIssues', signal), []);
  const { issueRow, toIssue } = await import('../../../src/daemon/github/issue-row.ts');
  const row = fields((await forge.call('maintainer', 'GET', `${BASE}/issues/${first}`)).data);
  assert.equal(hasBlockers(toIssue(issueRow.parse(row)).blockers), true);
  for (const counts of [undefined, null, {}, { total: 'many' }, []])
    assert.equal(hasBlockers(toIssue(issueRow.parse({ ...row, sub_issues_summary: counts })).blockers), false);
});

test('counts of an issue that was read by itself replace those of the list, also within one second', async () => {
  const issue = { ...ISSUE, labels: ['todo'] };
  const page = { etag: undefined, issues: [issue], oldest: issue.updatedAt, isFull: false, last: 1 };
  const list = new LabelList(['todo'], async () => page, new FakeClock());
  await list.poll(signal);
  const { version } = list;
  const blockers = { ...issue.blockers, subIssues: { open: 1, all: 1 } };
  list.note(issue.number, { ...issue, blockers });
  assert.deepEqual(
    [...list.issues].map((one) => one.blockers.subIssues.open),
    [1],
  );
  assert.equal(list.version, version + 1);
  list.note(issue.number, { ...issue, blockers });
  assert.equal(list.version, version + 1);
});
