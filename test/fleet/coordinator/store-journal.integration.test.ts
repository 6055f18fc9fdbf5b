// The journal of a repository on real Redis: what promises something is there first, and only the holder of the lease writes.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import type { textOf } from '../../../src/base/rules/codes.ts';
import { isFailure } from '../../../src/base/rules/errors.ts';
import { FileJournal } from '../../../src/daemon/journal/journal.ts';
import type { JournalRecord } from '../../../src/daemon/rules/record.ts';
import { takeJournal } from '../../../src/fleet/coordinator/journal-taking.ts';
import { RepositoryLease } from '../../../src/fleet/coordinator/repository-lease.ts';
import { StoreJournal, type StoreJournalOptions } from '../../../src/fleet/coordinator/store-journal.ts';
import { FLEET_CODES } from '../../../src/fleet/rules/fleet-codes.ts';
import { RedisStore } from '../../../src/fleet/store/redis-store.ts';
import { RedisServer } from '../../support/fleet.ts';
import { type Cleanup, finallyDo, tempDir } from '../../support/temp.ts';

const REPOSITORY = 'host/Owner/Repo';
const LEASE = 'toolcrew:lease:host/owner/repo';
const JOURNAL = 'toolcrew:journal:host/owner/repo';
const HOURS = 3_600_000;

const isLost = (error: unknown) => isFailure(error, FLEET_CODES.repository_lease_lost);

function claimed(issue: number): JournalRecord {
  return {
    ...{ type: 'claimed', issue, title: `Issue ${issue}`, url: 'http://h', life: 1, branch: `tool/issue-${issue}` },
    ...{ state_labels: [], label_event: null },
  };
}

function effect(issue: number): JournalRecord {
  return { type: 'effect_started', issue, effect: 'label_add', key: 'label_add:x' };
}

const USAGE = { input_tokens: 0, output_tokens: 0, cost_usd: 0, turns: 0, seconds: 0 };

function told(issue: number, usd = 1): JournalRecord {
  return { type: 'usage', issue, usage: { ...USAGE, cost_usd: usd } };
}

type Opening = { readonly store?: StoreJournalOptions['store']; readonly maxBytes?: number; readonly lookMs?: number };

async function setUp(t: Cleanup, more: readonly string[] = []) {
  const redis = await RedisServer.start(t, more);
  const store = await RedisStore.open(redis.url, '');
  finallyDo(t, () => store.close());
  const said: string[] = [];
  const heard = new Set<() => void>();
  const log = {
    log: (_: unknown, __: unknown, what: Parameters<typeof textOf>[0] | string) => {
      said.push(typeof what === 'string' ? what : what.of.code);
      for (const look of heard) look();
    },
  };
  /** Resolves when it was said so often. */
  const says = (code: string, times: number) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (said.filter((one) => one === code).length >= times) resolve();
      };
      heard.add(look);
      look();
    });
  /** Takes the lease and opens the journal of a machine. */
  const open = async (directory: string, options: Opening = {}) => {
    const lease = await RepositoryLease.take({
      ...{ store, repository: REPOSITORY, leaseMs: HOURS, stateDir: directory, clock: systemClock, log },
      address: () => '',
    });
    finallyDo(t, () => lease.release());
    const taken = await takeJournal({ store, repository: REPOSITORY, directory, log });
    const shared = new StoreJournal({ store, lease, taken, clock: systemClock, log, lookMs: HOURS, ...options });
    const file = new FileJournal({
      ...{ directory, now: () => 1, follower: shared.follower },
      ...(options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
    });
    const journal = shared.over(file, () => file.continue());
    const close = async () => {
      await journal.close();
      await shared.close();
      await lease.release();
    };
    finallyDo(t, close);
    return { lease, journal, shared, close };
  };
  const types = async () => {
    const { lines } = await store.readJournal(REPOSITORY, 0, 1_000);
    return lines.map((line) => String(JSON.parse(line).type));
  };
  const reached = () => new Promise<void>((resolve) => store.client.once('ready', () => resolve()));
  const away = () => new Promise<void>((resolve) => store.client.once('close', () => resolve()));
  return { redis, store, said, says, open, types, reached, away, places: [tempDir(t), tempDir(t)] as const };
}

/** The store with another way to append. */
function appending(store: RedisStore, appendJournal: RedisStore['appendJournal']): StoreJournalOptions['store'] {
  const { address, problem } = store;
  const readJournal: RedisStore['readJournal'] = (...args) => store.readJournal(...args);
  return { address, problem, readJournal, appendJournal, compactJournal: (...args) => store.compactJournal(...args) };
}

function localOf(directory: string): string[] {
  return readFileSync(join(directory, 'journal.jsonl'), 'utf8').split('\n').filter(Boolean);
}

test('a promise is in the store once it is given; what was told before is there with it, in order', async (t) => {
  const { store, open, types, places } = await setUp(t);
  const { journal } = await open(places[0]);
  await journal.append(claimed(1));
  assert.deepEqual(await types(), ['claimed']);
  await journal.append(told(1));
  await journal.append(told(1, 2));
  await journal.append(effect(1));
  assert.deepEqual(await types(), ['claimed', 'usage', 'usage', 'effect_started']);
  const { lines, first, next } = await store.readJournal(REPOSITORY, 0, 1_000);
  assert.deepEqual([first, next, lines], [0, 4, localOf(places[0])]);
  // Words of an operator, who is answered then.
  await journal.append({ type: 'messages', issue: 1, messages: [{ author: null, text: 'Go on' }], heard: null });
  assert.equal((await types()).at(-1), 'messages');
  assert.deepEqual((await store.readJournal(REPOSITORY, 2, 1)).lines, lines.slice(2, 3));
});

test('what is only told comes by itself, many in one step', async (t) => {
  const { store, open, types, places } = await setUp(t);
  let appends = 0;
  let full: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    full = resolve;
  });
  const counting = appending(store, async (...args) => {
    const answer = await store.appendJournal(...args);
    appends += 1;
    full();
    return answer;
  });
  const { journal } = await open(places[0], { store: counting });
  for (let usd = 0; usd < 50; usd++) void journal.append(told(1, usd));
  await done;
  assert.equal(appends, 1);
  assert.equal((await types()).length, 50);
});

test('another machine goes on where the first one was; what the first one had beside is kept', async (t) => {
  const { store, said, open, types, places } = await setUp(t);
  const first = await open(places[0]);
  await first.journal.append(claimed(1));
  await first.journal.append({ ...attempt(1, 1) });
  const before = first.journal.state;
  // Its machine is gone: nothing gives the lease back.
  await store.client.del(LEASE);
  const second = await open(places[1]);
  assert.deepEqual(second.journal.state.entries.get(1), before.entries.get(1));
  assert.deepEqual(localOf(places[1]), localOf(places[0]));
  assert.ok(!said.includes('journal_replaced'));
  assert.deepEqual([first.shared.wasElsewhere(1), second.shared.wasElsewhere(1)], [false, true]);
  await second.journal.append(claimed(2));
  await second.journal.append(claimed(3));
  // The first one still believes that it leads. The store refuses it, whatever it believes.
  const { holder, repository } = first.lease;
  assert.equal(first.lease.isSure, true);
  assert.equal(await store.appendJournal(repository, holder, 3, ['{}']), 'lease_lost');
  assert.equal(await store.compactJournal(repository, holder, 2, '{}'), 'lease_lost');
  await assert.rejects(first.journal.append(effect(1)), isLost);
  assert.ok(first.lease.lost.aborted);
  assert.deepEqual(await types(), ['claimed', 'attempt_started', 'claimed', 'claimed']);
  await assert.rejects(first.journal.append(ended(1)), isLost, 'for whoever acts next');
  // Told to its own file alone.
  await first.journal.append(told(1, 5));
  for (const one of [first, second]) await one.close();
  const again = await open(places[0]);
  assert.deepEqual(said.filter((code) => code === 'journal_replaced').length, 1);
  assert.deepEqual([...again.journal.state.entries.keys()], [1, 2, 3]);
  assert.equal(again.journal.state.entries.get(1)?.phase, 'running');
  // What this machine has of the second one is old, until it begins anew.
  const elsewhere = ({ shared }: typeof again) => [1, 2, 3].map((issue) => shared.wasElsewhere(issue));
  assert.deepEqual(elsewhere(again), [false, true, true]);
  await again.close();
  const later = await open(places[0]);
  assert.deepEqual(elsewhere(later), [false, true, true]);
  await later.journal.append(attempt(2, 1));
  await later.journal.append({ type: 'finished', issue: 3, outcome: 'done', updated_at: '' });
  assert.deepEqual(elsewhere(later), [false, false, false]);
  await later.close();
  assert.deepEqual(elsewhere(await open(places[0])), [false, false, false]);
  assert.match(readFileSync(join(places[0], 'journal.replaced.jsonl'), 'utf8'), /"type":"usage"/);
});

function attempt(issue: number, number: number): JournalRecord {
  return {
    ...{ type: 'attempt_started', issue, attempt: number, run: 'run', runtime: 'command', workspace: '/w' },
    version: '',
  };
}

function ended(issue: number): JournalRecord {
  return {
    ...{ type: 'attempt_ended', issue, outcome: 'interrupted', reason: 'cut off', usage: USAGE, head: null },
    ...{ next: 'retry', retry_at: 0 },
  };
}

test('a journal that only this machine has is written into the store, and so is what it could not hand over', async (t) => {
  const { open, types, store, said, places } = await setUp(t);
  const bare = new FileJournal({ directory: places[0], now: () => 1 });
  for (const record of [claimed(1), told(1), claimed(2)]) await bare.append(record);
  await bare.close();
  const first = await open(places[0]);
  await first.journal.append(claimed(3));
  assert.deepEqual(await types(), ['claimed', 'usage', 'claimed', 'claimed']);
  await first.close();
  const away = new FileJournal({ directory: places[0], now: () => 1 });
  await away.append(told(3));
  await away.close();
  const second = await open(places[0]);
  await second.shared.flush();
  assert.equal((await types()).at(-1), 'usage');
  assert.deepEqual((await store.readJournal(REPOSITORY, 0, 100)).lines, localOf(places[0]));
  assert.deepEqual(said, []);
});

test('a file that began anew without the store is ahead of it, and loses nothing', async (t) => {
  const { open, types, store, said, places } = await setUp(t);
  const first = await open(places[0]);
  await first.journal.append(claimed(1));
  await first.close();
  const away = new FileJournal({ directory: places[0], now: () => 1 });
  await away.append(claimed(2));
  away.continue();
  await away.append(told(2));
  await away.close();
  const second = await open(places[0]);
  assert.deepEqual(second.journal.state, away.state);
  assert.equal(second.shared.wasElsewhere(1), false);
  await second.shared.flush();
  assert.deepEqual(await types(), ['snapshot', 'usage']);
  assert.deepEqual((await store.readJournal(REPOSITORY, 0, 100)).lines, localOf(places[0]));
  assert.deepEqual(said, []);
});

test('a store that lost records and refuses others gets one snapshot, made once', async (t) => {
  const { store, open, types, places } = await setUp(t);
  let refused = 0;
  let enough: () => void = () => undefined;
  const often = new Promise<void>((resolve) => {
    enough = resolve;
  });
  const counting = appending(store, async (...args) => {
    try {
      return await store.appendJournal(...args);
    } catch (error) {
      refused += 1;
      if (refused === 2) void journal.append(told(1));
      if (refused === 4) enough();
      throw error;
    }
  });
  const { journal } = await open(places[0], { store: counting });
  await journal.append(claimed(1));
  await store.client.del(JOURNAL);
  await store.client.config('SET', 'maxmemory', '1');
  const promise = journal.append(claimed(2));
  await often;
  assert.deepEqual(
    localOf(places[0]).map((line) => JSON.parse(line).type),
    ['snapshot', 'usage'],
  );
  assert.match(readFileSync(join(places[0], 'journal.1.jsonl'), 'utf8'), /Issue 1.*\n+.*Issue 2/);
  await store.client.config('SET', 'maxmemory', '0');
  await promise;
  await journal.append(claimed(3));
  assert.deepEqual(await types(), ['snapshot', 'usage', 'claimed']);
});

test('while the store is away no promise is given; all is written on in order when it is back', async (t) => {
  const { redis, open, types, places, away } = await setUp(t, ['--appendonly', 'yes', '--appendfsync', 'always']);
  const { journal } = await open(places[0]);
  await journal.append(claimed(1));
  const gone = away();
  await redis.stop();
  await gone;
  let isGiven = false;
  await journal.append(told(1));
  const promise = journal.append(effect(1)).then(() => {
    isGiven = true;
  });
  await journal.append(told(1, 2));
  // Its own state knows of it at once, as ever.
  assert.equal(journal.state.entries.get(1)?.effects['label_add:x'], 'started');
  assert.equal(isGiven, false);
  await redis.begin();
  await promise;
  await journal.append(claimed(2));
  assert.deepEqual(await types(), ['claimed', 'usage', 'effect_started', 'usage', 'claimed']);
});

test('a store that lost everything gets a snapshot with the next record, or by itself', async (t) => {
  const { redis, store, said, says, open, types, reached, places } = await setUp(t);
  const first = await open(places[0]);
  for (const issue of [1, 2, 3]) await first.journal.append(claimed(issue));
  const empty = async () => {
    const back = reached();
    await redis.stop();
    await redis.begin();
    await back;
  };
  await empty();
  assert.deepEqual(await types(), []);
  await first.journal.append(effect(2));
  assert.deepEqual(await types(), ['snapshot']);
  assert.equal(await store.fenceOf(REPOSITORY), first.lease.fence);
  assert.deepEqual(said.filter((code) => code === 'journal_written_anew').length, 1);
  const { state } = first.journal;
  await first.close();
  const second = await open(places[1], { lookMs: 100 });
  assert.deepEqual(second.journal.state, state);
  // Part of it is lost, with nothing to be written.
  await second.journal.append(claimed(4));
  await store.client.hset(JOURNAL, 'next', '1');
  await says('journal_written_anew', 2);
  await second.close();
  const third = await open(tempDir(t));
  assert.deepEqual(third.journal.state, second.journal.state);
});

test('an append whose answer was lost is repeated, and stands there once', async (t) => {
  const { store, open, types, places } = await setUp(t);
  let lost = 2;
  const faulty = appending(store, async (...args) => {
    const answer = await store.appendJournal(...args);
    if (lost-- > 0) throw new Error('the answer is lost');
    return answer;
  });
  const { journal, lease } = await open(places[0], { store: faulty });
  const first = journal.append(claimed(1));
  void journal.append(told(1));
  await first;
  await journal.append(effect(1));
  assert.deepEqual(await types(), ['claimed', 'usage', 'effect_started']);
  const { repository, holder } = lease;
  const { lines } = await store.readJournal(repository, 1, 2);
  assert.equal(await store.appendJournal(repository, holder, 1, lines), 'done');
  assert.equal(await store.appendJournal(repository, holder, 1, ['{"other":1}']), 'elsewhere');
  assert.equal(await store.appendJournal(repository, holder, 2, [lines[1] ?? '', '{}']), 'elsewhere');
  assert.equal(await store.appendJournal(repository, holder, 4, ['{}']), 'elsewhere');
});

test('a lease that is lost between two records: the second one is refused, and told waits end', async (t) => {
  const { store, open, types, places } = await setUp(t);
  const { journal, lease, shared } = await open(places[0]);
  await journal.append(claimed(1));
  await store.client.hset(LEASE, 'token', 'another');
  await assert.rejects(journal.append(claimed(2)), isLost);
  await assert.rejects(shared.flush(), isLost);
  assert.ok(lease.lost.aborted);
  await journal.append(told(1));
  assert.deepEqual(await types(), ['claimed']);
});

test('a journal that has grown begins anew in both places with the same snapshot', async (t) => {
  const { store, open, places } = await setUp(t);
  const { journal, close } = await open(places[0], { maxBytes: 2_000 });
  for (let issue = 1; issue <= 40; issue++) await journal.append(claimed(issue));
  await close();
  const { first, next, lines } = await store.readJournal(REPOSITORY, 0, 1_000);
  assert.ok(first > 0 && next === 40);
  assert.deepEqual(lines, localOf(places[0]));
  assert.equal(JSON.parse(lines[0] ?? '').type, 'snapshot');
  const fields = await store.client.hkeys(JOURNAL);
  assert.equal(fields.length, 2 + lines.length);
  const other = await open(places[1]);
  assert.deepEqual(other.journal.state, journal.state);
});

test('a store of another version, or with what cannot be read, is refused by name and changes nothing', async (t) => {
  const { store, open, places } = await setUp(t);
  const first = await open(places[0]);
  await first.journal.append(claimed(1));
  await first.close();
  const cases = [
    ['{"type":"claimed","v":2}', FLEET_CODES.journal_version_wrong, 'newer'],
    ['{"type":"claimed"}', FLEET_CODES.journal_version_wrong, 'older'],
    ['{"type":"unheard of","v":1,"id":"x","at":1}', FLEET_CODES.journal_record_unreadable, undefined],
    ['{"type":"snapshot","v":1,"id":"x","at":1,"state":{}}', FLEET_CODES.journal_record_unreadable, undefined],
  ] as const;
  writeFileSync(join(places[1], 'journal.jsonl'), '');
  for (const [line, code, age] of cases) {
    await store.client.hset(JOURNAL, '0', line);
    await assert.rejects(open(places[1]), (error) => {
      assert.ok(isFailure(error, code), String(error));
      assert.equal(error.values.age, age);
      return true;
    });
    await store.client.del(LEASE);
  }
  assert.equal(readFileSync(join(places[1], 'journal.jsonl'), 'utf8'), '');
  assert.ok(!existsSync(join(places[1], 'journal.replaced.jsonl')));
});
