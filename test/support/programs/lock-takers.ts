// Takes its turn again and again, and writes down when each begins and ends. Arguments: the lock, the file to write to, how often.

import { appendFileSync, readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { WorktreeLock } from '../../../src/git/worktrees/worktree-lock.ts';

const [lock = '', place = '', count = '0'] = process.argv.slice(2);
const worktreeLock = new WorktreeLock(lock);
// Nobody begins before both are there.
appendFileSync(`${place}.there`, 'x');
while (readFileSync(`${place}.there`, 'utf8').length < 2) await setImmediate();
for (let turn = 0; turn < Number(count); turn++)
  await worktreeLock.take(async () => {
    appendFileSync(place, `begin ${process.pid}\n`);
    await setImmediate();
    appendFileSync(place, 'end\n');
  });
