// The standing of an issue in words, as tool explain and the page of the issue say it.

import assert from 'node:assert/strict';
import test from 'node:test';
import { SERIAL_CODES } from '../../../src/daemon/rules/codes/serial-codes.ts';
import { WORK_CODES } from '../../../src/daemon/rules/codes/work-codes.ts';
import { outcomeWords, type Standing, standingWords } from '../../../src/daemon/rules/issue-standing.ts';

const NONE: Standing = { queued: null, asking: null, following: null, running: null, retrying: null };

test('an issue at work is told with its step, in words', () => {
  const at = (phase: string) => standingWords({ ...NONE, running: { phase, attempt: 2, last_error: null } });
  assert.equal(at('agent'), 'attempt 2: agent at work');
  assert.equal(at('before_run'), 'attempt 2: syncing with main');
  assert.equal(at('take_base'), 'attempt 2: take base', 'a step without words of its own');
});

test('no reason to wait says once more that the issue waits', () => {
  const reasons = Object.values({ ...WORK_CODES, ...SERIAL_CODES }).map(({ message }) => message);
  assert.deepEqual(
    reasons.filter((message) => /^(it|the issue) waits/i.test(message)),
    [],
  );
});

test('a question that is paused says so: its answer starts nothing', () => {
  const asking = { since: '2026-01-01T00:00:00.000Z', question: 'Which one?' };
  const words = (paused: boolean) => standingWords({ ...NONE, asking: { ...asking, paused } });
  assert.equal(words(false), 'it waits for an answer since 2026-01-01T00:00:00.000Z: Which one?');
  assert.equal(
    words(true),
    'it is paused by tool pause, and waits for an answer since 2026-01-01T00:00:00.000Z: Which one?',
  );
});

test('the end of an attempt is told as a sentence goes on after "the attempt"', () => {
  assert.deepEqual((['failed', 'timed_out', 'cancelled', 'unavailable'] as const).map(outcomeWords), [
    'failed',
    'timed out',
    'was cancelled',
    'found its runtime unavailable',
  ]);
  assert.match(outcomeWords('interrupted'), /^was \w+$/);
});
