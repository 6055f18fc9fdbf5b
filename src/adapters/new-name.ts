// A whole file gets a name that nothing has yet: by a hard link, which is one step. File systems without links (exFAT, FAT,
// shares of virtual machines) take two, a look and a renaming, in a turn of their own.

import { existsSync, linkSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';

/** What systems say of a link where there are none. */
const NO_LINKS: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);
/** A turn takes less than a millisecond: who has one for so long has died in it. */
const DEAD_MS = 2000;
/** What is never changed, to wait on. */
const SLEEPER = new Int32Array(new SharedArrayBuffer(4));

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Nobody else's: it tells a turn from the one after it. */
function unlikeAnyOther(): string {
  return `${process.pid}.${Math.random().toString(36).slice(2)}`;
}

function enter(turn: string): void {
  let holder = '';
  let since = performance.now();
  for (;;) {
    try {
      writeFileSync(turn, unlikeAnyOther(), { flag: 'wx', mode: 0o600 });
      return;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    const found = textOf(turn);
    if (found !== holder) [holder, since] = [found, performance.now()];
    else if (performance.now() - since > DEAD_MS) rmSync(turn, { force: true });
    Atomics.wait(SLEEPER, 0, 0, 1);
  }
}

function renameInTurn(from: string, to: string): void {
  const turn = `${to}.turn`;
  enter(turn);
  try {
    if (existsSync(to)) throw Object.assign(new Error(`EEXIST: ${to} is there already`), { code: 'EEXIST' });
    renameSync(from, to);
  } finally {
    rmSync(turn, { force: true });
  }
}

/** Throws with the code EEXIST, and does nothing, where something has that name. */
export function renameNew(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!NO_LINKS.has(codeOf(error))) throw error;
    renameInTurn(from, to);
    return;
  }
  unlinkSync(from);
}

/** The same with the other name kept; where there are no links it is that of a copy. */
export function linkNew(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!NO_LINKS.has(codeOf(error))) throw error;
    const copy = `${to}.${unlikeAnyOther()}`;
    try {
      writeFileSync(copy, readFileSync(from), { flag: 'wx', mode: 0o600, flush: true });
      renameInTurn(copy, to);
    } finally {
      rmSync(copy, { force: true });
    }
  }
}
