import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import fc from 'fast-check';
import { BASE_CODES } from '../../src/base/rules/base-codes.ts';
import { FileJournal } from '../../src/daemon/journal/journal.ts';
import { decodeRecord, decodeState } from '../../src/daemon/journal/journal-decoder.ts';
import { EFFECTS } from '../../src/daemon/rules/effect-names.ts';
import { finishedIssueOf } from '../../src/daemon/rules/finished-issues.ts';
import { fold } from '../../src/daemon/rules/fold.ts';
import { ATTEMPT_OUTCOMES, ISSUE_OUTCOMES, type JournalRecord, STEERS } from '../../src/daemon/rules/record.ts';
import { freezeState } from '../../src/daemon/rules/snapshot.ts';
import { type DaemonState, EMPTY_STATE } from '../../src/daemon/rules/state.ts';
import { summaryOf } from '../../src/daemon/rules/team-summary.ts';
import { ALL_CHECKS } from '../../src/gate/rules/check-results.ts';
import { OUTCOMES } from '../../src/gate/rules/quality.ts';
import { isOf } from '../support/codes.ts';
import { teamOf } from '../support/team.ts';
import { tempDir } from '../support/temp.ts';

const TEAM = summaryOf(teamOf(['backend-dev', 'tester'], 3).claim('1', 'backend-dev').state, 0);

/** A record with an ordinary prototype, as decoding gives it. */
const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(model, { noNullPrototype: true });

const issue = fc.integer({ min: 1, max: 5 });
const usage = record({
  input_tokens: fc.nat(1000),
  output_tokens: fc.nat(1000),
  cost_usd: fc.double({ min: 0, max: 5, noNaN: true }),
  turns: fc.nat(5),
  seconds: fc.nat(100),
});
const text = fc.string({ maxLength: 12 });
const percent = fc.option(fc.nat(100));
const evidence = record({
  commit: text,
  base: text,
  ok: fc.boolean(),
  checks: fc.array(
    record({
      check: fc.constantFrom(...ALL_CHECKS),
      outcome: fc.constantFrom(...OUTCOMES),
      reason: text,
      figure: fc.option(text),
    }),
    { maxLength: 2 },
  ),
  commands: fc.array(
    record({ command: text, exit: fc.option(fc.nat(255)), timed_out: fc.boolean(), seconds: fc.nat(100) }),
    { maxLength: 2 },
  ),
  coverage: record({ before: percent, after: percent }),
  rejection: text,
  unmeasured: fc.option(text),
});
const effect = { issue, effect: fc.constantFrom(...EFFECTS), key: fc.constantFrom('a', 'b', 'push:x') };

/** Any record at all, sensible at its place or not. */
const anyRecord: fc.Arbitrary<JournalRecord> = fc.oneof(
  record({
    type: fc.constant('claimed' as const),
    issue,
    title: text,
    url: text,
    life: fc.integer({ min: 1, max: 3 }),
    branch: text,
    state_labels: fc.array(text, { maxLength: 2 }),
    label_event: fc.option(fc.nat()),
  }),
  record({
    type: fc.constant('attempt_started' as const),
    issue,
    attempt: fc.integer({ min: 1, max: 4 }),
    run: text,
    runtime: text,
    workspace: text,
  }),
  record({ type: fc.constant('effect_started' as const), ...effect }),
  record({
    type: fc.constant('effect_finished' as const),
    ...effect,
    result: fc.constantFrom<Record<string, string | number | null>>(
      {},
      { pid: 7 },
      { sha: 'x' },
      { number: 4, url: 'u' },
      { sha: null },
    ),
  }),
  record({ type: fc.constant('effect_failed' as const), ...effect, error: text }),
  record({ type: fc.constant('session' as const), issue, session_id: fc.option(text) }),
  record({ type: fc.constant('usage' as const), issue, usage }),
  record({ type: fc.constant('asked_pull_request' as const), issue, title: text, body: text }),
  record({ type: fc.constant('measured' as const), issue, evidence }),
  record({
    type: fc.constant('sent_back' as const),
    issue,
    reason: text,
    next: fc.constantFrom('retry' as const, 'give_up' as const),
  }),
  record({ type: fc.constant('asked_done' as const), issue }),
  record({ type: fc.constant('asked_question' as const), issue, text, label: text }),
  record({ type: fc.constant('unanswered' as const), issue, reason: text }),
  record({
    type: fc.constant('messages' as const),
    issue,
    messages: fc.array(fc.record({ author: fc.option(text), text }, { noNullPrototype: true }), { maxLength: 2 }),
    heard: fc.option(fc.nat()),
  }),
  record({
    type: fc.constant('delivered' as const),
    issue,
    keys: fc.array(
      fc.nat({ max: 60 }).map((id) => `${id}:0`),
      { maxLength: 3 },
    ),
  }),
  record({ type: fc.constant('saved' as const), issue, lines: fc.array(fc.string(), { maxLength: 3 }) }),
  record({
    type: fc.constant('attempt_ended' as const),
    issue,
    outcome: fc.constantFrom(...ATTEMPT_OUTCOMES),
    reason: text,
    usage,
    head: fc.option(text),
    next: fc.constantFrom(...(['publish', 'retry', 'give_up', 'stop', 'ask'] as const)),
    retry_at: fc.option(fc.nat()),
    team: fc.option(fc.constant(TEAM)),
    paused: fc.option(fc.constant(true as const)),
  }).map(({ team, paused, ...others }) => ({
    ...others,
    ...(team === null ? {} : { team }),
    ...(paused === null ? {} : { paused }),
  })),
  record({ type: fc.constant('steered' as const), issue, steer: fc.constantFrom(...STEERS) }),
  record({
    type: fc.constant('publish_failed' as const),
    issue,
    reason: text,
    next: fc.constantFrom('again' as const, 'retry' as const, 'give_up' as const),
    retry_at: fc.option(fc.nat()),
  }),
  record({
    type: fc.constant('finished' as const),
    issue,
    outcome: fc.constantFrom(...ISSUE_OUTCOMES),
    updated_at: text,
  }),
);

function foldAll(records: readonly JournalRecord[]): DaemonState {
  return records.reduce<DaemonState>(
    (state, record, index) => fold(state, { ...record, v: 1, id: String(index), at: 1000 * index }),
    EMPTY_STATE,
  );
}

test('the fold takes any record on any state; what it gives can be frozen, written, read and thawed', () => {
  fc.assert(
    fc.property(fc.array(anyRecord, { maxLength: 60 }), (records) => {
      const state = foldAll(records);
      const thawed = decodeState(JSON.parse(JSON.stringify(freezeState(state))));
      assert.deepEqual(thawed, state);
      for (const entry of state.entries.values()) {
        assert.equal(entry.phase === 'running', entry.run !== null);
        assert.ok(entry.phase !== 'parked' || entry.finished !== null);
        assert.ok(entry.failures <= entry.attempt + records.length);
      }
      assert.ok(state.totals.cost_usd >= 0 && state.completed.length <= 100);
    }),
    { numRuns: 500 },
  );
});

test('every record is decoded as it was written', () => {
  fc.assert(
    fc.property(anyRecord, (record) => {
      assert.deepEqual(decodeRecord(JSON.parse(JSON.stringify(record))), record);
    }),
    { numRuns: 300 },
  );
});

test('whatever is no record is not taken for one', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.equal(decodeRecord(value), undefined);
    }),
  );
});

test('a journal is loaded to the state that the fold gives, in the order that it gives', async (t) => {
  const directory = tempDir(t);
  await fc.assert(
    fc.asyncProperty(fc.array(anyRecord, { maxLength: 60 }), fc.nat(60), async (records, cut) => {
      const path = join(directory, 'journal.jsonl');
      const stored = records.map((one, index) => ({ ...one, v: 1, id: String(index), at: 1000 * index }));
      const snapshot = { type: 'snapshot', state: freezeState(foldAll(records.slice(0, cut))), v: 1, id: 's', at: 0 };
      const lines = cut === 0 ? stored : [snapshot, ...stored.slice(cut)];
      writeFileSync(path, lines.map((one) => `\n${JSON.stringify(one)}\n`).join(''));
      const journal = new FileJournal({ directory, now: () => 1 });
      const expected = foldAll(records);
      assert.deepEqual(journal.state, expected);
      assert.deepEqual([...journal.state.entries.keys()], [...expected.entries.keys()]);
      assert.deepEqual([...journal.state.cleanups], [...expected.cleanups]);
      await journal.close();
    }),
    { numRuns: 200 },
  );
});

test('a long past is loaded in a time that grows with it, not with its square', async (t) => {
  const directory = tempDir(t);
  const write = (issues: number) => {
    const past = Array.from({ length: issues }, (_, index) => [index + 1, 1, null, '2026-01-01T00:00:00Z', 'done']);
    const cleanups = past.map(([number]) => [number, `/w/issue-${number}`]);
    const snapshot = { type: 'snapshot', state: { ...freezeState(EMPTY_STATE), past, cleanups }, v: 1, id: 's', at: 1 };
    const later = Array.from({ length: 1000 }, (_, index) => life(issues + index + 1)).flat();
    const lines = [snapshot, ...later.map((one, index) => ({ ...one, v: 1, id: String(index), at: 1 }))];
    writeFileSync(join(directory, 'journal.jsonl'), lines.map((one) => `\n${JSON.stringify(one)}\n`).join(''));
  };
  const load = async () => {
    const began = process.cpuUsage();
    const journal = new FileJournal({ directory, now: () => 1 });
    const { user } = process.cpuUsage(began);
    await journal.close();
    return { ms: user / 1000, past: finishedIssueOf(journal.state.past, 5), cleanups: journal.state.cleanups.size };
  };
  write(10);
  await load();
  const short = await load();
  write(20_000);
  const long = await load();
  assert.equal(long.past?.outcome, 'done');
  assert.equal(long.cleanups, 20_000);
  assert.ok(long.ms < short.ms + 500, `${long.ms} ms after ${short.ms} ms`);
});

test('a snapshot of a program that wrote no branch beside a workspace to remove is read', () => {
  const past = [[7, 2, null, '', 'done']];
  const cleanups = [
    [7, '/w/issue-7'],
    [8, '/w/issue-8', 'bot/issue-8'],
  ];
  assert.deepEqual(
    decodeState({ ...freezeState(EMPTY_STATE), past, cleanups })?.cleanups,
    new Map([
      [7, { directory: '/w/issue-7', branch: 'tool/issue-7-2', saved: [] }],
      [8, { directory: '/w/issue-8', branch: 'bot/issue-8', saved: [] }],
    ]),
  );
});

test('an attempt is begun once, and a record at the wrong place changes nothing', () => {
  const claimed: JournalRecord = {
    type: 'claimed',
    issue: 1,
    title: '',
    url: '',
    life: 1,
    branch: 'b',
    state_labels: [],
    label_event: null,
  };
  const started = (attempt: number): JournalRecord => ({
    type: 'attempt_started',
    issue: 1,
    attempt,
    run: `r${attempt}`,
    runtime: 'x',
    workspace: '/w',
  });
  const before = foldAll([claimed, started(1)]);
  assert.deepEqual(
    foldAll([claimed, started(1), started(1), started(2)]).entries.get(1)?.run,
    before.entries.get(1)?.run,
  );
  assert.equal(foldAll([started(1)]).entries.size, 0);
  assert.equal(foldAll([claimed, { ...claimed, title: 'another' }]).entries.get(1)?.title, '');
  assert.deepEqual(foldAll([claimed, { type: 'asked_done', issue: 1 }]).entries.get(1)?.askedDone, false);
});

const life = (number: number): JournalRecord[] => [
  {
    type: 'claimed',
    issue: number,
    title: `Issue ${number} with a title of an ordinary length`,
    url: `https://host/o/r/issues/${number}`,
    life: 1,
    branch: `tool/issue-${number}`,
    state_labels: ['tool-todo'],
    label_event: number,
  },
  {
    type: 'attempt_started',
    issue: number,
    attempt: 1,
    run: `run-${number}`,
    runtime: 'claude',
    workspace: `/w/issue-${number}`,
  },
  ...['workspace:1', 'after_create:1', 'before_run:1', 'agent:1'].flatMap((key): JournalRecord[] => [
    { type: 'effect_started', issue: number, effect: 'hook', key },
    { type: 'effect_finished', issue: number, effect: 'hook', key, result: {} },
  ]),
  {
    type: 'attempt_ended',
    issue: number,
    outcome: 'succeeded',
    reason: 'done',
    usage: { input_tokens: 1000, output_tokens: 100, cost_usd: 0.01, turns: 1, seconds: 60 },
    head: 'a'.repeat(40),
    next: 'publish',
    retry_at: null,
    team: TEAM,
  },
  {
    type: 'effect_finished',
    issue: number,
    effect: 'pull_request',
    key: 'pull_request',
    result: { number: number + 1, url: `https://host/o/r/pull/${number + 1}` },
  },
  { type: 'finished', issue: number, outcome: 'done', updated_at: '2026-01-01T00:00:00Z' },
  { type: 'effect_finished', issue: number, effect: 'workspace_remove', key: 'workspace_remove', result: {} },
];

test('over 10,000 issues the journal stays bounded, and a new process knows all that is needed of them', async (t) => {
  const directory = tempDir(t);
  const journal = new FileJournal({ directory, now: () => 1 });
  let largest = 0;
  for (let number = 1; number <= 10_000; number++) {
    // Nobody waits for each of these: what is measured is the size.
    const written = life(number).map((record) => journal.append(record));
    if (number % 200 === 0) {
      await Promise.all(written);
      largest = Math.max(largest, statSync(join(directory, 'journal.jsonl')).size);
    }
  }
  await journal.close();
  const all = life(1).reduce((bytes, record) => bytes + JSON.stringify(record).length, 0) * 10_000;
  assert.ok(largest < 4 * 1024 * 1024, `${largest} bytes`);
  assert.ok(largest * 5 < all, `${largest} of ${all} bytes`);
  const again = new FileJournal({ directory, now: () => 1 });
  assert.equal(again.state.counts.done, 10_000);
  assert.equal(finishedIssueOf(again.state.past, 3)?.life, 1);
  assert.equal(again.state.entries.size, 0);
  assert.equal(again.state.completed.length, 100);
  const withTeam = again.state.completed.filter(({ team }) => team !== null);
  assert.deepEqual(withTeam, again.state.completed.slice(-20), 'the last teams are kept');
  assert.deepEqual(withTeam[0]?.team, TEAM);
  assert.equal(again.state.totals.input_tokens, 10_000_000);
  assert.ok(existsSync(join(directory, 'journal.1.jsonl')));
  await again.close();
});

test('a continuation keeps every record of the state, whenever it comes', async (t) => {
  const directory = tempDir(t);
  const small = new FileJournal({ directory, now: () => 7, maxBytes: 500 });
  const records = [1, 2, 3, 4, 5].flatMap((number) => life(number).slice(0, -2));
  for (const record of records) await small.append(record);
  const expected = small.state;
  await small.close();
  const again = new FileJournal({ directory, now: () => 7, maxBytes: 500 });
  assert.deepEqual(again.state, expected);
  assert.equal(again.state.entries.size, 5);
  assert.match(readFileSync(join(directory, 'journal.jsonl'), 'utf8'), /^\n\{"type":"snapshot"/);
  await again.close();
});

test('a continuation that was cut off leaves the old journal in use', async (t) => {
  const directory = tempDir(t);
  const journal = new FileJournal({ directory, now: () => 1 });
  for (const record of life(1).slice(0, 3)) await journal.append(record);
  await journal.close();
  writeFileSync(join(directory, 'journal.jsonl.next'), '\n{"type":"snapshot","state":{"entr');
  const again = new FileJournal({ directory, now: () => 1 });
  assert.equal(again.state.entries.get(1)?.phase, 'running');
  await again.close();
});

test('a journal whose snapshot cannot be read is refused, not taken for empty', (t) => {
  const directory = tempDir(t);
  writeFileSync(join(directory, 'journal.jsonl'), '\n{"type":"snapshot","state":{},"v":1,"id":"x","at":1}\n');
  assert.throws(
    () => new FileJournal({ directory, now: () => 1 }),
    isOf(BASE_CODES.log_damaged, { path: join(directory, 'journal.jsonl'), offset: 0 }),
  );
});
