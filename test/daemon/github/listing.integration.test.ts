// Issue listing on GitHub: one request per label and poll, no new issue missed, label events cached across restarts.

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { HostingClient } from '../../../src/daemon/github/client.ts';
import { GitHubTracker } from '../../../src/daemon/github/tracker.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { FaultyProxy } from '../../support/faulty-proxy.ts';
import { DAEMON_TOKEN, startForge, type TestForge } from '../../support/forge.ts';
import { type Cleanup, finallyDo, tempDir } from '../../support/temp.ts';

const { signal } = new AbortController();
const TODO = ['tool-todo'];
const MINUTE = 60_000;

async function played(t: Cleanup, issues: number, eventsFile: string | null = null) {
  const forge = await startForge(t);
  await openMany(forge, issues);
  const proxy = await FaultyProxy.start(t, forge.forge.url);
  const clock = new FakeClock(Date.now());
  const newTracker = () => {
    const client = new HostingClient({
      apiUrl: proxy.url,
      token: async () => DAEMON_TOKEN,
      onUnauthorized: () => undefined,
      userAgent: 'toolcrew-test',
      clock,
    });
    finallyDo(t, () => client.close());
    return new GitHubTracker({ client, slug: { owner: 'maintainer', repo: 'project' }, clock, eventsFile });
  };
  const tracker = newTracker();
  const list = async () => (await tracker.listActive(TODO, signal)).map(({ number }) => number);
  const rest = async () => (await tracker.listRest(signal))?.map(({ number }) => number) ?? null;
  const statuses = (from: number) => proxy.seen.slice(from).map(({ status }) => status);
  return { ...forge, tracker, newTracker, proxy, clock, list, rest, statuses };
}

async function openMany({ open }: TestForge, issues: number): Promise<void> {
  for (let number = 1; number <= issues; number++) await open(`issue ${number}`);
}

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

test('the first poll gives the oldest by one request; the rest is read after it; an idle poll is one request', async (t) => {
  const { list, rest, proxy, statuses } = await played(t, 203);
  assert.deepEqual(await list(), upTo(100));
  assert.equal(proxy.seen.length, 1);
  assert.deepEqual(await rest(), upTo(203));
  assert.equal(await rest(), null, 'that is all');
  await list();
  const from = proxy.seen.length;
  for (let poll = 0; poll < 3; poll++) assert.deepEqual(await list(), upTo(203));
  assert.deepEqual(statuses(from), [304, 304, 304]);
});

test('a label of priority is one request more: behind 100 older issues its own are known at the first poll', async (t) => {
  const { tracker, rest, proxy, statuses, label } = await played(t, 130);
  await label(125, 'urgent');
  await label(120, 'Urgent');
  const urgent = async () => (await tracker.listActive(TODO, signal, ['urgent'])).map(({ number }) => number);
  assert.deepEqual(await urgent(), [...upTo(100), 120, 125]);
  assert.equal(proxy.seen.length, 2);
  assert.deepEqual(await rest(), upTo(130));
  await urgent();
  const from = proxy.seen.length;
  assert.deepEqual(await urgent(), upTo(130));
  assert.deepEqual(statuses(from), [304, 304]);
});

test('the same array is given while nothing changed', async (t) => {
  const { tracker } = await played(t, 3);
  const first = await tracker.listActive(TODO, signal);
  assert.equal(await tracker.listActive(TODO, signal), first);
  assert.equal(await tracker.listActive(TODO, signal), first);
});

test('the issue that fills a page and the one after it are found', async (t) => {
  const { list, open } = await played(t, 99);
  assert.deepEqual(await list(), upTo(99));
  assert.deepEqual(await list(), upTo(99));
  await open('the 100th');
  assert.deepEqual(await list(), upTo(100));
  await open('the 101st');
  assert.deepEqual(await list(), upTo(101));
  await open('the 102nd');
  assert.deepEqual(await list(), upTo(102));
});

test('more news than a page are read to the end, those of one second too', async (t) => {
  const { list, rest, open, label } = await played(t, 101);
  await list();
  await rest();
  const more: number[] = [];
  for (let number = 0; number < 105; number++) more.push(await open('unlabelled', { label: null }));
  await Promise.all(more.map((number) => label(number, 'tool-todo')));
  assert.deepEqual(await list(), upTo(206));
});

test('a closed issue leaves the list when it is read, and a whole listing finds it now and then', async (t) => {
  const { list, rest, close, tracker, clock } = await played(t, 103);
  await list();
  await rest();
  await list();
  await close(2);
  await close(3);
  assert.equal((await tracker.readIssue(2, signal))?.state, 'closed');
  assert.deepEqual(
    (await list()).filter((number) => number < 5),
    [1, 3, 4],
  );
  assert.equal(await rest(), null, 'not every time');
  await clock.pass(11 * MINUTE);
  assert.equal((await rest())?.includes(3), false);
});

test('an issue that is read twice costs a conditional request', async (t) => {
  const { tracker, statuses, write } = await played(t, 1);
  await tracker.readIssue(1, signal);
  assert.equal((await tracker.readIssue(1, signal))?.body, 'a body');
  await write(1, 'another body');
  assert.equal((await tracker.readIssue(1, signal))?.body, 'another body');
  assert.deepEqual(statuses(0), [200, 304, 200]);
});

test('answers about label events are kept over restarts, and asked for again only if something changed', async (t) => {
  const file = join(tempDir(t), 'label-events.json');
  const { tracker, newTracker, statuses, proxy, label, unlabel } = await played(t, 1, file);
  const first = await tracker.readLabelEvent(1, 'tool-todo', signal);
  await tracker.close();
  assert.ok(existsSync(file));
  const next = newTracker();
  const from = proxy.seen.length;
  assert.deepEqual(await next.readLabelEvent(1, 'Tool-Todo', signal), first);
  assert.deepEqual(statuses(from), [304]);
  await unlabel(1, 'tool-todo');
  await label(1, 'tool-todo', 'triager');
  const put = await next.readLabelEvent(1, 'tool-todo', signal);
  assert.notEqual(put?.id, first?.id);
  assert.equal(put?.actor?.login, 'triager');
});

test('a file of answers that is broken harms nothing', async (t) => {
  const directory = tempDir(t);
  writeFileSync(join(directory, 'events.json'), '[["1 tool-todo"');
  const { tracker } = await played(t, 1, join(directory, 'events.json'));
  assert.equal((await tracker.readLabelEvent(1, 'tool-todo', signal))?.actor?.login, 'maintainer');
});
