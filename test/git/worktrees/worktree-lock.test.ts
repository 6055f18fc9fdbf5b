// Locks over processes: who dies in one loses it, and what it had started is waited for.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { execa, execaSync } from 'execa';
import { pidNamespace, processesWithVariable, processStartTime } from '../../../src/base/processes/processes.ts';
import { WorktreeLock } from '../../../src/git/worktrees/worktree-lock.ts';
import { programFile } from '../../support/compiled.ts';
import { finallyDo, tempDir } from '../../support/temp.ts';

test('whoever takes over from the dead waits for what that had started', async (t) => {
  const directory = tempDir(t);
  const lock = join(directory, 'turn.lock');
  const { signal, stdout } = execaSync(process.execPath, [programFile('lock-holder-dies'), lock], { reject: false });
  assert.equal(signal, 'SIGKILL');
  const orphan = Number(stdout);
  assert.ok(existsSync(lock), 'the turn was left');
  const worktreeLock = new WorktreeLock(lock);
  const marked = () =>
    processesWithVariable(Object.entries(worktreeLock.mark).map(([name, value]) => `${name}=${value}`)[0] ?? '');
  assert.deepEqual(marked(), [orphan]);
  assert.deepEqual(await worktreeLock.take(async () => marked()), []);
  assert.deepEqual(readdirSync(directory), []);
});

test('one after the other, a failed one too', async (t) => {
  const lock = join(tempDir(t), 'turn.lock');
  const order: string[] = [];
  const take = (name: string, worktreeLock: WorktreeLock) =>
    worktreeLock.take(async () => {
      order.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${name} ends`);
      if (name === 'b') throw new Error('b failed');
    });
  const [one, other] = [new WorktreeLock(lock), new WorktreeLock(lock)];
  const ends = await Promise.allSettled([take('a', one), take('b', one), take('c', other), take('d', one)]);
  assert.deepEqual(ends.map(({ status }) => status).join(' '), 'fulfilled rejected fulfilled fulfilled');
  assert.equal(order.length, 8);
  for (let at = 0; at < order.length; at += 2) assert.equal(order[at]?.[0], order[at + 1]?.[0], order.join(', '));
});

test('older releases read a lock, and their locks count', async (t) => {
  const lock = join(tempDir(t), 'turn.lock');
  const worktreeLock = new WorktreeLock(lock);
  const [pid, started, , namespace, ...rest] = await worktreeLock.take(async () =>
    readFileSync(lock, 'utf8').split('\n'),
  );
  const own = [String(process.pid), processStartTime(process.pid), pidNamespace()];
  assert.deepEqual([pid, started, namespace, rest], [...own, ['']]);
  const child = execa({ reject: false })`cat`;
  finallyDo(t, () => child.kill('SIGKILL'));
  await once(child, 'spawn');
  assert.ok(child.pid !== undefined);
  writeFileSync(lock, `${child.pid}\n${processStartTime(child.pid)}\n${child.pid}.1.0\n${pidNamespace()}\n`);
  const waiting = worktreeLock.take(async () => child.killed);
  await new Promise((resolve) => setImmediate(resolve));
  child.kill('SIGKILL');
  assert.equal(await waiting, true);
});

test('a lock is free whose holder has ended, though a later process has its number', async (t) => {
  const lock = join(tempDir(t), 'turn.lock');
  writeFileSync(lock, `${process.ppid}\n1\nx\n${pidNamespace()}\n`);
  assert.equal(await new WorktreeLock(lock).take(() => Promise.resolve('taken')), 'taken');
});

test('a turn that was taken from its holder, who was believed dead, is not ended by that one', async (t) => {
  const directory = tempDir(t);
  const lock = join(directory, 'turn.lock');
  const worktreeLock = new WorktreeLock(lock);
  const other = 'another one, who has begun\n';
  await worktreeLock.take(async () => {
    writeFileSync(lock, other);
  });
  assert.equal(readFileSync(lock, 'utf8'), other);
  assert.deepEqual(readdirSync(directory).sort(), ['turn.lock', 'turn.lock.git'], 'and is begun');
  // Nobody lives whose lock that is.
  assert.equal(await worktreeLock.take(async () => 'the next one'), 'the next one');
  assert.deepEqual(readdirSync(directory), []);
});
