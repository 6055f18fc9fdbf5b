// Default branches on a worker: each state is made once, from the one before, and goes when nobody needs it.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { CodeCache, type Earlier } from '../../../src/fleet/worker/code-cache.ts';
import { tempDir } from '../../support/temp.ts';

const at = (sha: string, branch = 'main') => ({ branch, sha });

function setUp(t: TestContext) {
  const directory = join(tempDir(t), 'code');
  const made: (string | null)[] = [];
  const make = async (place: string, earlier: Earlier | null) => {
    made.push(earlier?.sha ?? null);
    writeFileSync(join(place, 'HEAD'), '');
  };
  const said: string[] = [];
  return { directory, cache: new CodeCache(directory, (text) => void said.push(text)), made, make, said };
}

test('attempts that begin at the same commit share one copy, which is made once', async (t) => {
  const { cache, made, make, directory } = setUp(t);
  const [first, second] = await Promise.all([cache.take('r', at('a'), make), cache.take('r', at('a'), make)]);
  const other = await cache.take('s', at('a'), make);
  assert.equal(first.path, second.path);
  assert.notEqual(other.path, first.path);
  assert.deepEqual(made, [null, null]);
  assert.equal(readdirSync(directory).length, 2);
});

test('a later state is made from the one before; that goes with its last user, the newest stays', async (t) => {
  const { cache, made, make } = setUp(t);
  const first = await cache.take('r', at('a'), make);
  const second = await cache.take('r', at('b'), make);
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
  const [first, second] = await Promise.allSettled([cache.take('r', at('a'), failing), cache.take('r', at('a'), make)]);
  assert.equal(first.status, 'rejected');
  assert.ok(second.status === 'fulfilled' && existsSync(second.value.path));
});

test('copies of an earlier process go', async (t) => {
  const { cache, make, directory } = setUp(t);
  const { path } = await cache.take('r', at('a'), make);
  assert.ok(new CodeCache(directory) instanceof CodeCache);
  assert.ok(!existsSync(path));
});

test('a state is made from nothing after nineteen that were made from the one before', async (t) => {
  const { cache, made, make } = setUp(t);
  for (let number = 0; number < 41; number++) await (await cache.take('r', at(String(number)), make)).release();
  const anew = made.flatMap((earlier, number) => (earlier === null ? [number] : []));
  assert.deepEqual(anew, [0, 20, 40]);
});

test('a state that cannot be made from the one before is made from nothing; nobody takes the earlier one', async (t) => {
  const { cache, made, make, directory, said } = setUp(t);
  const first = await cache.take('r', at('a'), make);
  await first.release();
  const fromNothing = async (place: string, earlier: Earlier | null) => {
    assert.deepEqual(readdirSync(place), []);
    await make(place, earlier);
    if (earlier !== null) throw new Error('a pack is damaged');
  };
  const second = await cache.take('r', at('b'), fromNothing);
  assert.deepEqual(made, [null, 'a', null]);
  assert.deepEqual([existsSync(first.path), existsSync(second.path)], [false, true]);
  assert.equal(said.length, 1);
  const again = await cache.take('r', at('a'), make);
  assert.equal(made.at(-1), 'b');
  await Promise.all([again.release(), second.release()]);
  assert.equal(readdirSync(directory).length, 1);
});

test('where nothing can be made, the earlier state stays and nothing half-made is left', async (t) => {
  const { cache, made, make, directory } = setUp(t);
  const first = await cache.take('r', at('a'), make);
  await first.release();
  const failing = async (place: string, earlier: Earlier | null) => {
    await make(place, earlier);
    throw new Error('the coordinator is away');
  };
  await assert.rejects(cache.take('r', at('b'), failing), /away/);
  assert.deepEqual(made, [null, 'a', null]);
  assert.deepEqual(
    readdirSync(directory).map((name) => join(directory, name)),
    [first.path],
  );
  assert.equal((await cache.take('r', at('a'), make)).path, first.path);
});

test('a copy that is gone is made again, once for all', async (t) => {
  const { cache, made, make, said } = setUp(t);
  const first = await cache.take('r', at('a'), make);
  rmSync(first.path, { recursive: true });
  const [second, third] = await Promise.all([cache.take('r', at('a'), make), cache.take('r', at('a'), make)]);
  assert.ok(existsSync(second.path));
  assert.equal(second.path, third.path);
  assert.deepEqual(made, [null, null]);
  assert.equal(said.length, 1);
  await first.release();
  assert.ok(existsSync(second.path));
});

test('another branch at the same commit has a copy of its own', async (t) => {
  const { cache, made, make } = setUp(t);
  const first = await cache.take('r', at('a'), make);
  const second = await cache.take('r', at('a', 'trunk'), make);
  assert.notEqual(first.path, second.path);
  assert.deepEqual(made, [null, 'a']);
});

test('a copy that is said to be damaged is made again from nothing, once', async (t) => {
  const { cache, made, make, said } = setUp(t);
  const before = await cache.take('r', at('a'), make);
  const [first, second] = [await cache.take('r', at('b'), make), await cache.take('r', at('b'), make)];
  first.replace();
  const third = await cache.take('r', at('b'), make);
  // Another attempt found the same.
  second.replace();
  const fourth = await cache.take('r', at('b'), make);
  assert.deepEqual(made, [null, 'a', null]);
  assert.equal(fourth.path, third.path);
  assert.equal(said.length, 1);
  for (const { release } of [before, first, second]) await release();
  assert.deepEqual([existsSync(before.path), existsSync(first.path), existsSync(third.path)], [false, false, true]);
});
