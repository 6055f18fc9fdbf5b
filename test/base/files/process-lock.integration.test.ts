import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs, { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { hostname } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { execa } from 'execa';
import { type LockHolder, ProcessLock } from '../../../src/base/files/process-lock.ts';
import { pidNamespace, processStartTime } from '../../../src/base/processes/processes.ts';
import { finallyDo, tempDir } from '../../support/temp.ts';

class Refused extends Error {}

function take(path: string): ProcessLock {
  const lock = ProcessLock.tryTake({ path, workflow: 'x' });
  if (lock instanceof ProcessLock) return lock;
  throw lock.holder === null ? new Error('it gave up') : new Refused(`by ${lock.holder.pid}`);
}

/** What a process with that number leaves in its lock: a living one, unless its start is another's. */
function words(pid: number, start: string | null = processStartTime(pid), since = '2026-01-01T00:00:00.000Z'): string {
  const namespace = pidNamespace();
  const holder: LockHolder = { pid, host: hostname(), namespace, start_time: start, since, workflow: 'x', url: null };
  return JSON.stringify(holder);
}

/** A process that lives for as long as the test. */
async function living(t: TestContext): Promise<number> {
  const child = execa({ reject: false })`cat`;
  finallyDo(t, () => child.kill('SIGKILL'));
  await once(child, 'spawn');
  assert.ok(child.pid !== undefined);
  return child.pid;
}

/** The same, as if another process did it. */
function as<T>(pid: number, act: () => T): T {
  const own = process.pid;
  Object.defineProperty(process, 'pid', { value: pid, configurable: true });
  try {
    return act();
  } finally {
    Object.defineProperty(process, 'pid', { value: own, configurable: true });
  }
}

/** Has something done before each call that is about files of this directory, unless it is a call of its own. */
function between(t: TestContext, directory: string, act: () => void): void {
  let inside = false;
  for (const name of ['linkSync', 'readFileSync', 'renameSync', 'rmSync', 'writeFileSync'] as const) {
    const real = fs[name];
    t.mock.method(fs, name, (...args: unknown[]) => {
      if (!inside && String(args[0]).startsWith(directory)) {
        inside = true;
        try {
          act();
        } finally {
          inside = false;
        }
      }
      return Reflect.apply(real, fs, args);
    });
  }
  syncBuiltinESMExports();
  finallyDo(t, () => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
}

/** More calls than a take has. */
const POINTS = 20;

for (const isHeld of [false, true])
  test(`wherever a second one comes and goes while a lock is taken that was ${isHeld ? 'given back' : 'a dead one’s'}, who has it is who is said to`, async (t) => {
    const directory = tempDir(t);
    const lock = join(directory, 'lock');
    const other = await living(t);
    const third = await living(t);
    let call = 0;
    let steps: readonly { readonly at: number; readonly act: () => void }[] = [];
    const pass = () => {
      call++;
      for (const { at, act } of steps) if (at === call) act();
    };
    between(t, directory, pass);
    let reached = 0;
    for (let first = 1; first <= (isHeld ? POINTS : 1); first++)
      for (let second = first; second <= POINTS; second++)
        for (let last = second; last <= POINTS; last++) {
          let theirs: ProcessLock | undefined;
          const giveBack = { at: first, act: () => rmSync(lock) };
          const come = {
            at: second,
            act: () => {
              try {
                theirs = as(other, () => take(lock));
              } catch (error) {
                assert.ok(error instanceof Refused, String(error));
              }
            },
          };
          const go = {
            at: last,
            act: () => {
              theirs?.release();
              theirs = undefined;
            },
          };
          steps = [];
          writeFileSync(lock, isHeld ? words(third) : words(third, '1'));
          call = 0;
          steps = isHeld ? [giveBack, come, go] : [come, go];
          let mine: ProcessLock | undefined;
          try {
            mine = take(lock);
          } catch (error) {
            assert.ok(error instanceof Refused, String(error));
          }
          reached = Math.max(reached, call);
          const done = call;
          steps = [];
          const where = `given back before call ${first}, taken before ${second}, released before ${last} of ${done}`;
          assert.ok(mine === undefined || theirs === undefined, `two have it: ${where}`);
          const said: unknown = existsSync(lock) ? JSON.parse(readFileSync(lock, 'utf8')) : { pid: undefined };
          const holds = mine !== undefined ? process.pid : theirs !== undefined ? other : undefined;
          const isUntouched = isHeld && done < first;
          assert.equal((said as { pid?: number }).pid, isUntouched ? third : holds, where);
          mine?.release();
          theirs?.release();
          rmSync(lock, { force: true });
          assert.deepEqual(readdirSync(directory), [], where);
        }
    assert.ok(reached > 4 && reached < POINTS, `${reached} calls were looked at: all of them?`);
  });

function right(lock: string, ...texts: readonly string[]): string {
  return `${lock}.over.${createHash('sha256').update(texts.join('\0')).digest('hex').slice(0, 32)}`;
}

test('one at a time takes a dead one’s lock away; who died in doing so is followed by the next', async (t) => {
  const directory = tempDir(t);
  const lock = join(directory, 'lock');
  const other = await living(t);
  const dead = words(other, '1');
  const deadToo = words(other, '2');
  const deadAsWell = words(other, '3');
  writeFileSync(lock, dead);
  writeFileSync(right(lock, dead), deadToo);
  writeFileSync(right(lock, dead, deadToo), words(other));
  assert.throws(() => take(lock), new Refused(`by ${other}`));
  assert.equal(readFileSync(lock, 'utf8'), dead);
  writeFileSync(right(lock, dead, deadToo), deadAsWell);
  const mine = take(lock);
  assert.deepEqual(readdirSync(directory), ['lock']);
  mine.release();
  assert.deepEqual(readdirSync(directory), []);
});
