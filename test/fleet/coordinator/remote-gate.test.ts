// Finished work without evidence: a worker measures it, and what a worker or a machine lacks is not the work's fault.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { RunEnd } from '../../../src/agents/ports.ts';
import { ToolError } from '../../../src/base/rules/errors.ts';
import { type MeasureOnWorker, RemoteGate } from '../../../src/fleet/coordinator/remote-gate.ts';
import { FLEET_CODES } from '../../../src/fleet/rules/fleet-codes.ts';
import { wordsOf } from '../../support/codes.ts';
import { evidenceOf } from '../../support/world.ts';

const REQUEST = { issue: 1, path: '', commit: 'sha', base: 'base', timeoutMs: 1, output: () => undefined };
const { signal } = new AbortController();

const WELL: RunEnd = { ok: true, words: '' };
const LOST: RunEnd = {
  ...{ ok: false, words: '', fault: 'runtime', resumable: true },
  cutOff: { kind: 'lost', worker: 'w' },
};
const failed = (fault: 'agent' | 'runtime'): RunEnd => ({ ok: false, words: 'why', fault, resumable: true });

/** A gate whose workers end one after the other like this; the last one does so for ever. */
function gateOf(...ends: Awaited<ReturnType<MeasureOnWorker>>[]) {
  const asked: string[] = [];
  const gate = new RemoteGate(async ({ commit }) => {
    asked.push(commit);
    return ends[Math.min(asked.length, ends.length) - 1] ?? assert.fail();
  });
  return { gate, asked };
}

test('a worker that is lost, drained, or measured something else is followed by another one', async () => {
  const { gate, asked } = gateOf(
    { end: LOST, evidence: null },
    { end: WELL, evidence: null },
    { end: WELL, evidence: evidenceOf('other') },
    { end: WELL, evidence: evidenceOf('sha') },
  );
  assert.deepEqual(await gate.measure(REQUEST, signal), evidenceOf('sha'));
  assert.deepEqual(asked, ['sha', 'sha', 'sha', 'sha']);
});

test('a hook that fails on the work is evidence; a machine that fails is none', async () => {
  const hook = await gateOf({ end: failed('agent'), evidence: null }).gate.measure(REQUEST, signal);
  assert.deepEqual([hook.ok, hook.unmeasured, hook.commit], [false, 'why', 'sha']);
  await assert.rejects(
    gateOf({ end: failed('runtime'), evidence: null }).gate.measure(REQUEST, signal),
    (error) => error instanceof ToolError && error.code === 'measurement_failed',
  );
});

test('a commit that takes ten workers down is given up', async () => {
  const { gate, asked } = gateOf({ end: LOST, evidence: null });
  const { ok, unmeasured } = await gate.measure(REQUEST, signal);
  assert.deepEqual([ok, unmeasured, asked.length], [false, wordsOf(FLEET_CODES.gate_not_on_worker, {}), 10]);
});

test('nobody measures once the issue is over', async () => {
  const over = new AbortController();
  const gate = new RemoteGate(async () => {
    over.abort(new Error('over'));
    return { end: LOST, evidence: null };
  });
  await assert.rejects(gate.measure(REQUEST, over.signal), /over/);
});
