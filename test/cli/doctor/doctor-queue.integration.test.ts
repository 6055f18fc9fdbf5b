// The doctor's row of the key of a fleet, over a real Redis in which coordinators of several fleets have their leases.

import assert from 'node:assert/strict';
import test from 'node:test';
import { actsFor, checkQueue } from '../../../src/cli/doctor/doctor-queue.ts';
import { provenAddress } from '../../../src/fleet/proofs.ts';
import { RedisStore } from '../../../src/fleet/store/redis-store.ts';
import { RedisServer } from '../../support/fleet.ts';
import { closedAtEnd, takeLease } from '../../support/stores.ts';
import { workflowWith } from '../../support/world.ts';

const [OWN, OTHER] = ['the-key-of-this-fleet', 'the-key-of-another-fleet'];

test('the key of another fleet in the same store is no wrong one; that of the own coordinator is named', async (t) => {
  const redis = await RedisServer.start(t);
  const store = await closedAtEnd(t, RedisStore.open(redis.url, ''));
  const { tracker } = workflowWith({ tracker: { apiUrl: 'https://h' } });
  const own = { owner: 'O', repo: 'R' };
  const coordinator = actsFor({ tracker: { ...tracker, slug: own } });
  const ofOwner = actsFor({
    tracker: {
      ...tracker,
      repositories: [
        { owner: 'x', repo: 'y' },
        { owner: 'O', repo: '*' },
      ],
    },
  });
  const row = async (isOwn: typeof coordinator | null) => {
    const rows = await checkQueue(redis.url, OWN, isOwn);
    const { status, says, code } = rows.find(({ name }) => name === 'fleet key') ?? assert.fail();
    return { told: [status, code], says };
  };
  const holds = (repository: string, key: string, address = 'http://127.0.0.1:1') =>
    takeLease(
      store,
      repository,
      { token: repository, host: 'm', since: 0, address: provenAddress(key, repository, address) },
      '',
      60_000,
    );
  const all = async () => Promise.all([coordinator, ofOwner, null].map(async (isOwn) => (await row(isOwn)).told));
  const good = ['ok', undefined];

  assert.deepEqual(await all(), [good, good, good]);
  // One that has no address yet cannot be compared.
  await holds('h/q/none', OTHER, '');
  assert.deepEqual(await all(), [good, good, good]);
  const first = await holds('h/q/r', OTHER);
  // A worker cannot tell: its own coordinator may not act now.
  assert.deepEqual(await all(), [good, good, ['warn', 'fleet_key_unmatched']]);
  assert.match((await row(null)).says, /those of h\/q\/r have others/);
  assert.match((await row(coordinator)).says, /of other fleets are there, such as h\/q\/r/);
  await holds('h/o/r2', OWN);
  assert.deepEqual(await all(), [good, good, good]);
  assert.match((await row(null)).says, /the coordinator of h\/o\/r2 has the same; .*such as h\/q\/r/);
  await holds('h/O/R', OTHER);
  const wrong = ['fail', 'fleet_key_differs'];
  assert.deepEqual(await all(), [wrong, wrong, good]);
  assert.match((await row(coordinator)).says, /acts for h\/o\/r has another key/);
  await store.releaseLease('h/q/r', first);
});
