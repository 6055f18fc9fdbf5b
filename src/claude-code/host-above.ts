// Ancestor processes: a host, or the program of a teammate. They identify a caller better than variables, which a caller can remove.

import { fstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { sep } from 'node:path';
import { type Identity, identityOf } from '../agents/member-environment.ts';
import { LEAD } from '../team/rules/message.ts';

/** Hosts set it for what their agents run. */
const MARK = 'CLAUDECODE';
/** What the program itself is called, which does not set it for itself. */
const PROGRAM = 'claude';
const GENERATIONS = 64;

/** What takes up the processes of a system that their parents have left; in a container it may be anything. */
const INIT = /^(systemd|init)$/;
/** What a shell or a script is run by; a service that the system starts is a program of its own. */
const INTERPRETER =
  /^(sh|bash|dash|zsh|ksh|fish|busybox|node|MainThread|tool|python[\d.]*|perl|ruby|env|nohup|setsid)$/;

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    // Another person's process, or a system that keeps no such files.
    return '';
  }
}

function nameOf(pid: number): string {
  return read(pid, 'comm').trim();
}

/** Behind the name, which may hold anything: the state, the parent, the group, the session, the terminal. */
function statusOf(pid: number): readonly string[] {
  const text = read(pid, 'stat');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** A process and those above it; the first one of the system is none. */
function lineOf(from: number): readonly number[] {
  const line: number[] = [];
  for (let pid = from; pid > 1 && line.length < GENERATIONS; pid = Number(statusOf(pid)[1] ?? 0)) line.push(pid);
  return line;
}

/** Those above this process, the nearest first; another line later means that one of them has ended. */
export function processAncestry(): string {
  return lineOf(process.ppid).join(' ');
}

function isOfHost(pid: number): boolean {
  return nameOf(pid) === PROGRAM || `\0${read(pid, 'environ')}`.includes(`\0${MARK}=`);
}

function worksIn(pid: number, directory: string): boolean {
  try {
    return `${readlinkSync(`/proc/${pid}/cwd`)}${sep}`.startsWith(`${directory}${sep}`);
  } catch {
    return false;
  }
}

/**
 * @param parent whose line is gone up
 * @param directory only hosts that work in there count; absent: any
 */
export function isBelowHost(parent: number = process.ppid, directory?: string): boolean {
  return lineOf(parent).some((pid) => isOfHost(pid) && (directory === undefined || worksIn(pid, directory)));
}

/** The nearest host above this process: its id and when it began; null: there is none. */
export function hostAbove(): string | null {
  const pid = lineOf(process.ppid).find((one) => nameOf(one) === PROGRAM);
  // Behind the name, the begin is the twentieth.
  return pid === undefined ? null : `${pid} ${statusOf(pid)[19] ?? '-'}`;
}

/**
 * Whether the host that runs this was started by another one, or by what that runs: its prompts are a program's then.
 * @param directory only hosts above that work in there count
 * @param parent whose line is gone up
 */
export function isNestedHost(directory: string, parent: number = process.ppid): boolean {
  const line = lineOf(parent);
  const own = line.findIndex((pid) => nameOf(pid) === PROGRAM);
  return own !== -1 && line.slice(own + 1).some((pid) => isOfHost(pid) && worksIn(pid, directory));
}

/**
 * Whether this process is detached from its starter: no terminal, and the uppermost ancestor is a shell or a script under the
 * system's own first process.
 * @param init names of that
 */
export function isDetached(self: number = process.pid, init: RegExp = INIT): boolean {
  const top = lineOf(self)
    .filter((pid) => nameOf(pid) !== 'systemd')
    .at(-1);
  if (top === undefined || Number(statusOf(self)[4] ?? 0) !== 0) return false;
  return init.test(nameOf(Number(statusOf(top)[1] ?? 0))) && INTERPRETER.test(nameOf(top));
}

function variablesOf(pid: number): Readonly<Record<string, string>> {
  const rows = Buffer.from(read(pid, 'environ'), 'latin1').toString().split('\0');
  return Object.fromEntries(rows.map((row) => [row.split('=', 1)[0] ?? '', row.slice(row.indexOf('=') + 1)]));
}

/**
 * Whom the uppermost teammate's program above this process, at work in that directory, was started as; none is started as the
 * lead. An agent of a host can start a program with any environment: it is for whoever asks to know whether one can be there.
 */
export function teammateAbove(directory: string, parent: number = process.ppid): Identity | undefined {
  for (const pid of [...lineOf(parent)].reverse()) {
    const identity = worksIn(pid, directory) ? identityOf(variablesOf(pid)) : undefined;
    if (identity !== undefined && identity.teammate !== null && identity.teammate !== LEAD) return identity;
  }
  return undefined;
}

/** Whether a host holds the other end of that pipe. */
function isFedByHost(inode: bigint): boolean {
  const name = `pipe:[${inode}]`;
  return lineOf(process.ppid).some((pid) => {
    if (nameOf(pid) !== PROGRAM) return false;
    try {
      return readdirSync(`/proc/${pid}/fd`).some((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === name);
    } catch {
      return false;
    }
  });
}

/**
 * Whether a host may have written standard input: hosts hand their hooks a socket, while a shell has pipes and files.
 * Where a system does not tell, a pipe may be a host's.
 */
export function isInputOfHost(): boolean {
  try {
    const input = fstatSync(0);
    if (input.isSocket()) return true;
    if (!input.isFIFO()) return false;
    const hasProc = statSync('/proc/self', { throwIfNoEntry: false }) !== undefined;
    return !hasProc || isFedByHost(fstatSync(0, { bigint: true }).ino);
  } catch {
    return false;
  }
}
