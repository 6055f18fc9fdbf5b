import assert from 'node:assert/strict';
import test from 'node:test';
import { waitsForSlot } from '../../src/daemon/intake.ts';
import { SlotShares } from '../../src/daemon/slot-shares.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { commit, fail, hang, World, workflowWith } from '../support/world.ts';

const MINUTE = 60_000;

test('as many agents as there are slots, oldest issue first', async () => {
  const world = new World(workflowWith({ agent: { maxConcurrent: 2 } }));
  world.script = async (agent) => {
    await agent.world.clock.sleep(10_000, agent.hooks.signal);
    return commit(agent);
  };
  for (const number of [5, 3, 9, 7]) world.tracker.open(number);
  await world.start();
  assert.deepEqual(
    world.started.map(({ issue }) => issue),
    [5, 3],
  );
  await world.pass(11_000);
  assert.deepEqual(
    world.started.map(({ issue }) => issue),
    [5, 3, 9, 7],
  );
  assert.equal(world.mostAtOnce, 2);
  await world.stop();
});

test('a label of priority outranks age; within it the oldest starts first, and a retry waits its turn', async () => {
  const world = new World(workflowWith({ agent: { maxConcurrent: 1, priorityLabels: ['now', 'soon'] } }));
  world.script = async (agent) => {
    await agent.world.clock.sleep(40_000, agent.hooks.signal);
    const { issue, attempt } = agent.request;
    return issue === 1 && attempt === 1 ? fail(agent) : commit(agent);
  };
  world.tracker.open(1);
  await world.start();
  world.tracker.open(2);
  for (const number of [3, 4]) world.tracker.open(number, { labels: ['tool-todo', 'SOON'] });
  for (const number of [5, 6]) world.tracker.open(number, { labels: ['tool-todo', 'now'] });
  world.tracker.open(7, { labels: ['now'] });
  await world.pass(MINUTE * 6);
  assert.deepEqual(
    world.started.map(({ issue }) => issue),
    [1, 5, 6, 3, 4, 1, 2],
  );
  await world.stop();
});

test('workspaces are made ahead for issues that wait for a slot, as many as can be wanted at once', async () => {
  const world = new World(workflowWith({ agent: { maxConcurrent: 2 } }));
  world.script = async (agent) => {
    await agent.world.clock.sleep(10_000, agent.hooks.signal);
    return commit(agent);
  };
  for (const number of [1, 2, 3, 4, 5]) world.tracker.open(number);
  await world.start();
  assert.equal(world.workspaces.stocked.at(-1), 2);
  await world.pass(11_000);
  assert.equal(world.workspaces.stocked.at(-1), 1);
  await world.pass(20_000);
  assert.equal(world.workspaces.stocked.at(-1), 0, 'nobody waits any more');
  await world.stop();
});

test('agents that end faster than their work can be collected do not pile up', async () => {
  const world = new World(workflowWith({ agent: { maxConcurrent: 2 } }));
  const { signal } = new AbortController();
  world.workspaces.beforeCollect = () => world.clock.sleep(60_000, signal);
  for (let number = 1; number <= 10; number++) world.tracker.open(number);
  await world.start();
  await world.pass(50_000);
  assert.equal(world.started.length, 4);
  await world.pass(MINUTE * 5);
  assert.equal(world.started.length, 10);
  await world.stop();
});

test('what waits for a slot is shown, and a due retry waits without polling in between', async () => {
  const world = new World(workflowWith({ agent: { maxConcurrent: 1 } }));
  world.script = async (agent) =>
    agent.request.issue === 1 && agent.request.attempt === 1 ? fail(agent) : hang(agent);
  world.tracker.open(1);
  world.tracker.open(2);
  world.tracker.open(3);
  await world.start();
  await world.pass(25_000);
  assert.deepEqual(
    world.orchestrator.waiting.map(({ issue, why }) => [issue.number, waitsForSlot(why)]),
    [
      [1, true],
      [3, true],
    ],
  );
  const polls = world.tracker.calls.filter((call) => call === 'list').length;
  await world.pass(29_000);
  assert.equal(world.tracker.calls.filter((call) => call === 'list').length, polls + 1);
  await world.stop();
});

test('a retry that becomes due without a free slot keeps the next one from other repositories', async () => {
  const clock = new FakeClock();
  const shares = new SlotShares({ limits: () => ({ slots: 2, costPerDayUsd: null }), clock });
  let held = 0;
  const other = shares.join({ held: () => held, spentOn: () => 0, wake: () => undefined });
  const world = new World({ ...workflowWith(), polling: { intervalMs: 60 * MINUTE } }, { shares });
  world.script = fail;
  world.tracker.open(1);
  await world.start();
  assert.equal(world.started.length, 1);
  // The other repository takes both before the next attempt is due.
  held = 2;
  await world.pass(10 * MINUTE);
  assert.equal(world.started.length, 1);
  held = 1;
  assert.equal(other.free(), 0);
  await world.stop();
  other.leave();
});

test('a repository that waits for its own file keeps no slot from others', async () => {
  const clock = new FakeClock();
  const shares = new SlotShares({ limits: () => ({ slots: 2, costPerDayUsd: null }), clock });
  let held = 1;
  const other = shares.join({ held: () => held, spentOn: () => 0, wake: () => undefined });
  let isDue = true;
  let end: () => void = () => undefined;
  const look = async (_: AbortSignal, onWait?: () => void) => {
    if (!isDue) return;
    isDue = false;
    onWait?.();
    await new Promise<void>((resolve) => {
      end = resolve;
    });
  };
  const outdate = () => {
    isDue = true;
  };
  const ownFile = { look, outdate, pin: async () => undefined };
  const world = new World({ ...workflowWith(), polling: { intervalMs: 60 * MINUTE } }, { shares, ownFile });
  const kept: number[] = [];
  world.tracker.fault = (call) => {
    if (call === 'list') kept.push(1 - other.free());
  };
  await world.start();
  assert.equal(other.free(), 1, 'before its first poll');
  end();
  await world.pass(0);
  assert.deepEqual(kept, [1], 'until its issues are read');
  held = 2;
  world.tracker.open(1);
  world.orchestrator.refresh();
  await world.pass(0);
  end();
  await world.pass(0);
  held = 1;
  assert.equal(other.free(), 0, 'its issue waits for a slot');
  world.orchestrator.refresh();
  await world.pass(0);
  assert.equal(other.free(), 1, 'before a later poll');
  end();
  await world.pass(0);
  await world.stop();
});

test('what a repository has spent today stays in the sum of all when it leaves, until it is back', () => {
  const shares = new SlotShares({ limits: () => ({ slots: 2, costPerDayUsd: 9 }), clock: new FakeClock() });
  const join = (spent: number, name?: string) =>
    shares.join({ ...(name && { name }), held: () => 0, spentOn: () => spent, wake: () => undefined });
  const first = join(3, 'o/r');
  join(2);
  first.leave();
  first.leave();
  assert.equal(shares.budget('2026-01-01').spent, 5);
  join(4, 'o/r');
  assert.equal(shares.budget('2026-01-01').spent, 6);
  // Of one that cannot be opened, its journal tells.
  shares.remember('o/shut', () => 7);
  assert.equal(shares.budget('2026-01-01').spent, 13);
  join(8, 'o/shut');
  assert.equal(shares.budget('2026-01-01').spent, 14);
});
