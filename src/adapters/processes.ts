// Facts about processes that this program did not necessarily start, and how they are ended.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** The variable that marks an agent and everything it starts. */
export const RUN_VARIABLE = 'TOOL_RUN';

function ps(...args: string[]): string {
  return spawnSync('ps', args, { encoding: 'utf8' }).stdout ?? '';
}

/** When the kernel started the process, as an opaque text; null when there is no such process. */
export function processStartTime(pid: number): string | null {
  if (process.platform !== 'linux') return ps('-o', 'lstart=', '-p', String(pid)).trim() || null;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // Field 22; the second field is the name in parentheses, which may hold spaces.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}

function isZombie(pid: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return true;
  }
}

/**
 * Every living process whose environment carries a mark that begins so: an agent, its children, and what left its
 * group; or, with the mark of a state directory, all that a daemon on it ever started.
 */
export function processesOfRun(run: string): number[] {
  const mark = `${RUN_VARIABLE}=${run}`;
  if (process.platform !== 'linux') {
    const rows = ps('-Eww', '-ax', '-o', 'pid=,command=').split('\n');
    return rows.filter((row) => row.includes(mark)).map((row) => Number.parseInt(row, 10));
  }
  const found: number[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    try {
      const environment = readFileSync(`/proc/${name}/environ`, 'latin1');
      if (`\0${environment}`.includes(`\0${mark}`) && !isZombie(name)) found.push(Number(name));
    } catch {
      // Gone meanwhile, or another user's.
    }
  }
  return found;
}

function send(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(target, signal);
    return true;
  } catch {
    return false;
  }
}

/** Signals a whole process group; false when no process of it is left. */
export function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  return send(-leader, signal);
}

/**
 * Ends every process of a run: SIGTERM, then SIGKILL after `graceMs`. Resolves when none is left.
 * @returns how many there were
 */
export async function endRun(run: string, graceMs: number): Promise<number> {
  const pids = processesOfRun(run);
  for (const pid of pids) send(pid, 'SIGTERM');
  const deadline = Date.now() + graceMs;
  let left = pids;
  while (left.length > 0) {
    await delay(10);
    left = processesOfRun(run);
    if (Date.now() >= deadline) for (const pid of left) send(pid, 'SIGKILL');
  }
  return pids.length;
}
