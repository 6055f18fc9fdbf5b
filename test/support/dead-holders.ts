// Locks of worktrees whose holder was killed in a namespace of its own: others cannot see that it is dead, and wait until its
// life sign is old. The test can see it, and makes the sign old at once.

import { readdirSync, readFileSync, readlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { type Cleanup, finallyDo } from './temp.ts';

const LOOK_MS = 250;

/** True as well where it cannot be told. */
function isAlive(pid: string, namespace: string): boolean {
  return readdirSync('/proc').some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const status = readFileSync(`/proc/${name}/status`, 'latin1');
      if (/^State:\tZ/m.test(status) || /^NSpid:.*?(\d+)$/m.exec(status)?.[1] !== pid) return false;
      return readlinkSync(`/proc/${name}/ns/pid`) === namespace;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EACCES';
    }
  });
}

/** Looks at the lock of that repository until the test ends. */
export function passTimeForDeadHolders(t: Cleanup, root: string): void {
  const path = join(root, '.git', 'toolcrew', 'worktrees.lock');
  let [last, aged] = ['', ''];
  const look = () => {
    try {
      const text = readFileSync(path, 'latin1');
      const [pid = '', , , namespace = ''] = text.split('\n');
      // Once for each holder: the next one may have taken the lock since it was read.
      if (text === last && text !== aged && !isAlive(pid, namespace)) {
        aged = text;
        utimesSync(path, 0, 0);
      }
      last = text;
    } catch (error) {
      // Nobody holds it.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  };
  const timer = setInterval(look, LOOK_MS);
  finallyDo(t, () => clearInterval(timer));
}
