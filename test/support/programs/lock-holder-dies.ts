// Takes a turn of the lock that it is given, starts a program in it, says that one's number, and dies.

import { spawn } from 'node:child_process';
import { WorktreeLock } from '../../../src/git/worktrees/worktree-lock.ts';

const [lock = ''] = process.argv.slice(2);
const worktreeLock = new WorktreeLock(lock);
await worktreeLock.take(async () => {
  const orphan = spawn('sleep', ['2'], {
    env: { PATH: process.env.PATH, ...worktreeLock.mark },
    detached: true,
    stdio: 'ignore',
  });
  process.stdout.write(`${orphan.pid}\n`, () => process.kill(process.pid, 'SIGKILL'));
  await new Promise(() => undefined);
});
