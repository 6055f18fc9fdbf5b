// Commands of an operator on one issue: pause, resume, cancel, retry.

import assert from 'node:assert/strict';
import test from 'node:test';
import { refusal } from '../../src/base/rules/codes.ts';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import type { Steer } from '../../src/daemon/rules/record.ts';
import { TrackerError } from '../../src/daemon/rules/tracker-error.ts';
import { stateView } from '../../src/daemon/view.ts';
import { failsWith, wordsOf } from '../support/codes.ts';
import { commit, fail, hang, type Script, stopTime, World, workflowWith } from '../support/world.ts';

const MINUTE = 60_000;

const steer = (world: World, command: Steer, issue: number) => world.orchestrator.steering.steer(command, issue);

/** Names its session, then works until it is ended. */
const hangInSession: Script = (agent) => {
  agent.hooks.onEvent({ type: 'session', sessionId: 'one' });
  return hang(agent);
};

const waitingRows = (world: World) =>
  stateView({
    now: world.clock.now(),
    version: '1',
    workflow: world.workflow,
    loadedAt: 0,
    workflowError: null,
    pendingRestart: [],
    state: world.journal.state,
    statuses: world.orchestrator.statuses,
    waiting: world.orchestrator.waiting,
    follows: world.orchestrator.follower.waits,
    gates: new Set(),
    seen: new Map(),
    poll: world.orchestrator.poll,
    stats: world.tracker.stats,
    rateLimit: world.tracker.rateLimit,
    webhook: null,
  }).queued.map(({ issue_number, reason }) => [issue_number, reason]);

test('pause ends the attempt, counts nothing and frees the slot; the session goes on at resume, also after a restart', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  world.script = hangInSession;
  world.tracker.open(1);
  world.tracker.open(2);
  await world.start();
  assert.deepEqual(await steer(world, 'pause', 1), { issue: 1, command: 'pause', standing: 'paused' });
  await world.pass(MINUTE);
  assert.deepEqual(world.journal.storyOf(1).slice(-2), ['steered', 'attempt_ended interrupted retry']);
  assert.deepEqual(
    world.started.map(({ issue }) => issue),
    [1, 2],
  );
  assert.deepEqual(waitingRows(world), [[1, wordsOf(WORK_CODES.issue_paused, {})]]);
  await world.stop();
  world.script = commit;
  await world.restart();
  await world.pass(10 * MINUTE);
  assert.deepEqual([world.tracker.labelsOf(1), world.tracker.labelsOf(2)], [['tool-todo'], ['tool-done']]);
  const { failures, interruptions, outages } = world.journal.state.entries.get(1) ?? assert.fail();
  assert.deepEqual([failures, interruptions, outages], [0, 0, 0]);
  assert.deepEqual(world.workspaces.removed, [2]);
  await steer(world, 'resume', 1);
  await world.pass(MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.deepEqual(world.started.at(-1)?.resume, 'one');
  await world.stop();
});

test('an issue in the queue is paused before its first attempt', async () => {
  const world = new World();
  world.script = hang;
  world.tracker.open(1);
  world.tracker.open(2);
  await world.start();
  await steer(world, 'pause', 2);
  world.tracker.setState(1, 'closed');
  await world.pass(MINUTE);
  assert.equal(world.started.length, 1);
  assert.deepEqual(waitingRows(world), [[2, wordsOf(WORK_CODES.issue_paused, {})]]);
  await steer(world, 'resume', 2);
  await world.pass(MINUTE);
  assert.deepEqual(world.started.at(-1)?.issue, 2);
  await world.stop();
});

test('the pause of an issue in the queue ends when it is closed or loses its label, and holds while the tracker is away', async () => {
  for (const leave of [
    (world: World) => world.tracker.setState(2, 'closed'),
    (world: World) => world.tracker.unlabel(2, 'tool-todo'),
  ]) {
    const world = new World(workflowWith({ agent: { maxConcurrent: 1 } }));
    world.script = hang;
    world.tracker.open(1);
    world.tracker.open(2);
    await world.start();
    await steer(world, 'pause', 2);
    await world.pass(2 * MINUTE);
    assert.equal(world.journal.state.orders.get(2), 'pause');
    leave(world);
    world.tracker.fault = (call) => {
      if (call === 'read 2') throw new TrackerError('unavailable', refusal(WORK_CODES.issue_paused, {}));
    };
    await world.pass(2 * MINUTE);
    assert.equal(world.journal.state.orders.get(2), 'pause');
    world.tracker.fault = () => undefined;
    await world.pass(MINUTE);
    assert.equal(world.journal.state.orders.get(2), undefined);
    await world.stop();
  }
});

test('cancel is a withdrawal of the label by the daemon: the work is kept and goes on when the label is put back', async () => {
  const world = new World();
  world.script = hang;
  world.tracker.open(1);
  await world.start();
  assert.equal((await steer(world, 'cancel', 1)).standing, 'cancelling');
  await world.pass(10 * MINUTE);
  assert.deepEqual(world.journal.storyOf(1).slice(-5), [
    'steered',
    'attempt_ended cancelled stop',
    '> label_remove:tool-todo',
    '< label_remove:tool-todo',
    'finished label_removed',
  ]);
  assert.deepEqual(world.tracker.labelsOf(1), []);
  assert.deepEqual(world.workspaces.removed, []);
  assert.equal(world.started.length, 1);
  world.script = commit;
  world.tracker.label(1, 'tool-todo');
  await world.pass(MINUTE);
  assert.deepEqual(
    world.started.map(({ attempt }) => attempt),
    [1, 2],
  );
  assert.equal(world.tracker.pulls[0]?.branch, 'tool/issue-1');
  await world.stop();
});

test('cancel takes an issue that is paused, one in the queue, and one whose publishing does not get on', async () => {
  const world = new World();
  for (const issue of [1, 2, 3]) world.tracker.open(issue);
  world.script = async (agent) => (agent.request.issue === 1 ? commit(agent) : hang(agent));
  world.tracker.fault = (call) => {
    if (call.startsWith('find')) throw new Error('no answer');
  };
  await world.start();
  assert.deepEqual(
    [...world.journal.state.entries.values()].map(({ phase }) => phase),
    ['publishing', 'running'],
  );
  await steer(world, 'cancel', 1);
  await steer(world, 'cancel', 3);
  await steer(world, 'pause', 2);
  await world.pass(MINUTE);
  await steer(world, 'cancel', 2);
  await world.pass(MINUTE);
  assert.deepEqual(
    [1, 2, 3].map((issue) => world.journal.state.entries.get(issue)?.finished?.outcome),
    ['label_removed', 'label_removed', 'label_removed'],
  );
  assert.deepEqual(
    [1, 2, 3].flatMap((issue) => world.tracker.labelsOf(issue)),
    [],
  );
  assert.deepEqual(world.journal.state.orders, new Map());
  await world.stop();
});

test('retry starts a waiting issue at once, and its failures count again from 0', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 2 } }));
  world.script = fail;
  world.tracker.open(1);
  await world.start();
  assert.equal(world.started.length, 1);
  await steer(world, 'retry', 1);
  await world.clock.settle();
  assert.equal(world.started.length, 2);
  assert.deepEqual(
    [world.journal.state.entries.get(1)?.phase, world.journal.state.entries.get(1)?.failures],
    ['retrying', 1],
  );
  await world.stop();
});

test('retry of an issue that waits for a quota tries it', async () => {
  const world = new World();
  const quotaAt = world.clock.now() + 60 * MINUTE;
  world.script = async () => ({ ok: false, words: 'limit', fault: 'runtime', resumable: true, quotaAt });
  world.tracker.open(1);
  await world.start();
  world.script = commit;
  await world.pass(MINUTE);
  assert.equal(world.started.length, 1);
  await steer(world, 'retry', 1);
  await world.pass(MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('retry of a failed issue puts the active label on, takes the failed one off, and goes on in the same life', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  world.script = fail;
  world.tracker.open(1);
  await world.start();
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
  world.script = commit;
  assert.equal((await steer(world, 'retry', 1)).standing, 'reviving');
  await world.pass(MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  const story = world.journal.storyOf(1);
  assert.deepEqual(story.slice(story.indexOf('steered'), story.lastIndexOf('attempt_started')), [
    'steered',
    '> label_add:tool-todo',
    '< label_add:tool-todo',
    'claimed life 1',
    '> label_remove:tool-failed',
    '< label_remove:tool-failed',
  ]);
  assert.deepEqual(
    world.started.map(({ attempt }) => attempt),
    [1, 2],
  );
  await world.stop();
});

test('a failed issue is retried at once, though its listing is of the second of the failure', async () => {
  for (const others of [[], [2]]) {
    const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
    stopTime(world);
    world.script = (agent) => (agent.request.issue === 1 ? fail(agent) : hang(agent));
    // The other one takes the slot.
    for (const issue of [1, ...others]) world.tracker.open(issue);
    await world.start();
    assert.deepEqual(world.tracker.labelsOf(1), ['tool-failed']);
    assert.equal(world.orchestrator.waiting.length, others.length, 'without a free slot nobody asks');
    assert.equal((await steer(world, 'retry', 1)).standing, 'reviving');
    for (const issue of others) world.tracker.setState(issue, 'closed');
    world.script = commit;
    await world.pass(2 * MINUTE);
    assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
    await world.stop();
  }
});

test('a label that was put back in the second of the failure is a new wish: the issue is queued', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  stopTime(world);
  world.script = fail;
  world.tracker.open(1);
  await world.start();
  world.tracker.open(2, { labels: [] });
  world.tracker.link(1, 'dependencies', [2]);
  world.tracker.label(1, 'tool-todo');
  await world.pass(MINUTE);
  await failsWith(steer(world, 'retry', 1), WORK_CODES.issue_not_steerable, { standing: 'queued' });
  assert.equal((await steer(world, 'pause', 1)).standing, 'paused');
  await world.stop();
});

test('a command that was recorded is carried out by the next process', async () => {
  for (const command of ['pause', 'cancel'] as const) {
    const world = new World();
    world.script = hang;
    world.tracker.open(1);
    await world.start();
    await world.journal.append({ type: 'steered', issue: 1, steer: command });
    world.kill();
    await world.restart();
    await world.pass(MINUTE);
    const entry = world.journal.state.entries.get(1);
    if (command === 'pause') assert.deepEqual([entry?.phase, entry?.interruptions], ['retrying', 0]);
    else assert.deepEqual([entry?.finished?.outcome, world.tracker.labelsOf(1)], ['label_removed', []]);
    assert.equal(world.started.length, 1);
    await world.stop();
  }
});

test('a failed issue that was asked to go on is taken up by the next process', async () => {
  const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
  world.script = fail;
  world.tracker.open(1);
  await world.start();
  await world.stop();
  await world.journal.append({ type: 'steered', issue: 1, steer: 'retry' });
  world.script = commit;
  await world.restart();
  await world.pass(MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('a command is refused for an unknown issue, and where it makes no sense', async () => {
  const world = new World();
  world.tracker.open(1);
  world.tracker.open(2);
  world.script = async (agent) => (agent.request.issue === 1 ? commit(agent) : hang(agent));
  await world.start();
  const refused: readonly [Steer, number, string][] = [
    ['pause', 1, 'done'],
    ['retry', 1, 'done'],
    ['resume', 2, 'running'],
    ['retry', 2, 'running'],
  ];
  const records = world.journal.records.length;
  for (const [command, issue, standing] of refused)
    await failsWith(steer(world, command, issue), WORK_CODES.issue_not_steerable, { standing });
  await failsWith(steer(world, 'pause', 9), WORK_CODES.issue_not_known);
  assert.equal(world.journal.records.length, records);
  await world.stop();
});
