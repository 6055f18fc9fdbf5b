// Issues that wait for others: named in their text, dependencies and sub-issues, cycles, requests of a poll.

import assert from 'node:assert/strict';
import test from 'node:test';
import { reasonOf } from '../../src/daemon/intake.ts';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { TrackerError } from '../../src/daemon/rules/tracker-error.ts';
import { isRefusal, saying, wordsOf } from '../support/codes.ts';
import { commit, fail, hang, STRANGER, World, workflowWith } from '../support/world.ts';

const POLL = 30_000;

const worldWith = (maxConcurrent: number, priorityLabels: readonly string[] = []) => {
  const world = new World(workflowWith({ agent: { maxConcurrent, priorityLabels } }));
  world.script = hang;
  return world;
};
/** An issue with an active label and this text. */
const openWith = (world: World, number: number, body: string, labels: readonly string[] = ['tool-todo']) => {
  world.tracker.open(number, { labels });
  world.tracker.write(number, body);
};
const started = (world: World) => world.started.map(({ issue }) => issue);
const waitingOf = (world: World, issue: number) =>
  world.orchestrator.waiting.find((one) => one.issue.number === issue)?.why ?? [];
const reason = (world: World, issue: number) => reasonOf(waitingOf(world, issue));
const blockedBy = (blockers: string) => wordsOf(WORK_CODES.issue_blocked, { blockers });
const inCycle = (...chain: readonly string[]) => wordsOf(WORK_CODES.issue_blocked_in_cycle, { chain });
const asked = (world: World, from = 0) => world.tracker.calls.slice(from);

test('an issue waits for those that its text names, says so once, and takes neither slot nor workspace', async () => {
  const world = worldWith(3);
  world.tracker.open(9, { labels: [] });
  openWith(world, 1, 'Blocked by #2 and #9, depends on #77');
  for (const number of [2, 3]) world.tracker.open(number);
  await world.start();
  await world.pass(3 * POLL);
  assert.deepEqual(started(world), [2, 3], 'neither an issue that does not exist nor a slot holds anything up');
  isRefusal(waitingOf(world, 1)[0], WORK_CODES.issue_blocked, { blockers: '#2 and #9 (in its text)' });
  assert.equal(reason(world, 1), blockedBy('#2 and #9 (in its text)'));
  assert.deepEqual(
    world.lines.filter((line) => line.includes('#1 ')),
    [`[poller] issue #1 "Issue 1" waits: ${blockedBy('#2 and #9 (in its text)')}`],
  );
  assert.equal(world.workspaces.stocked.at(-1), 0);
  world.tracker.open(4);
  world.tracker.open(5);
  await world.pass(POLL);
  assert.deepEqual(started(world), [2, 3, 4]);
  assert.equal(world.workspaces.stocked.at(-1), 1, 'for #5 alone');
  await world.stop();
});

test('with all slots full no blocker is read, and an issue that names one gets no workspace', async () => {
  const world = worldWith(5);
  for (const number of [1, 2, 3, 4, 5]) world.tracker.open(number);
  openWith(world, 6, 'blocked by #9');
  world.tracker.open(9, { labels: [] });
  await world.start();
  await world.pass(2 * POLL);
  assert.equal(asked(world).includes('read 9'), false);
  assert.equal(reason(world, 6), wordsOf(WORK_CODES.issue_waits_for_slot, {}));
  assert.equal(world.workspaces.stocked.at(-1), 0);
  world.tracker.setState(1, 'closed');
  await world.pass(POLL);
  assert.equal(reason(world, 6), blockedBy('#9 (in its text)'));
  await world.stop();
});

test('the next poll after the last blocker was closed starts the issue; one blocker is read once a poll', async () => {
  const world = worldWith(4);
  for (const number of [8, 9]) world.tracker.open(number, { labels: [] });
  for (const number of [1, 2, 3]) openWith(world, number, 'blocked by #8, #9');
  await world.start();
  const before = world.tracker.calls.length;
  await world.pass(POLL);
  assert.deepEqual(asked(world, before), ['list', 'read 8', 'read 9']);
  world.tracker.setState(8, 'closed');
  await world.pass(POLL);
  assert.equal(reason(world, 3), blockedBy('#9 (in its text)'));
  world.tracker.setState(9, 'closed');
  await world.pass(POLL);
  assert.deepEqual(started(world), [1, 2, 3]);
  await world.stop();
});

test('a blocker blocks while it is at work, and after that until it is closed', async () => {
  const world = worldWith(2);
  world.script = commit;
  world.tracker.open(1);
  openWith(world, 2, 'depends on #1');
  await world.start();
  await world.pass(2 * POLL);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.deepEqual(started(world), [1]);
  assert.equal(reason(world, 2), blockedBy('#1 (in its text)'));
  world.tracker.setState(1, 'closed');
  await world.pass(POLL);
  assert.deepEqual(started(world), [1, 2]);
  await world.stop();
});

test('a blocker in the list or at work costs no request more', async () => {
  const world = worldWith(2);
  world.tracker.open(1, { author: STRANGER });
  openWith(world, 2, 'blocked by #1 and #3');
  world.tracker.open(3);
  await world.start();
  await world.pass(POLL);
  const before = world.tracker.calls.length;
  await world.pass(POLL);
  assert.deepEqual(asked(world, before), ['list', 'read 3']);
  assert.equal(reason(world, 2), blockedBy('#1 and #3 (in its text)'));
  await world.stop();
});

test('a list that still shows a finished blocker holds nothing up once that is closed', async () => {
  const world = worldWith(2);
  world.script = commit;
  const { tracker } = world;
  tracker.open(1);
  openWith(world, 2, 'depends on #1');
  const old = await tracker.listActive(['tool-todo']);
  tracker.listActive = async () => old;
  await world.start();
  await world.pass(2 * POLL);
  assert.deepEqual(started(world), [1]);
  tracker.setState(1, 'closed');
  await world.pass(POLL);
  assert.deepEqual(started(world), [1, 2]);
  await world.stop();
});

test('counts that call a closed sub-issue open hold nothing up', async () => {
  const world = worldWith(1);
  const { tracker } = world;
  for (const number of [8, 9]) tracker.open(number, { labels: [] });
  tracker.open(1);
  tracker.link(1, 'subIssues', [8, 9]);
  const readLinks = tracker.readLinks.bind(tracker);
  tracker.readLinks = async (number, link) =>
    (await readLinks(number, link)).map((one) => ({ ...one, state: 'closed' as const }));
  await world.start();
  assert.deepEqual(started(world), [1]);
  await world.stop();
});

test('a blocked issue is passed over, whatever its priority', async () => {
  const world = worldWith(1, ['now']);
  openWith(world, 1, 'blocked by #2', ['tool-todo', 'now']);
  for (const number of [2, 3]) world.tracker.open(number);
  world.tracker.open(4, { labels: ['tool-todo', 'now'] });
  await world.start();
  assert.deepEqual(started(world), [4]);
  await world.stop();
});

test('dependencies and sub-issues block, those of other repositories too; what the account cannot see is counted', async () => {
  const world = worldWith(1);
  const { tracker } = world;
  for (const number of [7, 8, 9]) tracker.open(number, { labels: [] });
  openWith(world, 1, 'Depends on #7');
  tracker.link(1, 'dependencies', [7, 8, { repository: 'other/repo', number: 5 }]);
  tracker.link(1, 'subIssues', [9]);
  const readLinks = tracker.readLinks.bind(tracker);
  let isHidden = false;
  tracker.readLinks = async (number, link) =>
    (await readLinks(number, link)).filter(({ repository }) => !isHidden || repository === null);
  await world.start();
  const words = '#7 (in its text), and for #8 and other/repo#5 (dependency), and for #9 (sub-issue)';
  isRefusal(waitingOf(world, 1)[0], WORK_CODES.issue_blocked, { blockers: words });
  isHidden = true;
  for (const number of [7, 8, 9]) tracker.setState(number, 'closed');
  await world.pass(POLL);
  assert.equal(reason(world, 1), blockedBy("1 that the daemon's account cannot read (dependency)"));
  tracker.link(1, 'dependencies', [7, 8]);
  await world.pass(POLL);
  assert.deepEqual(started(world), [1]);
  await world.stop();
});

test('a list whose counts are old holds nothing up, and one that shows no blocker yet starts nothing', async () => {
  const world = worldWith(2);
  const { tracker } = world;
  tracker.open(9, { labels: [] });
  for (const number of [1, 2]) tracker.open(number);
  tracker.link(1, 'dependencies', [9]);
  const old = await tracker.listActive(['tool-todo']);
  tracker.listActive = async () => old;
  tracker.link(1, 'dependencies', []);
  tracker.link(2, 'subIssues', [9]);
  await world.start();
  assert.deepEqual(started(world), [1]);
  assert.equal(reason(world, 2), blockedBy('#9 (sub-issue)'));
  await world.stop();
});

test('a poll sends no request more where no blocker is named and none is open', async () => {
  const world = worldWith(1);
  const { tracker } = world;
  tracker.open(1, { by: STRANGER });
  tracker.open(2, { labels: [] });
  tracker.link(1, 'dependencies', [2]);
  tracker.link(1, 'subIssues', [2]);
  tracker.setState(2, 'closed');
  await world.start();
  await world.pass(POLL);
  const before = tracker.calls.length;
  await world.pass(POLL);
  assert.deepEqual(asked(world, before), ['list']);
  tracker.unlabel(1, 'tool-todo');
  tracker.label(1, 'tool-todo');
  await world.pass(POLL);
  assert.deepEqual(started(world), [1]);
  assert.deepEqual(
    tracker.calls.filter((call) => /^(dependencies|subIssues|read 2)/.test(call)),
    [],
  );
  await world.stop();
});

test('of more than a hundred blocked issues, a poll checks a part, and each has its turn', async () => {
  const world = worldWith(200);
  const { tracker } = world;
  tracker.open(999, { labels: [] });
  for (let number = 1; number <= 150; number++) {
    openWith(world, number, 'blocked by #999');
    tracker.link(number, 'dependencies', [{ repository: 'other/repo', number: 5 }]);
  }
  await world.start();
  const lists = () => tracker.calls.filter((call) => call.startsWith('dependencies '));
  const before = lists().length;
  await world.pass(POLL);
  assert.equal(lists().length, before + 75);
  await world.pass(POLL);
  assert.equal(new Set(lists().slice(before)).size, 150);
  for (let number = 1; number <= 150; number++) tracker.link(number, 'dependencies', []);
  await world.pass(POLL);
  tracker.setState(999, 'closed');
  await world.pass(POLL);
  assert.equal(started(world).length, 75);
  await world.pass(POLL);
  assert.equal(started(world).length, 150);
  await world.stop();
});

test('a cycle is named by each issue in it, and one outside of it names what it waits for', async () => {
  const world = worldWith(1);
  const { tracker } = world;
  openWith(world, 1, 'blocked by #2');
  openWith(world, 2, 'depends on #3', []);
  openWith(world, 3, '');
  tracker.link(3, 'dependencies', [1]);
  openWith(world, 4, 'blocked by #4');
  openWith(world, 5, 'blocked by #1');
  openWith(world, 6, '');
  openWith(world, 7, 'blocked by #6');
  tracker.link(6, 'subIssues', [7]);
  openWith(world, 8, 'blocked by #9');
  openWith(world, 9, 'blocked by #10', []);
  openWith(world, 10, 'blocked by #8', []);
  tracker.setState(10, 'closed');
  await world.start();
  const chain = ['#1 waits for #2', '#2 waits for #3', '#3 waits for #1'];
  isRefusal(waitingOf(world, 1)[0], WORK_CODES.issue_blocked_in_cycle, { chain });
  assert.equal(reason(world, 3), inCycle('#3 waits for #1', '#1 waits for #2', '#2 waits for #3'));
  assert.equal(reason(world, 4), inCycle('#4 waits for #4'));
  assert.equal(reason(world, 5), blockedBy('#1 (in its text)'));
  assert.equal(reason(world, 8), blockedBy('#9 (in its text)'), 'a closed issue waits for nothing');
  assert.equal(reason(world, 7), inCycle('#7 waits for #6', '#6 waits for #7'));
  tracker.write(2, '');
  tracker.setState(2, 'closed');
  await world.pass(POLL);
  assert.deepEqual(started(world), [1]);
  await world.stop();
});

test('the search for a cycle ends quietly after fifty issues', async () => {
  const world = worldWith(1);
  openWith(world, 1, 'blocked by #101');
  for (let number = 101; number < 180; number++) openWith(world, number, `blocked by #${number + 1}`, []);
  openWith(world, 180, 'blocked by #1', []);
  await world.start();
  isRefusal(waitingOf(world, 1)[0], WORK_CODES.issue_blocked, {});
  assert.equal(world.tracker.calls.filter((call) => call.startsWith('read ')).length, 50);
  openWith(world, 149, 'blocked by #1', []);
  await world.pass(POLL);
  isRefusal(waitingOf(world, 1)[0], WORK_CODES.issue_blocked_in_cycle, {});
  await world.stop();
});

test('a blocker that cannot be read holds up its own issue alone, which starts when it can', async () => {
  const world = worldWith(3);
  const { tracker } = world;
  tracker.open(9, { labels: [] });
  tracker.setState(9, 'closed');
  openWith(world, 1, 'blocked by #9');
  for (const number of [2, 3]) tracker.open(number);
  tracker.fault = (call) => {
    if (call === 'read 9') throw new TrackerError('unavailable', saying('tracker', 'it answered 502'), {});
  };
  await world.start();
  await world.pass(2 * POLL);
  assert.deepEqual(started(world), [2, 3]);
  isRefusal(waitingOf(world, 1)[0], WORK_CODES.blockers_unreadable, { issue: 1, said: 'it answered 502' });
  assert.equal(
    world.lines.filter((line) =>
      line.includes(wordsOf(WORK_CODES.blockers_unreadable, { issue: 1, said: 'it answered 502' })),
    ).length,
    1,
  );
  tracker.fault = () => undefined;
  await world.pass(POLL);
  assert.deepEqual(started(world), [2, 3, 1]);
  await world.stop();
});

test('issues whose blockers can be read come before one whose blocker cannot', async () => {
  const world = worldWith(1);
  world.script = commit;
  const { tracker } = world;
  for (const number of [8, 9]) {
    tracker.open(number, { labels: [] });
    tracker.setState(number, 'closed');
  }
  openWith(world, 1, 'blocked by #9');
  for (const number of [2, 3, 4, 5, 6]) openWith(world, number, 'blocked by #8');
  tracker.fault = (call) => {
    if (call === 'read 9') throw new TrackerError('unavailable', saying('tracker', 'it answered 502'), {});
  };
  await world.start();
  await world.pass(8 * POLL);
  assert.deepEqual(started(world), [2, 3, 4, 5, 6]);
  await world.stop();
});

test('a cycle that cannot be followed now leaves what the issue waits for', async () => {
  const world = worldWith(1);
  openWith(world, 1, 'blocked by #2');
  openWith(world, 2, '', []);
  world.tracker.link(2, 'dependencies', [1]);
  world.tracker.fault = (call) => {
    if (call === 'dependencies 2') throw new TrackerError('unavailable', saying('tracker', 'it answered 502'), {});
  };
  await world.start();
  assert.equal(reason(world, 1), blockedBy('#2 (in its text)'));
  world.tracker.fault = () => undefined;
  await world.pass(POLL);
  isRefusal(waitingOf(world, 1)[0], WORK_CODES.issue_blocked_in_cycle, {});
  await world.stop();
});

test('a blocker that is named right before the start counts', async () => {
  const world = worldWith(1);
  const { tracker } = world;
  for (const number of [1, 2]) tracker.open(number);
  const readIssue = tracker.readIssue.bind(tracker);
  tracker.readIssue = async (number) => {
    if (number === 1 && tracker.issues.get(1)?.body !== 'blocked by #2') tracker.write(1, 'blocked by #2');
    return readIssue(number);
  };
  await world.start();
  assert.deepEqual(started(world), [2]);
  assert.equal(reason(world, 1), blockedBy('#2 (in its text)'));
  await world.stop();
});

test('an issue at work and its retry are stopped by no blocker, and are in no cycle', async () => {
  const world = worldWith(2);
  world.script = async (agent) => {
    if (agent.request.attempt > 1) return commit(agent);
    agent.world.tracker.write(1, 'blocked by #2');
    await agent.world.clock.sleep(2 * POLL, agent.hooks.signal);
    return fail(agent);
  };
  world.tracker.open(1);
  openWith(world, 2, 'blocked by #1');
  await world.start();
  await world.pass(POLL);
  assert.equal(reason(world, 2), blockedBy('#1 (in its text)'));
  await world.pass(9 * POLL);
  assert.deepEqual(started(world), [1, 1]);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});
