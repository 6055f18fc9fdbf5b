import assert from 'node:assert/strict';
import { utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { GATE_CODES } from '../../../src/gate/rules/gate-codes.ts';
import { acquireCheckLock } from '../../../src/gate/run/check-lock.ts';
import { failsWith } from '../../support/codes.ts';
import { tempDir } from '../../support/temp.ts';

/** Clients of the team server give up a call after so long. */
const CLIENTS_WAIT_MS = 60_000;

test('a holder in another namespace that was killed is waited for, for less than clients of the team server do', async (t) => {
  const path = join(tempDir(t), 'checks.lock');
  const take = () =>
    acquireCheckLock({ path, now: () => 0, giveUpAt: 0, signal: new AbortController().signal }, () => false);
  const since = new Date().toISOString();
  const holder = {
    pid: process.pid,
    host: hostname(),
    namespace: 'pid:[1]',
    start_time: '1',
    since,
    workflow: 'checks',
  };
  writeFileSync(path, JSON.stringify(holder));
  await failsWith(take, GATE_CODES.checks_busy);
  const signAt = new Date(Date.now() - CLIENTS_WAIT_MS / 2);
  utimesSync(path, signAt, signAt);
  const lock = await take();
  assert.ok(lock !== null);
  lock.release(null);
});
