// Requests and dispatch decisions of a poll: edited or removed labels, clock jumps, full slots, late listings.

import assert from 'node:assert/strict';
import test from 'node:test';
import { waitsForSlot } from '../../src/daemon/intake.ts';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { TrackerError } from '../../src/daemon/rules/tracker-error.ts';
import { isRefusal, saying } from '../support/codes.ts';
import { commit, fail, hang, STRANGER, stopTime, World, workflowWith } from '../support/world.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const labelled = (...active: string[]) =>
  workflowWith({ labels: { active, done: 'tool-done', failed: 'tool-failed' } });
const phaseOf = (world: World, issue: number) => world.journal.state.entries.get(issue)?.phase;
const asked = (world: World, call: string) => world.tracker.calls.filter((one) => one === call).length;

test('with all slots full a poll asks for the list and the issues at work, and for nothing that waits', async () => {
  const world = new World(workflowWith({ agent: { maxConcurrent: 2 } }));
  world.script = hang;
  for (let number = 1; number <= 60; number++) world.tracker.open(number, number === 30 ? { author: STRANGER } : {});
  await world.start();
  const before = world.tracker.calls.length;
  await world.pass(5 * MINUTE);
  assert.deepEqual([...new Set(world.tracker.calls.slice(before))].sort(), ['list', 'read 1', 'read 2']);
  assert.equal(world.tracker.calls.length - before, 30);
  assert.ok(world.tracker.calls.filter((call) => call.startsWith('events')).length <= 4);
  assert.ok(world.orchestrator.waiting.every(({ why }) => waitsForSlot(why)));
  assert.equal(world.orchestrator.waiting.length, 58);
  await world.stop();
});

test('an issue that was closed or lost its label since the listing is not started', async () => {
  const world = new World();
  const { tracker } = world;
  const readIssue = tracker.readIssue.bind(tracker);
  tracker.readIssue = async (number) => {
    if (number === 1) tracker.setState(1, 'closed');
    if (number === 2) tracker.unlabel(2, 'tool-todo');
    return readIssue(number);
  };
  for (const number of [1, 2, 3]) tracker.open(number);
  await world.start();
  assert.deepEqual(
    world.started.map(({ issue }) => issue),
    [3],
  );
  await world.stop();
});

test('whoever put the label on anew right before the start is asked about', async () => {
  const world = new World();
  const { tracker } = world;
  const readIssue = tracker.readIssue.bind(tracker);
  tracker.open(1);
  let isChanged = false;
  tracker.readIssue = async (number) => {
    if (!isChanged) {
      isChanged = true;
      tracker.unlabel(1, 'tool-todo');
      tracker.label(1, 'tool-todo', STRANGER);
    }
    return readIssue(number);
  };
  await world.start();
  assert.equal(world.started.length, 0);
  isRefusal(world.orchestrator.waiting[0]?.why[0], WORK_CODES.issue_untrusted, { person: 'stranger' });
  await world.stop();
});

test('an edit of active_states while an agent works takes nothing off, and its work is published', async () => {
  const world = new World(labelled('tool-todo'));
  let finish: () => void = () => undefined;
  world.script = async (agent) => {
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    return commit(agent);
  };
  world.tracker.open(1);
  await world.start();
  world.workflow = labelled('ready');
  await world.pass(5 * MINUTE);
  assert.equal(phaseOf(world, 1), 'running');
  finish();
  await world.pass(MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('a retry goes on under the labels of its claim; taking that label off ends it', async () => {
  const world = new World(labelled('tool-todo'));
  world.script = async (agent) => (agent.request.attempt === 1 ? fail(agent) : hang(agent));
  world.tracker.open(1);
  await world.start();
  world.workflow = labelled('ready');
  await world.pass(2 * MINUTE);
  assert.equal(world.started.length, 2);
  world.workflow = labelled('tool-todo');
  await world.pass(MINUTE);
  assert.equal(phaseOf(world, 1), 'running', 'undoing the edit changes nothing');
  world.workflow = labelled('ready');
  world.tracker.unlabel(1, 'tool-todo');
  await world.pass(MINUTE);
  assert.equal(world.journal.storyOf(1).at(-1), 'finished label_removed');
  await world.stop();
});

test('an issue that waited under a label is taken up when the edit is undone', async () => {
  const world = new World(labelled('ready'));
  world.tracker.open(1);
  await world.start();
  assert.equal(world.started.length, 0);
  world.workflow = labelled('tool-todo');
  await world.pass(MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('a label that is put back within the second of the finish counts', async () => {
  for (const [script, ending] of [
    [commit, 'tool-done'],
    [fail, 'tool-failed'],
  ] as const) {
    const world = new World(workflowWith({ agent: { maxAttempts: 1 } }));
    world.script = script;
    world.tracker.open(1);
    stopTime(world);
    await world.start();
    assert.deepEqual(world.tracker.labelsOf(1), [ending]);
    await world.pass(5 * MINUTE);
    assert.equal(world.started.length, 1, 'nothing starts by itself');
    world.tracker.label(1, 'tool-todo');
    world.script = hang;
    await world.pass(MINUTE);
    assert.equal(phaseOf(world, 1), 'running');
    await world.stop();
  }
});

test('a label that is taken off and put back within one second counts', async () => {
  const world = new World();
  world.script = hang;
  world.tracker.open(1);
  await world.start();
  stopTime(world);
  world.tracker.unlabel(1, 'tool-todo');
  await world.pass(MINUTE);
  assert.equal(phaseOf(world, 1), 'parked');
  world.tracker.label(1, 'tool-todo');
  await world.pass(MINUTE);
  assert.equal(phaseOf(world, 1), 'running');
  await world.stop();
});

test('a listing that lags by less than a second starts nothing', async () => {
  const world = new World();
  world.tracker.open(1);
  stopTime(world);
  await world.start();
  const listActive = world.tracker.listActive.bind(world.tracker);
  const lagging = { ...(await world.tracker.readIssue(1)), labels: ['tool-todo'] };
  world.tracker.listActive = async (labels) => {
    const issue = await world.tracker.readIssue(1);
    return [...(await listActive(labels)), ...(issue === null ? [] : [{ ...issue, ...lagging }])];
  };
  await world.pass(5 * MINUTE);
  assert.equal(world.started.length, 1);
  await world.stop();
});

test('retries and a clock that jumps cause no poll before the interval is over', async () => {
  const world = new World(workflowWith({ agent: { maxConcurrent: 5, maxAttempts: 100 } }));
  world.script = fail;
  for (let number = 1; number <= 5; number++) world.tracker.open(number);
  await world.start();
  const before = asked(world, 'list');
  for (let minute = 0; minute < 20; minute++) {
    world.clock.set(minute % 2 === 0 ? 26 * HOUR : -26 * HOUR);
    await world.pass(MINUTE);
  }
  const polls = asked(world, 'list') - before;
  assert.ok(polls <= 41, `${polls} polls in 20 minutes of 30 s`);
  assert.ok(world.started.length > 5 * 3, 'the retries go on');
  await world.stop();
});

test('a service that asks for a short pause, or a clock set forward meanwhile, gets no more polls than the interval allows', async () => {
  const world = new World();
  world.tracker.fault = () => {
    world.clock.set(HOUR);
    throw new TrackerError('paused', saying('tracker', 'used up'), { retryAt: world.clock.now() - MINUTE });
  };
  await world.start();
  const before = asked(world, 'list');
  await world.pass(10 * MINUTE);
  assert.equal(asked(world, 'list') - before, 20);
  await world.stop();
});

test('an issue that cannot be read right before its start waits, with why, and starts when it can', async () => {
  const world = new World();
  world.tracker.fault = (call) => {
    if (call === 'read 1') throw new TrackerError('unavailable', saying('tracker', 'it answered 502'));
  };
  world.tracker.open(1);
  await world.start();
  isRefusal(world.orchestrator.waiting[0]?.why[0], WORK_CODES.issue_unreadable, { issue: 1, said: 'it answered 502' });
  await world.pass(2 * MINUTE);
  assert.ok(asked(world, 'read 1') <= 6);
  world.tracker.fault = () => undefined;
  await world.pass(MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('what is listed later starts as soon as it is known, also with `once`', async () => {
  for (const once of [false, true]) {
    const world = new World(workflowWith(), { once });
    world.tracker.open(1);
    world.tracker.open(2);
    const whole = await world.tracker.listActive(['tool-todo']);
    world.tracker.listActive = async () => whole.slice(0, 1);
    let isRead = false;
    world.tracker.listRest = async () => {
      if (isRead) return null;
      isRead = true;
      return whole;
    };
    await world.start();
    await world.pass(3 * SECOND);
    assert.deepEqual(
      world.started.map(({ issue }) => issue),
      [1, 2],
    );
    await world.stop();
  }
});

test('ten thousand waiting issues are gone through once, not once for each', async () => {
  const world = new World();
  world.script = hang;
  for (let number = 1; number <= 10_000; number++) world.tracker.open(number);
  const whole = await world.tracker.listActive(['tool-todo']);
  world.tracker.listActive = async () => whole;
  await world.start();
  const from = world.tracker.calls.length;
  await world.pass(MINUTE);
  assert.equal(world.orchestrator.waiting.length, 9_999);
  assert.deepEqual(world.tracker.calls.slice(from), ['read 1', 'read 1']);
  await world.stop();
});
