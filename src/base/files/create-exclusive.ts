// A whole file gets a name that nothing has yet: by a hard link, which is one step. File systems without links (exFAT, FAT,
// shares of virtual machines) take two, a look and a renaming, under a lock file.

import { existsSync, linkSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { hasExited, pidNamespace, processStartTime } from '../processes/processes.ts';
import { errorCode } from '../rules/errors.ts';
import { tryReadText } from './read-text.ts';

/** What systems say of a link where there are none. */
const NO_LINKS: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);
/** A lock is held for less than a millisecond. A holder that nothing else tells about counts as dead after this. */
const DEAD_MS = 2000;
/** What is never changed, to wait on. */
const SLEEPER = new Int32Array(new SharedArrayBuffer(4));

/** Unique: it tells one holding of a lock from the next one. */
function unlikeAnyOther(): string {
  return `${process.pid}.${Math.random().toString(36).slice(2)}`;
}

/** Host and namespace in which a process id means something. */
function processScope(): string {
  return `${hostname()} ${pidNamespace()}`;
}

/** Text of a lock file: its owner. No two are the same. */
function lockText(): string {
  return [process.pid, processStartTime(process.pid), processScope(), unlikeAnyOther()].join('\n');
}

/** Whether who wrote that has ended; null: its number says nothing here. */
function hasEnded(text: string): boolean | null {
  const [pid = '', started, place] = text.split('\n');
  if (place !== processScope() || !/^[1-9]\d*$/.test(pid)) return null;
  return hasExited(Number(pid)) || String(processStartTime(Number(pid))) !== started;
}

/** Gives the text of the lock file while this call holds it. */
function acquireLock(lock: string): string {
  const mine = lockText();
  let holder = '';
  let since = performance.now();
  for (;;) {
    try {
      writeFileSync(lock, mine, { flag: 'wx', mode: 0o600 });
      return mine;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
    const found = tryReadText(lock) ?? '';
    if (found !== holder) [holder, since] = [found, performance.now()];
    else if (hasEnded(found) ?? performance.now() - since > DEAD_MS) releaseLock(lock, found);
    Atomics.wait(SLEEPER, 0, 0, 1);
  }
}

/** Somebody may have taken it for a dead one's: then it is another's. */
function releaseLock(lock: string, text: string): void {
  if (tryReadText(lock) === text) rmSync(lock, { force: true });
}

function renameUnderLock(from: string, to: string): void {
  const lock = `${to}.turn`;
  for (let isDone = false; !isDone; ) {
    const mine = acquireLock(lock);
    try {
      if (existsSync(to)) throw Object.assign(new Error(`EEXIST: ${to} is there already`), { code: 'EEXIST' });
      isDone = tryReadText(lock) === mine;
      if (isDone) renameSync(from, to);
    } finally {
      releaseLock(lock, mine);
    }
  }
}

/** Throws with the code EEXIST, and does nothing, where something has that name. */
export function renameExclusive(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!NO_LINKS.has(errorCode(error))) throw error;
    renameUnderLock(from, to);
    return;
  }
  unlinkSync(from);
}

/** The same with the other name kept; where there are no links it is that of a copy. */
export function linkExclusive(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!NO_LINKS.has(errorCode(error))) throw error;
    const copy = `${to}.${unlikeAnyOther()}`;
    try {
      writeFileSync(copy, readFileSync(from), { flag: 'wx', mode: 0o600, flush: true });
      renameUnderLock(copy, to);
    } finally {
      rmSync(copy, { force: true });
    }
  }
}
