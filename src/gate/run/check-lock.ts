// Mutex for quality checks: one measurement at a time per repository, all its worktrees together.
// Concurrent test runs fail over shared ports, databases and timing, and no agent could fix that.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ensurePrivateDirectory, lockDirectory } from '../../base/files/lock-directory.ts';
import { describeHolder, type LockHolder, ProcessLock } from '../../base/files/process-lock.ts';
import { failure, type ToolError } from '../../base/rules/errors.ts';
import { tryGit } from '../../git/git.ts';
import { environmentAt } from '../../git/team-environment.ts';
import { GATE_CODES } from '../rules/gate-codes.ts';

/** Poll interval of the lock. */
const LOOK_MS = 100;

export type CheckLockOptions = {
  /** Path of the lock file. */
  readonly path: string;
  readonly now: () => number;
  /** Deadline of the wait, on the clock of `now`. */
  readonly giveUpAt: number;
  readonly signal: AbortSignal;
};

/** Lock file for checks of a directory: in the Git directory, or without one, where no test runner scans. */
export async function checkLockPath(root: string, cacheDirectory: string, signal: AbortSignal): Promise<string> {
  const how = ['rev-parse', '--path-format=absolute', '--git-common-dir'];
  const { exitCode, stdout } = await tryGit(how, { cwd: root, env: environmentAt(root), signal });
  signal.throwIfAborted();
  if (exitCode === 0) return join(stdout.replace(/\n$/, ''), 'toolcrew', 'checks.lock');
  const directory = lockDirectory(tmpdir());
  const name = createHash('sha256').update(root).digest('hex').slice(0, 32);
  return join(ensurePrivateDirectory(directory) ? directory : cacheDirectory, `checks-${name}.lock`);
}

class LockTaken extends Error {
  readonly holder: LockHolder | null;

  constructor(holder: LockHolder | null) {
    super('it is taken');
    this.holder = holder;
  }
}

function refuse(holder: LockHolder | null): never {
  throw new LockTaken(holder);
}

/** undefined: no lock can be created, for example on a read-only file system. */
function lockAt(path: string): ProcessLock | LockTaken | undefined {
  try {
    mkdirSync(dirname(path), { recursive: true });
    return new ProcessLock({ path, workflow: 'checks', refuse, giveUp: () => refuse(null) });
  } catch (error) {
    return error instanceof LockTaken ? error : undefined;
  }
}

export type CheckLock = {
  readonly hasWaited: boolean;
  /** Duration of the last measurement here, ms; 0 if unknown. */
  readonly lastMs: number;
  /** @param tookMs duration of the measurement; null: nothing was measured */
  readonly release: (tookMs: number | null) => void;
};

/** Duration of the last measurement, ms, kept in a file beside the lock. */
function lastAt(path: string): number {
  try {
    const last = Number(readFileSync(`${path}.took`, 'utf8'));
    return Number.isFinite(last) ? last : 0;
  } catch {
    return 0;
  }
}

function keepLast(path: string, tookMs: number): void {
  try {
    writeFileSync(`${path}.took`, `${Math.round(tookMs)}\n`);
  } catch {
    // Optional: without the file, the duration is unknown.
  }
}

/**
 * Acquires the lock, or stops waiting once `isEnough` holds. Throws `checks_busy` at the deadline.
 * @returns null if `isEnough` holds
 */
export async function acquireCheckLock(
  { path, now, giveUpAt, signal }: CheckLockOptions,
  isEnough: () => boolean,
): Promise<CheckLock | null> {
  const askedAt = now();
  for (let hasWaited = false; !isEnough(); hasWaited = true) {
    signal.throwIfAborted();
    const lock = lockAt(path);
    if (!(lock instanceof LockTaken)) {
      const release = (tookMs: number | null) => {
        if (tookMs !== null) keepLast(path, tookMs);
        lock?.release();
      };
      return { hasWaited, lastMs: lastAt(path), release };
    }
    if (now() >= giveUpAt) throw busy(lock.holder, now() - askedAt);
    await delay(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
  return null;
}

function busy(holder: LockHolder | null, waitedMs: number): ToolError {
  const who = holder === null ? {} : { holder: describeHolder(holder) };
  return failure(GATE_CODES.checks_busy, { ...who, seconds: Math.round(waitedMs / 1000) });
}

/** Error for checks that have too little time left after waiting for others. */
export function noTimeLeft(): ToolError {
  return failure(GATE_CODES.checks_busy, {});
}
