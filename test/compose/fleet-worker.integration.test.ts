// The parts of a worker together: kept work is offered while what an earlier process left is still handed in.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import test from 'node:test';
import { createWorker } from '../../src/compose/fleet.ts';
import type { KeptCommits } from '../../src/fleet/coordinator/kept-commits.ts';
import { provenAddress } from '../../src/fleet/proofs.ts';
import { RedisStore } from '../../src/fleet/store/redis-store.ts';
import type { Kept } from '../../src/fleet/wire.ts';
import { KeptWork } from '../../src/fleet/worker/kept-work.ts';
import { cleanEnv } from '../support/daemon.ts';
import { RedisServer } from '../support/fleet.ts';
import { jobAt, ORDER, openCoordinator, SHARED_KEY, signed } from '../support/fleet-coordinator.ts';
import { finallyDo, tempDir } from '../support/temp.ts';

test('kept work is offered while an earlier coordinator of another attempt gives no answer', async (t) => {
  const redis = await RedisServer.start(t);
  const { coordinator, address } = await openCoordinator(t);
  const silent = createServer();
  finallyDo(t, () => {
    silent.closeAllConnections();
    silent.close();
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const place = silent.address();
  const away = `http://127.0.0.1:${typeof place === 'object' && place !== null ? place.port : 0}`;
  const asked = new Promise<void>((resolve) => silent.once('request', () => resolve()));
  const directory = tempDir(t);
  const stateDir = join(directory, 'state');
  const kept = new KeptWork(join(stateDir, 'kept'));
  const keep = async (id: string, repository: string, to: string) => {
    const bundle = join(directory, 'bundle');
    writeFileSync(bundle, 'commits');
    const job = { ...signed(jobAt(to)), repository, labels: [], lease_ms: 600_000 };
    await kept.keep(id, { job, token: 't', order: ORDER, work: { head: 'c'.repeat(40), files: null } }, bundle);
  };
  await keep('left', 'h/o/away', away);
  await keep('offered', 'h/o/r', address);
  const store = await RedisStore.open(redis.url, 'test');
  finallyDo(t, () => store.close());
  const holder = { token: 't', host: 'machine', since: 1, address: provenAddress(SHARED_KEY, 'h/o/r', address) };
  await store.takeLease('h/o/r', holder, '', 600_000, 0);
  const offered = new Promise<readonly Kept[]>((resolve) =>
    coordinator.keeps('h/o/r', {
      fates: (all: readonly Kept[]) => {
        resolve(all);
        return { forget: [], bring: [] };
      },
    } as unknown as KeptCommits),
  );
  const worker = await createWorker({
    ...{ env: cleanEnv(directory), url: redis.url, key: SHARED_KEY, secrets: [], name: 'w', labels: [], slots: 1 },
    ...{
      once: false,
      traces: false,
      stateDir,
      root: join(directory, 'root'),
      logFormat: 'text',
      write: () => undefined,
    },
  });
  const running = worker.run();
  finallyDo(t, async () => {
    worker.drain('return');
    await running;
    await worker.close();
  });
  await asked;
  assert.deepEqual(
    (await offered).map(({ id }) => id),
    ['offered'],
  );
});
