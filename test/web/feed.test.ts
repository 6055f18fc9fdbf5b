// A reader that mirrors a feed, against what the feed was told.

import assert from 'node:assert/strict';
import test from 'node:test';
import { EVENT_MAX_BYTES, Feed, type Frame } from '../../src/web/feed.ts';
import { pageParts } from '../../src/web/page.ts';
import { stateFrame } from '../../src/web/state-frame.ts';
import { viewWith } from '../support/view.ts';

type Data = {
  readonly set: Readonly<Record<string, unknown>>;
  readonly removed: readonly string[];
  readonly fetch: readonly string[];
  readonly last: boolean;
};

/** Takes events as `docs/daemon.md` says. */
class Reader {
  readonly values = new Map<string, unknown>();
  readonly fetched: string[] = [];
  at: string | undefined;
  events = 0;
  #unseen = new Set<string>();

  take(text: string): void {
    for (const block of text.split('\n\n').filter((one) => one !== '')) {
      this.events += 1;
      assert.ok(Buffer.byteLength(block) <= EVENT_MAX_BYTES, `${Buffer.byteLength(block)} bytes`);
      const data: Data = JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '');
      if (/^event: snapshot$/m.test(block)) this.#unseen = new Set(this.values.keys());
      for (const [key, value] of Object.entries(data.set)) this.values.set(key, value);
      for (const key of [...Object.keys(data.set), ...data.fetch]) this.#unseen.delete(key);
      for (const key of data.removed) this.values.delete(key);
      this.fetched.push(...data.fetch);
      if (data.last) for (const key of this.#unseen) this.values.delete(key);
      const id = /^id: (.*)$/m.exec(block)?.[1];
      assert.equal(id !== undefined, data.last, 'the last event of a change has its id');
      this.at = id ?? this.at;
    }
  }
}

function frameOf(values: Readonly<Record<string, unknown>>): Frame {
  return new Map(Object.entries(values).map(([key, value]) => [key, JSON.stringify(value)]));
}

test('whoever reads all, some or nothing for a while has in the end what stands', () => {
  const feed = new Feed('f');
  const readers = [new Reader(), new Reader(), new Reader()];
  let random = 11;
  const next = (below: number) => {
    random = (random * 48_271) % 2_147_483_647;
    return random % below;
  };
  const values: Record<string, unknown> = {};
  for (let round = 0; round < 400; round++) {
    for (let changes = next(60); changes > 0; changes--) {
      const key = `row/${next(200)}`;
      if (next(3) === 0) delete values[key];
      else values[key] = { text: 'ä'.repeat(next(400)), round };
    }
    feed.take(frameOf(values), 'now');
    for (const [index, reader] of readers.entries())
      if (round % (1 + 40 * index) === 0) reader.take(feed.since(reader.at));
  }
  for (const reader of readers) {
    reader.take(feed.since(reader.at));
    assert.deepEqual(Object.fromEntries(reader.values), values);
    assert.equal(feed.since(reader.at), '');
  }
});

test('an event carries what changed, and nothing is sent where nothing did', () => {
  const feed = new Feed('f');
  feed.take(frameOf({ a: 1, b: 2 }), 'one');
  const { at } = feed;
  feed.take(frameOf({ a: 1, b: 2 }), 'two');
  assert.equal(feed.at, at);
  feed.take(frameOf({ a: 1, c: 3 }), 'three');
  assert.equal(
    feed.since(at),
    'id: f-2\nevent: change\ndata: {"now":"three","set":{"c":3},"removed":["b"],"fetch":[],"last":true}\n\n',
  );
});

test('what fits into no event is named, to be asked for', () => {
  const feed = new Feed('f');
  feed.take(frameOf({ long: 'x'.repeat(EVENT_MAX_BYTES), short: 1 }), 'now');
  const reader = new Reader();
  reader.take(feed.snapshot());
  assert.deepEqual(Object.fromEntries(reader.values), { short: 1 });
  assert.deepEqual(reader.fetched, ['long']);
});

test('changes that are not kept any more, and an id of another feed, are answered with a snapshot', () => {
  const feed = new Feed('f');
  feed.take(frameOf({ n: 0 }), 'now');
  const { at } = feed;
  for (let n = 1; n <= 100; n++) feed.take(frameOf({ n, text: String(n).repeat(4_000) }), 'now');
  for (const other of [at, undefined, '', 'f', 'f-', 'f-x', 'f-101000', 'g-100', 'f--1'])
    assert.match(feed.since(other), /^(id: .*\n)?event: snapshot\n/, other);
});

test('a full page of the state, and of the markup, comes in events that fit', () => {
  const view = viewWith();
  const [waits] = view.queued;
  assert.ok(waits !== undefined);
  const queued = Array.from({ length: 100 }, (_, index) => ({
    ...waits,
    issue_number: index + 1,
    title: 'ä'.repeat(300),
  }));
  const full = { ...view, queued };
  const page = new Map(Object.entries(pageParts(full)).map(([id, markup]) => [id, JSON.stringify(markup)]));
  for (const frame of [stateFrame(full), page]) {
    const feed = new Feed('f');
    feed.take(frame, full.generated_at);
    const reader = new Reader();
    reader.take(feed.snapshot());
    assert.ok(reader.events > 1);
    assert.deepEqual(reader.fetched, []);
    assert.equal(reader.values.size, frame.size);
    // One issue more waits: that is one small event, whatever waits beside it.
    const { at } = feed;
    feed.take(new Map([...frame, ['queued/101', JSON.stringify(waits)]]), full.generated_at);
    assert.ok(feed.since(at).length < 600);
  }
});
