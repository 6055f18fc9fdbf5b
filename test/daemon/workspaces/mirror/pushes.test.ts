import assert from 'node:assert/strict';
import test from 'node:test';
import { systemClock } from '../../../../src/base/clock.ts';
import { Pushes, pushArguments, type Wanted } from '../../../../src/daemon/workspaces/mirror/pushes.ts';
import type { GitResult } from '../../../../src/git/git.ts';

const OK: GitResult = { exitCode: 0, stdout: '', stderr: '' };
const { signal } = new AbortController();

const wanted = (branch: string): Wanted => ({ branch, sha: '1'.repeat(40), expected: null });

/** Pushes whose ends the test decides; `begun` are the branches of each. */
function scripted(sleep = systemClock.sleep) {
  const begun: string[][] = [];
  const signals: AbortSignal[] = [];
  const ends: ((result: GitResult) => void)[] = [];
  const pushes = new Pushes(
    (all, end) => {
      begun.push(all.map(({ branch }) => branch));
      signals.push(end);
      return new Promise((resolve) => ends.push(resolve));
    },
    { ...systemClock, sleep },
  );
  const end = async (index: number, result = OK) => {
    ends[index]?.(result);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { pushes, begun, signals, end };
}

test('those that wait while one is under way go together', async () => {
  const { pushes, begun, end } = scripted();
  const all = ['a', 'b', 'c', 'b'].map((branch) => pushes.push(wanted(branch), signal));
  assert.deepEqual(begun, [['a']]);
  await end(0);
  assert.deepEqual(begun, [['a'], ['b', 'c']]);
  await end(1);
  assert.deepEqual(begun, [['a'], ['b', 'c'], ['b']], 'a branch goes once in a push');
  await end(2);
  assert.deepEqual(await Promise.all(all), [OK, OK, OK, OK]);
});

test('what does not arrive with the others is pushed alone, and has its own failure', async () => {
  const { pushes, begun, end } = scripted();
  const all = ['a', 'b', 'c', 'd'].map((branch) => pushes.push(wanted(branch), signal));
  await end(0);
  const partly = `*\tx:refs/heads/b\t[new branch]\n!\tx:refs/heads/c\t[rejected] (stale info)\n`;
  await end(1, { exitCode: 1, stdout: partly, stderr: 'failed' });
  assert.deepEqual(begun, [['a'], ['b', 'c', 'd'], ['c'], ['d']]);
  const refused = { exitCode: 1, stdout: '!\tx:refs/heads/c\t[rejected]', stderr: 'its own' };
  await end(2, refused);
  await end(3);
  const [, b, c, d] = await Promise.all(all);
  assert.deepEqual([b?.exitCode, c, d], [0, refused, OK]);
});

test('a push that takes long holds up nobody, and one that is not wanted any more is not begun', async () => {
  let wake = () => {};
  const { pushes, begun, end } = scripted(() => new Promise((resolve) => (wake = resolve)));
  const stop = new AbortController();
  const first = pushes.push(wanted('a'), signal);
  const second = pushes.push(wanted('b'), signal);
  const third = pushes.push(wanted('c'), stop.signal);
  stop.abort(new Error('it is over'));
  wake();
  await assert.rejects(third, /it is over/);
  assert.deepEqual(begun, [['a'], ['b']]);
  await end(1);
  assert.deepEqual(await second, OK);
  await end(0);
  assert.deepEqual(await first, OK);
});

test('a push goes on for whom it is wanted by, and ends with the last of them', async () => {
  const { pushes, signals, end } = scripted();
  const stops = [new AbortController(), new AbortController(), new AbortController()];
  const all = Promise.allSettled(stops.map((stop, index) => pushes.push(wanted(`${index}`), stop.signal)));
  await end(0);
  stops[1]?.abort(new Error('not this one'));
  assert.equal(signals[1]?.aborted, false);
  stops[2]?.abort(new Error('nor that one'));
  assert.equal(signals[1]?.aborted, true);
  await end(1, { exitCode: null, stdout: '', stderr: '' });
  assert.deepEqual(await all, [
    { status: 'fulfilled', value: OK },
    { status: 'rejected', reason: new Error('not this one') },
    { status: 'rejected', reason: new Error('nor that one') },
  ]);
});

test('each branch of a push has its lease', () => {
  const args = pushArguments('https://host/o/r', [wanted('a'), { ...wanted('b'), expected: '2'.repeat(40) }]);
  assert.deepEqual(args.slice(args.indexOf('push')), [
    ...['push', '--porcelain', '--force-with-lease=refs/heads/a:'],
    ...[`--force-with-lease=refs/heads/b:${'2'.repeat(40)}`, 'toolcrew'],
    ...[`${'1'.repeat(40)}:refs/heads/a`, `${'1'.repeat(40)}:refs/heads/b`],
  ]);
});
