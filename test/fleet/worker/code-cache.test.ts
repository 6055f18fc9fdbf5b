// Default branches on a worker: each state is made once, from the one before, and goes when nobody needs it.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { CodeCache, type Earlier } from '../../../src/fleet/worker/code-cache.ts';
import { tempDir } from '../../support/temp.ts';

function setUp(t: TestContext) {
  const directory = join(tempDir(t), 'code');
  const made: (string | null)[] = [];
  const make = async (place: string, earlier: Earlier | null) => {
    made.push(earlier?.sha ?? null);
    writeFileSync(join(place, 'HEAD'), '');
  };
  return { directory, cache: new CodeCache(directory), made, make };
}

test('attempts that begin at the same commit share one copy, which is made once', async (t) => {
  const { cache, made, make, directory } = setUp(t);
  const [first, second] = await Promise.all([cache.take('r', 'a', make), cache.take('r', 'a', make)]);
  const other = await cache.take('s', 'a', make);
  assert.equal(first.path, second.path);
  assert.notEqual(other.path, first.path);
  assert.deepEqual(made, [null, null]);
  assert.equal(readdirSync(directory).length, 2);
});

test('a later state is made from the one before; that goes with its last user, the newest stays', async (t) => {
  const { cache, made, make } = setUp(t);
  const first = await cache.take('r', 'a', make);
  const second = await cache.take('r', 'b', make);
  assert.deepEqual(made, [null, 'a']);
  await second.release();
  assert.ok(existsSync(first.path));
  await first.release();
  assert.deepEqual([existsSync(first.path), existsSync(second.path)], [false, true]);
});

test('who waits for a copy that another attempt fails to make makes it itself', async (t) => {
  const { cache, make } = setUp(t);
  const failing = async () => {
    throw new Error('cut off');
  };
  const [first, second] = await Promise.allSettled([cache.take('r', 'a', failing), cache.take('r', 'a', make)]);
  assert.equal(first.status, 'rejected');
  assert.ok(second.status === 'fulfilled' && existsSync(second.value.path));
});

test('copies of an earlier process go', async (t) => {
  const { cache, make, directory } = setUp(t);
  const { path } = await cache.take('r', 'a', make);
  assert.ok(new CodeCache(directory) instanceof CodeCache);
  assert.ok(!existsSync(path));
});
