// Lock file of a process: holders that live or have exited, waiting, life signs, release.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { execa } from 'execa';
import { describeHolder, LockTaken, ProcessLock, readLockHolder } from '../../../src/base/files/process-lock.ts';
import { processStartTime } from '../../../src/base/processes/processes.ts';
import { scriptFile } from '../../support/compiled.ts';
import { type Cleanup, finallyDo, tempDir } from '../../support/temp.ts';

const HOLDER = {
  pid: process.pid,
  host: hostname(),
  namespace: '',
  start_time: processStartTime(process.pid),
  since: '2026-01-01T00:00:00.000Z',
  workflow: 'x',
  url: null,
};
const NEVER = { lookMs: 1, isOver: () => false };

const tryTake = (path: string) => ProcessLock.tryTake({ path, workflow: 'x' });

function take(path: string): ProcessLock {
  const lock = tryTake(path);
  assert.ok(lock instanceof ProcessLock, 'the lock is taken');
  return lock;
}

/** Name of the holder that an attempt is refused for; null: the attempt succeeds. */
function refusedFor(path: string): string | null {
  const lock = tryTake(path);
  if (lock instanceof LockTaken) return lock.holder === null ? 'unknown' : describeHolder(lock.holder);
  lock.release();
  return null;
}

/** A process that runs this with the lock at `process.argv[2]`; `begun` resolves on its first input. */
function other(t: Cleanup, path: string, act: string) {
  const file = scriptFile(`
    import { readFileSync, writeFileSync, writeSync } from 'node:fs';
    import { ProcessLock } from './src/base/files/process-lock.ts';
    const tryTake = () => ProcessLock.tryTake({ path: process.argv[2], workflow: 'x' });
    const begun = new Promise((resolve) => process.stdin.once('data', resolve));
    writeSync(1, 'ready');
    await begun;
    ${act}
    process.exit();
  `);
  const child = execa(process.execPath, [file, path], { buffer: false, reject: false });
  finallyDo(t, () => child.kill('SIGKILL'));
  return child;
}

const ready = (child: ReturnType<typeof other>) => once(child.stdout, 'data');

test('a lock names its holder until it is released', (t) => {
  const path = join(tempDir(t), 'made', 'lock');
  const lock = take(path);
  assert.equal(refusedFor(path), `process ${process.pid}`);
  lock.announce('http://localhost:8888');
  assert.equal(refusedFor(path), `process ${process.pid}`);
  assert.equal(readLockHolder(path)?.url, 'http://localhost:8888');
  lock.release();
  lock.release();
  assert.equal(readLockHolder(path), undefined);
  assert.equal(refusedFor(path), null);
  assert.deepEqual(readdirSync(join(path, '..')), []);
});

test('a lock is free if its holder has exited, its pid belongs to a later process, or its text names nobody', async (t) => {
  const path = join(tempDir(t), 'lock');
  const child = execa`true`;
  await child;
  const dead = [{ pid: child.pid }, { start_time: '1' }, { pid: 2 ** 22 + 1 }, { pid: 'x' }];
  for (const text of [...dead.map((one) => JSON.stringify({ ...HOLDER, ...one })), '', '{', '{}', 'garbage']) {
    writeFileSync(path, text);
    assert.equal(refusedFor(path), null, text);
    assert.equal(existsSync(path), false);
  }
  writeFileSync(path, JSON.stringify(HOLDER));
  assert.equal(refusedFor(path), `process ${process.pid}`);
});

test('a holder that is a zombie has exited', async (t) => {
  const path = join(tempDir(t), 'lock');
  // The shell becomes a program that never waits for its children.
  const parent = execa({ reject: false })`sh -c ${'sleep 0 & echo $!; exec cat'}`;
  finallyDo(t, () => parent.kill('SIGKILL'));
  const [chunk] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(chunk.toString());
  writeFileSync(path, JSON.stringify({ ...HOLDER, pid, start_time: processStartTime(pid) }));
  const lock = await ProcessLock.take(() => tryTake(path), NEVER);
  assert.ok(lock instanceof ProcessLock);
  lock.release();
});

test('a holder of another machine or namespace counts while it gives life signs', (t) => {
  const path = join(tempDir(t), 'lock');
  for (const [foreign, name] of [
    [{ host: 'elsewhere', pid: 1 }, 'process 1 on elsewhere'],
    [{ namespace: 'pid:[1]', start_time: '1' }, `process ${process.pid}`],
  ] as const) {
    writeFileSync(path, JSON.stringify({ ...HOLDER, ...foreign }));
    assert.equal(refusedFor(path), name);
    const old = new Date(Date.now() - 120_000);
    utimesSync(path, old, old);
    assert.equal(refusedFor(path), null);
  }
});

test('a holder gives life signs, but not in the lock of another', (t) => {
  const path = join(tempDir(t), 'lock');
  t.mock.timers.enable({ apis: ['setInterval'] });
  const lock = take(path);
  utimesSync(path, 0, 0);
  t.mock.timers.tick(20_000);
  assert.notEqual(statSync(path).mtimeMs, 0);
  assert.ok(lock.isHeld);
  writeFileSync(path, 'of another');
  utimesSync(path, 0, 0);
  t.mock.timers.tick(20_000);
  assert.equal(statSync(path).mtimeMs, 0);
  assert.ok(!lock.isHeld);
  lock.release();
  assert.equal(readFileSync(path, 'utf8'), 'of another');
});

test('a wait ends with the lock, at its limit, when aborted, or with what the attempt gives', async (t) => {
  const path = join(tempDir(t), 'lock');
  const first = take(path);
  let looks = 0;
  const late = await ProcessLock.take(() => tryTake(path), { lookMs: 1, isOver: () => ++looks === 3 });
  assert.ok(late instanceof LockTaken);
  assert.deepEqual([late.holder?.pid, looks], [process.pid, 3]);

  const stop = new AbortController();
  const aborted = ProcessLock.take(() => tryTake(path), { ...NEVER, lookMs: 2 ** 30, signal: stop.signal });
  stop.abort(new Error('stopped'));
  await assert.rejects(aborted, /stopped/);

  const attempts = [tryTake(path), 'not needed'];
  assert.equal(await ProcessLock.take(() => attempts.shift(), NEVER), 'not needed');

  const waiting = ProcessLock.take(() => tryTake(path), NEVER);
  first.release();
  const second = await waiting;
  assert.ok(second instanceof ProcessLock && second.isHeld);
  second.release();
});

test('one of many processes takes the lock of a dead holder', async (t) => {
  const path = join(tempDir(t), 'lock');
  writeFileSync(path, JSON.stringify({ ...HOLDER, start_time: '1' }));
  const ended = `await new Promise((resolve) => process.stdin.once('end', resolve));`;
  const act = `writeSync(1, tryTake() instanceof ProcessLock ? 'won' : 'lost'); ${ended}`;
  const children = Array.from({ length: 6 }, () => other(t, path, act));
  await Promise.all(children.map(ready));
  const answers = children.map(async (child) => String((await ready(child))[0]));
  for (const child of children) child.stdin?.write('go');
  assert.deepEqual((await Promise.all(answers)).sort(), ['lost', 'lost', 'lost', 'lost', 'lost', 'won']);
});

test('one of many waiting processes holds the lock at a time', async (t) => {
  const directory = tempDir(t);
  const [path, count] = [join(directory, 'locks', 'lock'), join(directory, 'count')];
  writeFileSync(count, '0');
  const act = `
    for (let round = 0; round < 25; round++) {
      const lock = await ProcessLock.take(tryTake, { lookMs: 1, isOver: () => false });
      const before = Number(readFileSync('${count}', 'utf8'));
      await new Promise((resolve) => setImmediate(resolve));
      writeFileSync('${count}', String(before + 1));
      lock.release();
    }`;
  const children = Array.from({ length: 4 }, () => other(t, path, act));
  await Promise.all(children.map(ready));
  const ends = children.map((child) => once(child, 'close'));
  for (const child of children) child.stdin?.write('go');
  assert.deepEqual(
    (await Promise.all(ends)).map(([code]) => code),
    [0, 0, 0, 0],
  );
  assert.equal(readFileSync(count, 'utf8'), '100');
  assert.deepEqual(readdirSync(join(directory, 'locks')), []);
});
