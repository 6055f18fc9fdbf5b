// Traces from the records of real attempts.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Stored } from '../../src/base/rules/stored-record.ts';
import { AttemptTraces } from '../../src/daemon/attempt-traces.ts';
import type { JournalRecord } from '../../src/daemon/rules/record.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { RecordedSpans } from '../support/recorded-spans.ts';
import { commit, fail, hang, MemoryJournal, World, workflowWith } from '../support/world.ts';

/** The spans of a world's records, each taken at its own time. */
function tracesOf(records: readonly Stored<JournalRecord>[]) {
  const spans = new RecordedSpans();
  let now = 0;
  const clock = { ...new FakeClock(), now: () => now };
  const traces = new AttemptTraces(spans, clock, 'h/o/r');
  const journal = traces.watch(new MemoryJournal(() => now));
  for (const record of records) {
    now = record.at;
    void journal.append(record);
  }
  return { spans, traces };
}

test('an attempt is one trace, from its claim to its done label', async () => {
  const world = new World();
  world.tracker.open(1);
  await world.start();
  await world.pass(60_000);
  const { spans } = tracesOf(world.journal.records);
  assert.deepEqual(spans.lines.slice(0, 5), [
    'attempt',
    'wait < attempt',
    'workspace < attempt',
    'hook after_create < attempt',
    'hook before_run < attempt',
  ]);
  const published = spans.lines.slice(5);
  assert.equal(published[0], 'publish < attempt');
  for (const effect of ['push', 'pull_request', 'label_add', 'label_remove'])
    assert.ok(published.includes(`${effect} < publish`), spans.lines.join('\n'));
  const { repository, issue, attempt, outcome } = spans.facts.get('attempt') ?? {};
  assert.deepEqual([repository, issue, attempt, outcome], ['h/o/r', 1, 1, 'succeeded']);
  assert.ok(!spans.lines.some((line) => line.endsWith('…')), spans.lines.join('\n'));
  assert.equal(spans.lines.filter((line) => !line.includes('<')).length, 1, spans.lines.join('\n'));
  await world.stop();
});

test('a failed attempt ends by its outcome, and the next one waits from the time of its retry', async () => {
  const world = new World();
  world.tracker.open(1);
  world.script = (agent) => (agent.request.attempt === 1 ? fail(agent) : commit(agent));
  await world.start();
  await world.pass(600_000);
  const { records } = world.journal;
  const { spans } = tracesOf(records);
  assert.equal(spans.lines[0], 'attempt !failed');
  const ended = records.find((record) => record.type === 'attempt_ended');
  assert.ok(ended?.type === 'attempt_ended');
  assert.equal(spans.startedAt.get('attempt'), ended.retry_at);
  await world.stop();
});

test('work that a later process publishes has a trace of its own; what is open ends with the process', async () => {
  const world = new World(workflowWith());
  world.tracker.open(1);
  await world.start();
  await world.pass(60_000);
  const { records } = world.journal;
  const ended = records.findIndex(({ type }) => type === 'attempt_ended');
  const { spans, traces } = tracesOf(records.slice(0, records.findIndex(({ type }) => type === 'attempt_started') + 1));
  assert.equal(spans.lines[0], 'attempt …');
  traces.close();
  assert.equal(spans.lines[0], 'attempt !interrupted');
  const later = new RecordedSpans();
  const clock = new FakeClock();
  const journal = new MemoryJournal(clock.now);
  for (const record of records.slice(0, ended + 1)) void journal.append(record);
  const again = new AttemptTraces(later, clock, 'h/o/r').watch(journal);
  for (const record of records.slice(ended + 1)) void again.append(record);
  assert.equal(later.lines[0], 'publish');
  assert.ok(later.lines.includes('push < publish'), later.lines.join('\n'));
  assert.ok(!later.lines.some((line) => line.endsWith('…')), later.lines.join('\n'));
  await world.stop();
});

test('an agent that works is nobody’s effect: nothing of it is left open when it is cut off', async () => {
  const world = new World();
  world.tracker.open(1);
  world.script = hang;
  await world.start();
  await world.pass(1_000);
  await world.stop();
  const { spans } = tracesOf(world.journal.records);
  assert.equal(spans.lines[0], 'attempt !interrupted');
  assert.ok(!spans.lines.some((line) => line.endsWith('…')), spans.lines.join('\n'));
});
