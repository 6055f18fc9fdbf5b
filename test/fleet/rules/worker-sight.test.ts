import assert from 'node:assert/strict';
import test from 'node:test';
import { WorkerSight } from '../../../src/fleet/rules/worker-sight.ts';

const worker = (name: string, labels: readonly string[] = [], more: { draining?: boolean; started?: number } = {}) => ({
  ...{ name, labels, draining: more.draining ?? false, started_at: more.started ?? 1 },
});

test('attempts that no worker takes are named once, after a while, and again after one was there', () => {
  const sight = new WorkerSight();
  const waits = [
    { labels: ['big', 'gpu'], waiting: 2 },
    { labels: [], waiting: 0 },
  ];
  const looks = (count: number, workers: readonly ReturnType<typeof worker>[]) =>
    Array.from({ length: count }, () => sight.look(waits, workers)).flat();
  const others = [worker('a', ['gpu']), worker('b'), worker('c', ['big', 'gpu'], { draining: true })];
  assert.deepEqual(looks(4, others), []);
  const [said, ...rest] = looks(20, others);
  assert.deepEqual(
    [said?.of.code, said?.values, rest],
    ['worker_missing', { waiting: 2, expected: 'a worker with big, gpu', got: 'a (gpu), b (no labels)' }, []],
  );
  assert.deepEqual(looks(9, [worker('d', ['big', 'gpu', 'more'])]), []);
  assert.deepEqual(
    looks(9, []).map(({ values }) => values.got),
    ['no worker at all'],
  );
});

test('a worker that starts again has its name; two at a time are named once', () => {
  const sight = new WorkerSight();
  const looks = (...starts: number[]) =>
    starts
      .flatMap((started) => sight.look([], [worker('a', [], { started })]))
      .map(({ of, values }) => [of.code, values]);
  assert.deepEqual(looks(1, 1, 2, 2, 3), []);
  assert.deepEqual(looks(2, 3, 2), [['worker_name_twice', { name: 'a' }]]);
});
