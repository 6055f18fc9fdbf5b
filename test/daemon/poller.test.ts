// The pace of polls while deliveries come: what no delivery tells of is found as early as without a webhook.

import assert from 'node:assert/strict';
import test from 'node:test';
import { NO_LOOK } from '../../src/daemon/rules/look.ts';
import { TrackerError } from '../../src/daemon/rules/tracker-error.ts';
import { saying } from '../support/codes.ts';
import { awaited, check, followed, PULL, phaseOf, worldWith } from '../support/followed-world.ts';
import { commit, hang, World } from '../support/world.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const paceOf = (world: World) => world.orchestrator.poll.intervalMs;

function deliver(world: World, ...events: string[]): void {
  for (const event of events) world.orchestrator.looks.deliver(event, NO_LOOK);
}

/** A world whose followed pull request waits for nothing but people, and whose webhook works. */
async function quietWorld(until: 'green' | 'approved' = 'approved'): Promise<World> {
  const world = worldWith(until);
  await followed(world);
  world.tracker.seen.set(PULL, { checks: [check('build', 'pending')] });
  await world.pass(MINUTE);
  deliver(world, 'issues', 'check_run');
  assert.equal(paceOf(world), 5 * MINUTE);
  await world.pass(MINUTE);
  return world;
}

test('while an agent asks or works, polls are rarer only if deliveries of comments come, too', async () => {
  const world = new World();
  world.script = async (agent) => {
    if (agent.request.attempt > 1) return hang(agent);
    await agent.ask({ type: 'ask', issue: 1, body: 'Which?' }, new AbortController().signal);
    return commit(agent);
  };
  world.tracker.open(1);
  await world.start();
  deliver(world, 'issues');
  await world.pass(65 * SECOND);
  assert.equal(phaseOf(world), 'asking');
  assert.equal(paceOf(world), 30 * SECOND);
  world.tracker.say(1, 'The red one.');
  await world.pass(30 * SECOND);
  assert.equal(phaseOf(world), 'running');
  assert.equal(paceOf(world), 30 * SECOND);
  deliver(world, 'issue_comment');
  await world.pass(30 * SECOND);
  assert.equal(paceOf(world), 5 * MINUTE);
  await world.stop();
});

test('comments that could not be read bring back the ordinary pace', async () => {
  const world = new World();
  world.script = hang;
  world.tracker.open(1);
  await world.start();
  deliver(world, 'issues', 'issue_comment');
  await world.pass(35 * SECOND);
  assert.equal(paceOf(world), 5 * MINUTE);
  const comments = () => world.tracker.calls.filter((call) => call === 'comments of 1').length;
  world.tracker.say(1, 'Mind the tests');
  world.tracker.fault = (call) => {
    if (call === 'comments of 1') throw new Error('away');
  };
  world.orchestrator.looks.deliver('issue_comment', { ...NO_LOOK, issues: [1] });
  await world.pass(2 * SECOND);
  const failed = comments();
  assert.ok(failed > 0);
  await world.pass(35 * SECOND);
  assert.ok(comments() > failed, 'they are read again at the ordinary pace');
  world.tracker.fault = () => undefined;
  await world.pass(35 * SECOND);
  assert.equal(world.journal.state.messages.get(1)?.length, 1);
  await world.stop();
});

test('a pull request turns green as early as without a webhook', async () => {
  const world = await quietWorld('green');
  const head = world.journal.state.entries.get(1)?.pushed.at(-1) ?? '';
  world.tracker.seen.set(PULL, { checks: [check('build', 'passed')] });
  world.orchestrator.looks.deliver('check_run', { ...NO_LOOK, commits: [head] });
  await world.pass(35 * SECOND);
  assert.equal(awaited(world), 'merge');
  await world.stop();
});

test('whether it can be merged is asked again soon', async () => {
  const world = await quietWorld('green');
  world.tracker.seen.set(PULL, { checks: [check('build', 'passed')], conflicts: null });
  world.orchestrator.looks.deliver('check_run', { ...NO_LOOK, pulls: [PULL] });
  await world.pass(35 * SECOND);
  world.tracker.seen.set(PULL, { checks: [check('build', 'passed')], conflicts: true });
  await world.pass(30 * SECOND);
  assert.equal(world.started.length, 2);
  await world.stop();
});

test('a merge of another pull request reads all that are followed: they may conflict with it', async () => {
  const world = await quietWorld();
  world.tracker.seen.set(PULL, { conflicts: true });
  world.orchestrator.looks.deliver('pull_request', { ...NO_LOOK, list: true, pulls: [PULL + 1], allPulls: true });
  await world.pass(0);
  assert.equal(world.started.length, 2);
  await world.stop();
});

test('a pull request that cannot be read after a delivery is read at the ordinary pace', async () => {
  const world = await quietWorld();
  world.tracker.fault = (call) => {
    if (call === `pull ${PULL}`) throw new TrackerError('unavailable', saying('tracker', '502'));
  };
  world.tracker.seen.set(PULL, { conflicts: true });
  world.orchestrator.looks.deliver('pull_request', { ...NO_LOOK, pulls: [PULL] });
  await world.pass(2 * SECOND);
  world.tracker.fault = () => undefined;
  await world.pass(30 * SECOND);
  assert.equal(world.started.length, 2);
  await world.stop();
});

for (const failing of ['list', 'read 1'])
  test(`a reading after a delivery that fails is made up for, though the next one succeeds: ${failing}`, async () => {
    const world = new World();
    world.script = hang;
    world.tracker.open(1);
    await world.start();
    deliver(world, 'issues', 'issue_comment');
    await world.pass(MINUTE);
    assert.equal(paceOf(world), 5 * MINUTE);
    world.tracker.fault = (call) => {
      if (call === failing) throw new TrackerError('unavailable', saying('tracker', '502'));
    };
    world.tracker.unlabel(1, 'tool-todo');
    world.orchestrator.looks.deliver('issues', { ...NO_LOOK, list: true, issues: [1] });
    await world.pass(3 * SECOND);
    world.tracker.fault = () => undefined;
    world.orchestrator.looks.deliver('issues', { ...NO_LOOK, list: true, issues: [9] });
    await world.pass(0);
    assert.equal(phaseOf(world), 'running');
    await world.pass(30 * SECOND);
    assert.equal(phaseOf(world), 'parked');
    await world.stop();
  });

test('readings that fail one after the other do not put off the poll', async () => {
  const world = new World();
  await world.start();
  deliver(world, 'issues');
  await world.pass(MINUTE);
  world.tracker.fault = (call) => {
    if (call === 'list') throw new TrackerError('unavailable', saying('tracker', '502'));
  };
  for (let passed = 0; passed < 25 * SECOND; passed += 5 * SECOND) {
    world.orchestrator.looks.deliver('issues', { ...NO_LOOK, list: true });
    await world.pass(5 * SECOND);
  }
  world.tracker.fault = () => undefined;
  world.tracker.open(1);
  await world.pass(5 * SECOND);
  assert.equal(world.started.length, 1);
  await world.stop();
});

test('a pull request counts as gone only when the service does not show it for a minute', async () => {
  const world = await quietWorld();
  const { feed } = world.tracker;
  const { read } = feed;
  Object.assign(feed, { read: async () => null });
  for (let count = 0; count < 5; count++) {
    world.orchestrator.looks.deliver('pull_request', { ...NO_LOOK, pulls: [PULL] });
    await world.pass(5 * SECOND);
  }
  assert.equal(phaseOf(world), 'following');
  Object.assign(feed, { read });
  await world.pass(30 * SECOND);
  Object.assign(feed, { read: async () => null });
  world.orchestrator.looks.deliver('pull_request', { ...NO_LOOK, pulls: [PULL] });
  await world.pass(59 * SECOND);
  assert.equal(phaseOf(world), 'following');
  await world.pass(31 * SECOND);
  assert.equal(phaseOf(world), undefined);
  await world.stop();
});
