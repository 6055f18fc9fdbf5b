// Living processes of a place, as the system shows them.

import { readdirSync, readFileSync } from 'node:fs';
import { execaSync } from 'execa';

/** Those that show a directory in their environment or command line. */
export function processesAt(directory: string): string[] {
  if (process.platform !== 'linux') {
    const { stdout } = execaSync({ reject: false })`ps -Eww -ax -o command=`;
    return stdout.split('\n').filter((line) => line.includes(directory));
  }
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return false;
    try {
      return ['environ', 'cmdline'].some((file) => readFileSync(`/proc/${name}/${file}`, 'latin1').includes(directory));
    } catch {
      return false;
    }
  });
}
