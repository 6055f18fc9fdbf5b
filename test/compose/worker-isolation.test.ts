// Isolation of a worker's agents: a bad moment of the machine is no answer for later attempts.

import assert from 'node:assert/strict';
import test from 'node:test';
import { notIsolated } from '../../src/agents/isolation.ts';
import type { Refusal } from '../../src/base/rules/codes.ts';
import { keptIsolation } from '../../src/compose/worker-isolation.ts';

type Found = { readonly active: boolean; readonly reason: string };
const ACTIVE: Found = { active: true, reason: '' };
const NONE: Found = { active: false, reason: 'no more namespaces' };

/** @param found answers of the machine, one after the other */
function setUp(...found: readonly (Found | Error)[]) {
  const said: (string | Refusal)[] = [];
  let count = 0;
  const log = { log: (_: unknown, __: unknown, what: string | Refusal) => void said.push(what) };
  const probe = async () => {
    const next = found[count++] ?? assert.fail('asked too often');
    if (next instanceof Error) throw next;
    return next;
  };
  return { isolationFor: keptIsolation(probe, log), said, probes: () => count };
}

test('a probe that found none is made again, one that found namespaces is kept', async () => {
  const { isolationFor, said, probes } = setUp(NONE, NONE, ACTIVE);
  assert.equal((await isolationFor('auto')).active, false);
  assert.equal((await isolationFor('auto')).active, false);
  assert.equal((await isolationFor('auto')).active, true);
  assert.equal((await isolationFor('auto')).active, true);
  assert.equal(probes(), 3);
  assert.deepEqual(said, [notIsolated(NONE.reason)]);
});

test('attempts at the same time share one probe', async () => {
  const { isolationFor, said, probes } = setUp(NONE);
  assert.deepEqual(await Promise.all([isolationFor('auto'), isolationFor('auto')]), [NONE, NONE]);
  assert.equal(probes(), 1);
  assert.equal(said.length, 1);
});

test('isolation that is off stays off', async () => {
  const { isolationFor, said, probes } = setUp(NONE);
  await isolationFor('off');
  await isolationFor('off');
  assert.equal(probes(), 1);
  assert.equal(said.length, 1);
});

test('a probe that failed is made again', async () => {
  const { isolationFor } = setUp(new Error('required'), ACTIVE);
  await assert.rejects(isolationFor('required'), /required/);
  assert.equal((await isolationFor('required')).active, true);
});
