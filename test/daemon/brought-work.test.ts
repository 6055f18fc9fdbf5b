// Finished work that stayed on another machine: it is brought before it is published, or done again for nothing.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { BringWork } from '../../src/daemon/ports.ts';
import { commit, hang, World, workflowWith } from '../support/world.ts';

const ONE_TRY = workflowWith({ agent: { maxAttempts: 1 } });

function attemptsOf(world: World): readonly number[] {
  return world.started.map(({ attempt }) => attempt);
}

test('work that is brought is published without another attempt; each commit is asked for once', async () => {
  const asked: unknown[] = [];
  const bringWork: BringWork = async ({ number }, sha, _, onWait) => {
    asked.push([number, sha]);
    await onWait(90_000);
    return true;
  };
  const world = new World(ONE_TRY, { bringWork });
  world.tracker.open(1);
  await world.start();
  await world.pass(1_000);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.deepEqual(attemptsOf(world), [1]);
  const heads = world.journal.records.flatMap((one) => (one.type === 'attempt_ended' ? [one.head] : []));
  assert.deepEqual(asked, [[1, heads[0]]]);
  const waits = world.journal.records.flatMap((one) => (one.type === 'publish_failed' ? [one] : []));
  assert.deepEqual(
    waits.map(({ next, reason }) => [next, /is not on this machine.*within 90 s/.test(reason)]),
    [['again', true]],
  );
  await world.stop();
});

test('work that nobody has is done again: a higher number, and no failure', async () => {
  let times = 0;
  const world = new World(ONE_TRY, { bringWork: async () => times++ > 0 });
  world.tracker.open(1);
  await world.start();
  await world.pass(1_000);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.deepEqual(attemptsOf(world), [1, 2]);
  assert.ok(world.lines.some((line) => /stayed on a machine that is gone/.test(line)));
  const lost = world.journal.records.flatMap((one) => (one.type === 'publish_failed' ? [one.lost] : []));
  assert.deepEqual(lost, [true]);
  await world.stop();
});

test('attempts that wait for a worker begin at once however often their daemon dies', async () => {
  const world = new World(ONE_TRY, { bringWork: async () => false });
  world.script = hang;
  world.isTaken = false;
  world.tracker.open(1);
  await world.start();
  for (const attempt of [1, 2, 3, 4]) {
    await world.pass(1_000);
    assert.equal(world.started.at(-1)?.attempt, attempt);
    world.kill();
    await world.restart();
  }
  assert.equal(world.journal.state.entries.get(1)?.failures, 0);
  await world.stop();
});

test('an attempt that had handed its work in when its daemon died: the work is asked for, and others do not wait', async () => {
  let give: (isThere: boolean) => void = () => undefined;
  const asked: unknown[] = [];
  let isDead = false;
  const bringWork: BringWork = async (_, sha) => {
    asked.push(sha);
    return isDead && sha === null ? new Promise((resolve) => (give = resolve)) : true;
  };
  const world = new World(ONE_TRY, { bringWork });
  world.script = async (agent) => {
    if (agent.request.issue === 2) return commit(agent);
    await commit(agent);
    await agent.ask({ type: 'done', issue: 1 }, new AbortController().signal);
    return hang(agent);
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(1_000);
  assert.equal(world.journal.state.entries.get(1)?.askedDone, true);
  world.kill();
  isDead = true;
  await world.restart();
  world.tracker.open(2);
  await world.pass(60_000);
  assert.deepEqual([world.tracker.labelsOf(1), world.tracker.labelsOf(2)], [['tool-todo'], ['tool-done']]);
  give(true);
  await world.pass(10_000);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.deepEqual(
    world.started.map(({ issue, attempt }) => [issue, attempt]),
    [
      [1, 1],
      [2, 1],
    ],
  );
  assert.equal(asked[0], null);
  await world.stop();
});

/** Each wait ends when it is told to. */
function slowWork() {
  const asked: unknown[] = [];
  const ends: (() => void)[] = [];
  const bringWork: BringWork = async ({ number, attempt }, sha, signal) => {
    if (sha !== null) return true;
    asked.push([number, attempt]);
    await new Promise<void>((resolve) => {
      ends.push(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    return true;
  };
  return { asked, bringWork, end: () => ends.shift()?.() };
}

test('before another attempt, the work of the last one is asked for, also of one that was cut off; before the first, it is not', async () => {
  const { asked, bringWork, end } = slowWork();
  const world = new World(workflowWith({ agent: { maxAttempts: 3 } }), { bringWork });
  world.script = async (agent) => {
    if (agent.request.attempt === 1) return { ok: false, words: 'no', fault: 'agent', resumable: true };
    return agent.request.attempt === 2 ? hang(agent) : commit(agent);
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(600_000);
  assert.deepEqual([asked, attemptsOf(world)], [[[1, 1]], [1]]);
  end();
  await world.pass(1_000);
  assert.deepEqual(attemptsOf(world), [1, 2]);
  world.kill();
  await world.restart();
  await world.pass(600_000);
  assert.deepEqual([asked.slice(1), attemptsOf(world)], [[[1, 2]], [1, 2]]);
  end();
  await world.pass(1_000);
  assert.deepEqual(attemptsOf(world), [1, 2, 3]);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('what no other machine can be given is refused before an attempt is counted, until it can', async () => {
  let refuses = true;
  const requireCarried = async () => {
    if (refuses) throw new Error('nobody can be given it');
  };
  const world = new World(ONE_TRY, { requireCarried });
  world.tracker.open(1);
  await world.start();
  await world.pass(600_000);
  assert.deepEqual([attemptsOf(world), world.tracker.labelsOf(1)], [[], ['tool-todo']]);
  assert.ok(world.lines.some((line) => /nobody can be given it/.test(line)));
  refuses = false;
  await world.pass(600_000);
  assert.deepEqual([attemptsOf(world), world.tracker.labelsOf(1)], [[1], ['tool-done']]);
  await world.stop();
});

test('an answer is waited for no longer than the issue: the end of the daemon and of the issue ends the wait', async () => {
  const { asked, bringWork } = slowWork();
  const world = new World(workflowWith({ agent: { maxAttempts: 3 } }), { bringWork });
  world.script = async (agent) => {
    if (agent.request.attempt > 1) return commit(agent);
    await agent.ask({ type: 'ask', issue: 1, body: 'Which one?' }, new AbortController().signal);
    return { ok: true, words: '' };
  };
  world.tracker.open(1);
  await world.start();
  await world.pass(60_000);
  world.tracker.say(1, 'The first one.');
  await world.pass(600_000);
  assert.deepEqual([asked, attemptsOf(world)], [[[1, 1]], [1]]);
  await world.stop();
  assert.deepEqual(attemptsOf(world), [1]);
  await world.restart();
  await world.pass(60_000);
  assert.deepEqual([asked.length, attemptsOf(world)], [2, [1]]);
  world.tracker.setState(1, 'closed');
  await world.pass(60_000);
  assert.deepEqual(world.journal.state.entries.get(1), undefined);
  await world.stop();
});

for (const [where, bringWork] of [
  ['on a worker', async () => true],
  ['on this machine', undefined],
] as const satisfies readonly (readonly [string, BringWork | undefined])[])
  test(`the attempt after a second death of the daemon begins at once for an agent ${where} that may be at work, and for no other`, async () => {
    const world = new World(ONE_TRY, bringWork === undefined ? {} : { bringWork });
    world.script = hang;
    world.tracker.open(1);
    await world.start();
    for (let death = 1; death <= 2; death++) {
      world.kill();
      await world.restart();
      await world.pass(1_000);
    }
    assert.deepEqual(attemptsOf(world), bringWork === undefined ? [1, 2] : [1, 2, 3]);
    await world.pass(90_000);
    assert.deepEqual(attemptsOf(world), [1, 2, 3]);
    await world.stop();
  });
