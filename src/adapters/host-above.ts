// Whether a host stands above this process: a variable is taken away more easily than a parent.

import { readFileSync } from 'node:fs';

/** Hosts set it for what their agents run. */
const MARK = 'CLAUDECODE';
/** What the program itself is called, which does not set it for itself. */
const PROGRAM = 'claude';
const GENERATIONS = 64;

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    // Another person's process, or a system that keeps no such files.
    return '';
  }
}

function isOfHost(pid: number): boolean {
  return read(pid, 'comm').trim() === PROGRAM || `\0${read(pid, 'environ')}`.includes(`\0${MARK}=`);
}

/** @param parent whose line is gone up */
export function isBelowHost(parent: number = process.ppid): boolean {
  for (let pid = parent, left = GENERATIONS; pid > 1 && left > 0; left -= 1) {
    if (isOfHost(pid)) return true;
    // Behind the name, which may hold anything: the state, then the parent.
    const status = read(pid, 'stat');
    pid = Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
  }
  return false;
}
