import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { execa } from 'execa';
import { ToolError } from '../../src/base/rules/errors.ts';
import { GIT_CODES } from '../../src/git/rules/git-codes.ts';
import { clearLock } from '../../src/git/stale-lock.ts';
import { isOf } from '../support/codes.ts';
import { gitIn } from '../support/git.ts';
import { type Cleanup, finallyDo, tempDir } from '../support/temp.ts';

/** Clients of the team server give up a call after so long. */
const CLIENTS_WAIT_S = 60;

/** A git that holds the lock of its index until its input ends. */
async function holderOf(t: Cleanup) {
  const root = tempDir(t);
  gitIn(root)('init', '-q');
  const common = join(root, '.git');
  const lock = join(common, 'index.lock');
  const holder = execa({ cwd: root, stdin: 'pipe', reject: false })`git update-index --stdin`;
  finallyDo(t, () => holder.kill('SIGKILL'));
  while (!existsSync(lock)) await delay(10);
  return { root, common, lock, holder };
}

test('a lock whose git is at work is waited for', async (t) => {
  const { root, common, lock, holder } = await holderOf(t);
  const ended = once(holder, 'exit');
  let isCleared = false;
  const clearing = clearLock(lock, root, common).then(() => {
    isCleared = true;
  });
  await delay(0);
  assert.deepEqual([isCleared, existsSync(lock)], [false, true]);
  holder.stdin.end();
  assert.deepEqual(await ended, [0, null]);
  await clearing;
  assert.equal(existsSync(lock), false);
});

test('the wait for it ends before the clients of the team server give up', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const { root, common, lock } = await holderOf(t);
  const clearing = clearLock(lock, root, common);
  t.mock.timers.tick(CLIENTS_WAIT_S * 1000 + 1);
  await assert.rejects(clearing, (error: unknown) => {
    isOf(GIT_CODES.git_lock_held, { path: lock })(error);
    return error instanceof ToolError && Number(error.values.seconds) < CLIENTS_WAIT_S;
  });
  assert.ok(existsSync(lock));
});

test('a lock is removed whose git was killed', async (t) => {
  const { root, common, lock, holder } = await holderOf(t);
  holder.kill('SIGKILL');
  await holder;
  assert.ok(existsSync(lock));
  await clearLock(lock, root, common);
  assert.equal(existsSync(lock), false);
});

test('and nothing else beside it, wherever git has it', async (t) => {
  const root = tempDir(t);
  gitIn(root)('init', '-q');
  const common = join(root, '.git');
  const files = () => readdirSync(common, { recursive: true, encoding: 'utf8' }).sort();
  const before = files();
  for (const name of ['packed-refs.lock', 'HEAD.lock', 'refs/heads/main.lock']) {
    const lock = join(common, name);
    writeFileSync(lock, '');
    await clearLock(lock, root, common);
    assert.deepEqual(files(), before, name);
  }
});
