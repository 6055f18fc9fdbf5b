// Work of an attempt whose coordinator changes while it is handed in.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { DiskWorkspaces } from '../../../src/daemon/workspaces/workspaces.ts';
import type { WorkCarrier } from '../../../src/fleet/work-carrier.ts';
import type { CoordinatorClient } from '../../../src/fleet/worker/coordinator-client.ts';
import { HandIn, type HandInParts } from '../../../src/fleet/worker/hand-in.ts';
import { KeptWork } from '../../../src/fleet/worker/kept-work.ts';
import { jobAt, ORDER, signed } from '../../support/fleet-coordinator.ts';
import { tempDir } from '../../support/temp.ts';

const HEAD = 'c'.repeat(40);

test('what one coordinator took, and the next one was not told of, is kept: its workspace may go', async (t) => {
  const directory = tempDir(t);
  const kept = new KeptWork(join(directory, 'kept'));
  const job = signed(jobAt('http://127.0.0.1:1'));
  const client = { job, token: 'token', moves: 0, work: async () => moved() };
  const moved = () => {
    client.moves += 1;
  };
  const parts = { client: client as unknown as CoordinatorClient, job, order: ORDER, kept, id: 'one' };
  const log = { log: () => undefined };
  const handIn = new HandIn({ ...parts, stateDir: directory, log } as unknown as HandInParts, {
    ...{ issue: 1, life: 1, attempt: 1, branch: 'b', env: {} },
    output: () => undefined,
  });
  const carrier = {
    read: async () => ({ head: HEAD, files: null }),
    packNew: async (_: unknown, path: string) => {
      writeFileSync(path, 'commits');
      return true;
    },
  } as unknown as WorkCarrier;
  await handIn.all({ peek: async () => HEAD } as unknown as DiskWorkspaces, carrier);
  assert.ok(handIn.isOfAnother);
  assert.ok(kept.hasBundle('one'));
  assert.equal((await kept.read('one')).handed, true);
  assert.deepEqual([handIn.isKept, handIn.isUnsaved], [true, false]);
});
