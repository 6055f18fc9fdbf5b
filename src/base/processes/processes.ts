// Facts about processes that this program did not necessarily start, and how they are ended.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from '../rules/errors.ts';

/** The variable that marks an agent and everything it starts. */
export const RUN_VARIABLE = 'TOOL_RUN';

/** Stands in the environment of a teammate that sees its own processes alone, while others work on the same files. */
export const NAMESPACE_VARIABLE = 'TOOL_NAMESPACE';

function ps(...args: string[]): string {
  // Late: hooks come by here, and need it nowhere else.
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  return spawnSync('ps', args, { encoding: 'utf8' }).stdout ?? '';
}

/** Whether there is such a process, whoever's it is. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
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

/** Whether a process has ended; one whose end nobody has asked about has done so too. */
export function hasExited(pid: number): boolean {
  if (!isAlive(pid)) return true;
  if (process.platform !== 'linux') return ps('-o', 'stat=', '-p', String(pid)).trim().startsWith('Z');
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return !isAlive(pid);
  }
}

/** Whose numbers of processes these are: those of another namespace are other processes'. Empty where the system has none. */
export function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
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
  return processesWithVariable(`${RUN_VARIABLE}=${run}`);
}

/** Every living process in whose environment a variable begins so: `NAME=value`. */
export function processesWithVariable(mark: string): number[] {
  if (process.platform !== 'linux') {
    const rows = ps('-Eww', '-ax', '-o', 'pid=,command=').split('\n');
    return rows.filter((row) => row.includes(mark)).map((row) => Number.parseInt(row, 10));
  }
  return readdirSync('/proc').flatMap((name) =>
    /^\d+$/.test(name) && Number(name) !== process.pid && carries(name, mark) ? [Number(name)] : [],
  );
}

/** Whether a living process has the mark in its environment; not when it is gone, or another user's. */
function carries(pid: string, mark: string): boolean {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`.includes(`\0${mark}`) && !isZombie(pid);
  } catch {
    return false;
  }
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

const FIRST_LOOK_MS = 10;
const LAST_LOOK_MS = 250;

export type EndOptions = {
  /** How long after SIGKILL a process that does not end is waited for: the kernel may hold it in a call. */
  readonly giveUpMs?: number;
  readonly find?: (run: string) => readonly number[];
};

/**
 * Ends every process of a run: SIGTERM, then SIGKILL after `graceMs`. Resolves when none is left, or none that can be ended.
 * @returns how many it ended
 */
export async function endProcessesOfRun(run: string, graceMs: number, options: EndOptions = {}): Promise<number> {
  const { giveUpMs = 5_000, find = processesOfRun } = options;
  const pids = find(run);
  const seen = new Set(pids);
  for (const pid of pids) send(pid, 'SIGTERM');
  const killAt = Date.now() + graceMs;
  let left = pids;
  // Most end at once. Looking through all processes costs more than waiting a little longer for the others.
  for (let pause = FIRST_LOOK_MS; left.length > 0; pause = Math.min(2 * pause, LAST_LOOK_MS)) {
    await delay(pause);
    left = find(run);
    for (const pid of left) seen.add(pid);
    if (Date.now() < killAt) continue;
    if (Date.now() >= killAt + giveUpMs) break;
    for (const pid of left) send(pid, 'SIGKILL');
  }
  return seen.size - left.length;
}
