import assert from 'node:assert/strict';
import test from 'node:test';
import { Batcher } from '../../src/base/batcher.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('what comes while the work is under way is done together afterwards, also after a failure', async () => {
  const done: (readonly string[])[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const together = new Batcher<string>((items) => {
    done.push(items);
    return new Promise((resolve, reject) => ends.push((error) => (error === undefined ? resolve() : reject(error))));
  });
  const first = assert.rejects(together.add('a'), /cannot/);
  await turn();
  const second = Promise.all(['b', 'c'].map((item) => together.add(item)));
  await turn();
  assert.deepEqual(done, [['a']]);
  ends[0]?.(new Error('it cannot'));
  await first;
  await turn();
  assert.deepEqual(done, [['a'], ['b', 'c']]);
  const third = together.add('d');
  ends[1]?.();
  await second;
  await turn();
  assert.deepEqual(done, [['a'], ['b', 'c'], ['d']]);
  ends[2]?.();
  await third;
});
