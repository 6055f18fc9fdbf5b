// Due retries of issues that the service gives no answer about: each is read once a poll, and starts after one that reads it.

import assert from 'node:assert/strict';
import test from 'node:test';
import { TrackerError } from '../../src/daemon/rules/tracker-error.ts';
import { SlotShares } from '../../src/daemon/slot-shares.ts';
import { saying } from '../support/codes.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { commit, fail, World, workflowWith } from '../support/world.ts';

const MINUTE = 60_000;
/** Without an end of them, the fault ends here, so that the test ends. */
const MOST_READINGS = 200;

/** Fails its first attempt; from then on the service does not let its issue be read. */
function troubled(clock: FakeClock, shares?: SlotShares): World {
  const world = new World(workflowWith(), shares === undefined ? {} : { shares }, clock);
  world.script = (agent) => (agent.request.attempt === 1 ? fail(agent) : commit(agent));
  world.tracker.open(1);
  return world;
}

const readingsOf = ({ tracker }: World) => tracker.calls.filter((call) => call === 'read 1').length;
const pollsOf = ({ tracker }: World) => tracker.calls.filter((call) => call === 'list').length;

function refuseReadings(world: World): void {
  world.tracker.fault = (call) => {
    if (call === 'read 1' && readingsOf(world) < MOST_READINGS)
      throw new TrackerError('unavailable', saying('tracker', 'HTTP 502'));
  };
}

test('a due retry that gives no answer is read once a poll, and starts after the poll that reads it', async () => {
  const clock = new FakeClock();
  const world = troubled(clock);
  await world.start();
  refuseReadings(world);
  const [readings, polls] = [readingsOf(world), pollsOf(world)];
  await world.pass(10 * MINUTE);
  assert.equal(world.started.length, 1);
  assert.ok(readingsOf(world) - readings <= pollsOf(world) - polls + 1, `${readingsOf(world) - readings} readings`);
  world.tracker.fault = () => undefined;
  const answered = clock.now();
  await world.pass(MINUTE);
  assert.equal(world.started.length, 2);
  assert.ok((world.started[1]?.at ?? 0) > answered);
  assert.deepEqual(world.tracker.labelsOf(1), ['tool-done']);
  await world.stop();
});

test('two repositories with shared slots do not wake each other while neither can read its due retry', async () => {
  const clock = new FakeClock();
  const shares = new SlotShares({ limits: () => ({ slots: 1, costPerDayUsd: null }), clock });
  const worlds = [troubled(clock, shares), troubled(clock, shares)];
  for (const world of worlds) await world.start();
  await worlds[0]?.pass(1000);
  for (const world of worlds) refuseReadings(world);
  const before = worlds.map((world) => [readingsOf(world), pollsOf(world)] as const);
  await worlds[0]?.pass(10 * MINUTE);
  for (const [index, world] of worlds.entries()) {
    const [readings, polls] = before[index] ?? assert.fail();
    assert.ok(readingsOf(world) - readings <= pollsOf(world) - polls + 1, `${readingsOf(world) - readings} readings`);
    world.tracker.fault = () => undefined;
  }
  await worlds[0]?.pass(2 * MINUTE);
  assert.deepEqual(
    worlds.map(({ tracker }) => tracker.labelsOf(1)),
    [['tool-done'], ['tool-done']],
  );
  for (const world of worlds) await world.stop();
});
