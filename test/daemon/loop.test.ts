// The daemon's loop neither spins nor stands still: clocks that are set, questions without an answer, a full disk.

import assert from 'node:assert/strict';
import test from 'node:test';
import { ToolError } from '../../src/base/rules/errors.ts';
import { WORK_CODES } from '../../src/daemon/rules/codes/work-codes.ts';
import { TrackerError } from '../../src/daemon/rules/tracker-error.ts';
import { isRefusal, saying } from '../support/codes.ts';
import { commit, fail, hang, STRANGER, World, workflowWith } from '../support/world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test('a clock that is set back stops no poll and no retry', async () => {
  const world = new World();
  world.script = async (agent) => (agent.request.attempt === 1 ? fail(agent) : commit(agent));
  world.tracker.open(1);
  await world.start();
  world.clock.set(-HOUR);
  world.tracker.open(2);
  await world.pass(2 * MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  assert.deepEqual(world.tracker.labelsOf(2), ['tool-done']);
  const polls = world.tracker.calls.filter((call) => call === 'list').length;
  assert.ok(polls <= 6, `${polls} polls in two minutes`);
  const ahead = (world.orchestrator.poll.nextAt ?? 0) - world.clock.now();
  assert.ok(ahead > 0 && ahead <= 30_000, `the next poll in ${ahead} ms`);
  await world.stop();
});

test('a clock that is set forward ends no agent', async () => {
  const world = new World();
  world.script = hang;
  world.tracker.open(1);
  await world.start();
  world.clock.set(2 * HOUR);
  await world.pass(5 * MINUTE);
  assert.equal(world.journal.state.entries.get(1)?.phase, 'running');
  assert.equal(world.orchestrator.statuses.get(1)?.used.seconds, 300);
  await world.stop();
});

test('while permissions cannot be read, a poll asks one question, and every waiting issue shows why', async () => {
  const world = new World(workflowWith({ agent: { maxConcurrent: 2 } }));
  for (let number = 1; number <= 40; number++) world.tracker.open(number);
  world.tracker.fault = (call) => {
    if (call.startsWith('permission'))
      throw new TrackerError('refused', saying('tracker', 'it answered 403'), { status: 403 });
  };
  await world.start();
  const first = world.tracker.calls.length;
  assert.ok(first <= 13, `${first} requests in the first poll`);
  await world.pass(10 * MINUTE);
  assert.ok(world.tracker.calls.length - first <= 20 * 4, `${world.tracker.calls.length} requests`);
  for (const { why } of world.orchestrator.waiting)
    isRefusal(why[0], WORK_CODES.permissions_unreadable, { said: 'it answered 403' });
  assert.equal(world.orchestrator.waiting.length, 40);
  assert.equal(world.lines.filter((line) => line.includes('Cannot tell')).length, 1);
  world.tracker.fault = () => undefined;
  await world.pass(MINUTE);
  assert.deepEqual(world.tracker.labelsOf(40), ['tool-done']);
  await world.stop();
});

test('an issue whose question never gets an answer blocks no other', async () => {
  const world = new World();
  for (let number = 1; number <= 12; number++)
    world.tracker.open(number, number <= 6 ? { author: { login: 'ghost', type: 'User' } } : {});
  world.tracker.fault = (call) => {
    if (call === 'permission ghost') throw new TrackerError('unavailable', saying('tracker', 'it answered 500'));
  };
  await world.start();
  await world.pass(10 * MINUTE);
  assert.deepEqual(
    world.started.map(({ issue }) => issue),
    [7, 8, 9, 10, 11, 12],
  );
  await world.stop();
});

test('somebody who was let in meanwhile waits for minutes, not for a change of the issue', async () => {
  const world = new World();
  world.tracker.open(1, { author: STRANGER });
  await world.start();
  world.tracker.writers.add('stranger');
  await world.pass(11 * MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('work on an issue that breaks off is taken up again with growing pauses', async () => {
  const world = new World();
  world.script = fail;
  world.tracker.open(1);
  await world.start();
  const { journal } = world;
  const append = journal.append.bind(journal);
  const tries: number[] = [];
  journal.append = (record) => {
    if (record.type !== 'attempt_started') return append(record);
    tries.push(world.clock.now());
    return Promise.reject(new Error('no'));
  };
  await world.pass(3 * MINUTE);
  const pauses = tries.slice(1).map((at, index) => at - (tries[index] ?? 0));
  assert.deepEqual(pauses, [10_000, 20_000, 40_000, 80_000]);
  journal.append = append;
  world.script = commit;
  await world.pass(5 * MINUTE);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('a journal that cannot be written ends the daemon with its reason', async () => {
  const world = new World();
  world.script = fail;
  world.tracker.open(1);
  await world.start();
  let appends = 0;
  world.journal.append = () => {
    appends += 1;
    return Promise.reject(new ToolError(saying('state_unusable', 'cannot write to journal.jsonl: no space left')));
  };
  await world.pass(10 * MINUTE);
  await assert.rejects(world.ended(), { kind: 'state_unusable' });
  assert.equal(appends, 1);
  assert.equal(world.timesLogged(WORK_CODES.daemon_stops, { said: 'cannot write to journal.jsonl: no space left' }), 1);
  assert.ok(
    world.lines.some((line) => line.startsWith('error: [serve] ')),
    world.lines.join('\n'),
  );
  await world.stop();
});
