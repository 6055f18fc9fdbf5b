// Limit of work at a time: order, ends of all kinds, work that is called off while it waits, and work that takes long.

import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Limiter } from '../../src/base/limiter.ts';

const LONG_MS = 10_000;

function pieces(most: number) {
  const limiter = new Limiter(most, LONG_MS);
  const begun: string[] = [];
  const ends = new Map<string, { resolve: () => void; reject: (error: Error) => void }>();
  const start = (name: string, signal?: AbortSignal) =>
    limiter.run(async () => {
      begun.push(name);
      signal?.throwIfAborted();
      await new Promise<void>((resolve, reject) => ends.set(name, { resolve, reject }));
      return name;
    }, signal);
  return { begun, ends, start };
}

test('so many run at a time, and the others follow in their order, however one ends', async () => {
  const { begun, ends, start } = pieces(2);
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => start(name));
  await turn();
  assert.deepEqual(begun, ['a', 'b']);
  ends.get('b')?.reject(new Error('broken'));
  await assert.rejects(b ?? Promise.resolve(), /broken/);
  ends.get('a')?.resolve();
  assert.equal(await a, 'a');
  await turn();
  assert.deepEqual(begun, ['a', 'b', 'c', 'd']);
  ends.get('c')?.resolve();
  ends.get('d')?.resolve();
  assert.deepEqual(await Promise.all([c, d]), ['c', 'd']);
});

test('work that is called off while it waits ends by itself, and keeps nobody waiting', async () => {
  const { begun, ends, start } = pieces(1);
  const over = new AbortController();
  const [first, second, third] = [start('a'), start('b', over.signal), start('c')];
  over.abort(new Error('called off'));
  await assert.rejects(second, /called off/);
  await assert.rejects(start('d', over.signal), /called off/);
  assert.deepEqual(begun, ['a', 'b', 'd']);
  ends.get('a')?.resolve();
  await first;
  await turn();
  assert.deepEqual(begun, ['a', 'b', 'd', 'c']);
  ends.get('c')?.resolve();
  await third;
});

test('a piece that takes long keeps nobody waiting, and its end lets nobody in', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { begun, ends, start } = pieces(1);
  const all = ['a', 'b', 'c'].map((name) => start(name));
  await turn();
  t.mock.timers.tick(LONG_MS);
  await turn();
  assert.deepEqual(begun, ['a', 'b']);
  ends.get('a')?.resolve();
  await all[0];
  await turn();
  assert.deepEqual(begun, ['a', 'b']);
  ends.get('b')?.resolve();
  await all[1];
  await turn();
  ends.get('c')?.resolve();
  assert.equal(await all[2], 'c');
});
