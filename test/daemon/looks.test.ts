// Deliveries of webhooks in memory: what each one has read, and how rare polls become.

import assert from 'node:assert/strict';
import test from 'node:test';
import { type Look, NO_LOOK } from '../../src/daemon/rules/look.ts';
import { TrackerError } from '../../src/daemon/rules/tracker-error.ts';
import { saying } from '../support/codes.ts';
import { commit, hang, World, workflowWith } from '../support/world.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const PULL = 1000;

const issueLook = (...issues: number[]): Look => ({ ...NO_LOOK, list: true, issues });
const started = (world: World) => world.started.map(({ issue }) => issue);
const lists = (world: World) => world.tracker.calls.filter((call) => call === 'list').length;

async function startedWorld(): Promise<World> {
  const world = new World();
  await world.start();
  return world;
}

test('a delivery starts an agent before any poll is due', async () => {
  const world = await startedWorld();
  world.tracker.open(1);
  const at = world.clock.elapsed();
  world.orchestrator.looks.deliver('issues', issueLook(1));
  await world.pass(0);
  assert.deepEqual(started(world), [1]);
  assert.equal(world.clock.elapsed(), at);
  await world.stop();
});

test('a delivery reads the list and the issue that it names, not the others at work', async () => {
  const world = new World(workflowWith({ agent: { maxConcurrent: 3 } }));
  world.script = hang;
  for (const number of [1, 2]) world.tracker.open(number);
  await world.start();
  const from = world.tracker.calls.length;
  world.tracker.unlabel(1, 'tool-todo');
  world.orchestrator.looks.deliver('issues', issueLook(1));
  await world.pass(0);
  assert.deepEqual(world.tracker.calls.slice(from), ['list', 'read 1']);
  assert.equal(world.journal.storyOf(1).at(-1), 'finished label_removed');
  await world.stop();
});

test('deliveries of a burst are one reading; a second later the first is read again, then the others together', async () => {
  const world = await startedWorld();
  const from = lists(world);
  for (let number = 1; number <= 50; number++) world.orchestrator.looks.deliver('issues', issueLook(number));
  await world.pass(0);
  assert.equal(lists(world) - from, 1);
  await world.pass(SECOND);
  assert.equal(lists(world) - from, 2);
  await world.pass(20 * SECOND);
  assert.equal(lists(world) - from, 3);
  await world.stop();
});

test('an answer from before the delivery is found out a second later', async () => {
  const world = await startedWorld();
  const { tracker } = world;
  const listActive = tracker.listActive.bind(tracker);
  const fresh = world.clock.elapsed() + 500;
  const old = await listActive(['tool-todo']);
  tracker.open(1);
  tracker.listActive = async (labels) => (world.clock.elapsed() < fresh ? old : listActive(labels));
  world.orchestrator.looks.deliver('issues', issueLook(1));
  await world.pass(0);
  assert.deepEqual(started(world), []);
  await world.pass(SECOND);
  assert.deepEqual(started(world), [1]);
  await world.stop();
});

test('a delivery while a poll reads is not lost', async () => {
  const world = await startedWorld();
  const { tracker } = world;
  const listActive = tracker.listActive.bind(tracker);
  let isFirst = true;
  tracker.listActive = async (labels) => {
    const listing = await listActive(labels);
    if (isFirst) {
      isFirst = false;
      tracker.open(1);
      world.orchestrator.looks.deliver('issues', issueLook(1));
    }
    return listing;
  };
  world.orchestrator.refresh();
  await world.pass(0);
  assert.deepEqual(started(world), [1]);
  await world.stop();
});

test('a blocked issue starts with the delivery that closes its blocker', async () => {
  const world = new World();
  world.tracker.open(1, { labels: [] });
  world.tracker.open(2);
  world.tracker.write(2, 'blocked by #1');
  await world.start();
  assert.deepEqual(started(world), []);
  world.tracker.setState(1, 'closed');
  world.orchestrator.looks.deliver('issues', { ...issueLook(1), blockers: true });
  await world.pass(0);
  assert.deepEqual(started(world), [2]);
  await world.stop();
});

test('a service that does not answer after a delivery is asked again at the next poll, at the ordinary pace', async () => {
  const world = await startedWorld();
  world.orchestrator.looks.deliver('issues', issueLook());
  await world.pass(MINUTE);
  world.tracker.fault = (call) => {
    if (call === 'list') throw new TrackerError('unavailable', saying('tracker', 'it answered 502'));
  };
  world.tracker.open(1);
  world.orchestrator.looks.deliver('issues', issueLook(1));
  await world.pass(2 * SECOND);
  assert.equal(world.orchestrator.poll.lastError, 'it answered 502');
  world.tracker.fault = () => undefined;
  await world.pass(30 * SECOND);
  assert.deepEqual(started(world), [1]);
  await world.stop();
});

test('polls are ten times rarer from the first delivery on, and as before when none came for an hour', async () => {
  const world = await startedWorld();
  const polls = async (ms: number) => {
    const from = lists(world);
    await world.pass(ms);
    return lists(world) - from;
  };
  assert.equal(await polls(10 * MINUTE), 20);
  world.orchestrator.looks.deliver('pull_request', { ...NO_LOOK, pulls: [7] });
  assert.equal(await polls(10 * MINUTE), 20, 'what comes of pull requests proves nothing of issues');
  world.orchestrator.looks.deliver('issues', issueLook());
  await world.pass(2 * SECOND);
  assert.equal(world.orchestrator.poll.intervalMs, 5 * MINUTE);
  assert.equal(await polls(50 * MINUTE), 10);
  await world.pass(10 * MINUTE);
  assert.equal(world.orchestrator.poll.intervalMs, 30 * SECOND);
  assert.equal(await polls(10 * MINUTE), 20);
  await world.stop();
});

test('what issues wait for is asked anew at most once in an interval, unless a delivery says that it changed', async () => {
  const world = new World();
  for (let number = 1; number <= 5; number++) {
    world.tracker.open(number, { labels: [] });
    world.tracker.open(100 + number);
    world.tracker.write(100 + number, `blocked by #${number}`);
  }
  await world.start();
  const askedIn = async (ms: number, look: Look) => {
    const from = world.tracker.calls.length;
    for (let passed = 0; passed < ms; passed += 2 * SECOND) {
      world.orchestrator.looks.deliver('issues', look);
      await world.pass(2 * SECOND);
    }
    return world.tracker.calls.slice(from).filter((call) => call.startsWith('read ')).length;
  };
  await world.pass(2 * SECOND);
  assert.equal(await askedIn(20 * SECOND, issueLook(9)), 0);
  assert.equal(await askedIn(MINUTE, issueLook(9)), 10);
  // The reading a second later asks, too.
  assert.equal(await askedIn(2 * SECOND, { ...issueLook(1), blockers: true }), 10);
  await world.stop();
});

test('a comment on an issue reads that issue, not the list', async () => {
  const world = new World();
  world.script = hang;
  world.tracker.open(1);
  await world.start();
  const from = world.tracker.calls.length;
  world.tracker.say(1, 'Use a map.');
  world.orchestrator.looks.deliver('issue_comment', { ...NO_LOOK, issues: [1] });
  await world.pass(0);
  assert.deepEqual(world.tracker.calls.slice(from), ['read 1', 'comments of 1', 'permission writer']);
  await world.stop();
});

test('a label that is put on right after the issue was opened and edited starts its agent without a pause', async () => {
  const world = await startedWorld();
  world.tracker.open(1, { labels: [] });
  for (const step of ['opened', 'edited']) {
    world.orchestrator.looks.deliver('issues', issueLook(1));
    await world.pass(100);
    assert.deepEqual(started(world), [], step);
  }
  world.tracker.label(1, 'tool-todo');
  world.orchestrator.looks.deliver('issues', issueLook(1));
  await world.pass(0);
  assert.deepEqual(started(world), [1]);
  await world.stop();
});

test('readings of the list are a second apart on average, three of them without a pause', async () => {
  const world = await startedWorld();
  const from = lists(world);
  for (let passed = 0; passed < 9_900; passed += 100) {
    world.orchestrator.looks.deliver('issues', issueLook(1));
    await world.pass(100);
  }
  assert.equal(lists(world) - from, 12);
  world.tracker.open(2);
  world.orchestrator.looks.deliver('issues', issueLook(2));
  await world.pass(SECOND);
  assert.deepEqual(started(world), [2]);
  await world.stop();
});

test('a comment that comes while comments are being read is read after that', async () => {
  const world = new World();
  world.script = hang;
  world.tracker.open(1);
  await world.start();
  const { tracker } = world;
  const readComments = tracker.readComments.bind(tracker);
  let isFirst = true;
  tracker.readComments = async (number) => {
    const read = await readComments(number);
    if (isFirst) {
      isFirst = false;
      tracker.say(1, 'And a list.');
      world.orchestrator.looks.deliver('issue_comment', { ...NO_LOOK, issues: [1] });
      await world.clock.sleep(2_500, new AbortController().signal);
    }
    return read;
  };
  tracker.say(1, 'Use a map.');
  world.orchestrator.looks.deliver('issue_comment', { ...NO_LOOK, issues: [1] });
  await world.pass(2_500);
  const heard = world.journal.records.flatMap((record) => (record.type === 'messages' ? [record.messages] : []));
  assert.deepEqual(
    heard.map((messages) => messages.map(({ text }) => text)),
    [['Use a map.'], ['And a list.']],
  );
  await world.stop();
});

async function followedWorld(): Promise<World> {
  const world = new World(workflowWith({ follow: { until: 'approved', maxRounds: 3 } }));
  world.tracker.open(1);
  await world.start();
  await world.pass(MINUTE);
  assert.equal(world.journal.state.entries.get(1)?.phase, 'following');
  return world;
}

test('a red check of a followed pull request goes to its agent with the delivery, and nothing else is read', async () => {
  const world = await followedWorld();
  const from = world.tracker.calls.length;
  const head = world.journal.state.entries.get(1)?.pushed.at(-1) ?? '';
  const build = { name: 'build', state: 'failed', url: '', run: 1, summary: '' } as const;
  world.tracker.seen.set(PULL, { checks: [build] });
  world.orchestrator.looks.deliver('check_run', { ...NO_LOOK, commits: ['another', head] });
  await world.pass(3 * SECOND);
  assert.equal(world.started.length, 2);
  const asked = world.tracker.calls.slice(from);
  assert.deepEqual(asked.slice(0, 2), [`pull ${PULL}`, `checks ${head}`]);
  assert.ok(!asked.includes('list'));
  await world.stop();
});

test('a check that fails before the others exist starts no round: they are waited for', async () => {
  const world = await followedWorld();
  const head = world.journal.state.entries.get(1)?.pushed.at(-1) ?? '';
  const check = (name: string, state: 'failed' | 'pending') => ({ name, state, url: '', run: 1, summary: '' });
  world.tracker.seen.set(PULL, { checks: [check('dco', 'failed')] });
  world.orchestrator.looks.deliver('check_run', { ...NO_LOOK, commits: [head] });
  await world.pass(2 * SECOND);
  world.tracker.seen.set(PULL, { checks: [check('dco', 'failed'), check('build', 'pending')] });
  await world.pass(20 * SECOND);
  assert.equal(world.started.length, 1);
  assert.equal(world.orchestrator.follower.waits.get(1), 'checks failed: dco; others run: build');
  world.tracker.seen.set(PULL, { checks: [check('dco', 'failed'), check('build', 'failed')] });
  world.orchestrator.looks.deliver('check_run', { ...NO_LOOK, commits: [head] });
  await world.pass(5 * SECOND);
  assert.equal(world.started.length, 2);
  await world.stop();
});

test('a delivery about another pull request reads nothing', async () => {
  const world = await followedWorld();
  const from = world.tracker.calls.length;
  world.orchestrator.looks.deliver('pull_request', { ...NO_LOOK, pulls: [PULL + 1] });
  await world.pass(5 * SECOND);
  assert.deepEqual(world.tracker.calls.slice(from), []);
  await world.stop();
});

test('a review that comes while its pull request is being read is read after that', async () => {
  const world = await followedWorld();
  const { feed } = world.tracker;
  const { comments } = feed;
  let isFirst = true;
  Object.assign(feed, {
    comments: async (...args: Parameters<typeof comments>) => {
      const read = await comments(...args);
      if (isFirst) {
        isFirst = false;
        const remark = { id: 8, author: { login: 'writer', type: 'User' }, body: '/tool go on' };
        world.tracker.seen.set(PULL, { comments: [remark] });
        world.orchestrator.looks.deliver('issue_comment', { ...NO_LOOK, pulls: [PULL] });
      }
      return read;
    },
  });
  world.tracker.seen.set(PULL, { conflicts: null });
  world.orchestrator.looks.deliver('pull_request', { ...NO_LOOK, pulls: [PULL] });
  await world.pass(0);
  assert.equal(world.started.length, 2);
  await world.stop();
});

test('while a pull request is followed, polls are rarer only if deliveries about pull requests come, too', async () => {
  const world = await followedWorld();
  world.orchestrator.looks.deliver('issues', issueLook());
  assert.equal(world.orchestrator.poll.intervalMs, 30 * SECOND);
  world.orchestrator.looks.deliver('check_run', NO_LOOK);
  assert.equal(world.orchestrator.poll.intervalMs, 5 * MINUTE);
  world.tracker.open(2);
  world.script = commit;
  world.orchestrator.looks.deliver('issues', issueLook(2));
  await world.pass(0);
  assert.equal(world.journal.state.entries.get(2)?.phase, 'following');
  assert.equal(world.orchestrator.poll.intervalMs, 30 * SECOND, 'one that no poll has seen yet');
  await world.pass(MINUTE);
  assert.equal(world.orchestrator.poll.intervalMs, 5 * MINUTE);
  await world.stop();
});
