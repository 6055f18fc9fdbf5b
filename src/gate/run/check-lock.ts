// Mutex for quality checks: one measurement at a time per repository, all its worktrees together.
// Concurrent test runs fail over shared ports, databases and timing, and no agent could fix that.

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensurePrivateDirectory, lockDirectory } from '../../base/files/lock-directory.ts';
import { describeHolder, JSON_FORMAT, type LockHolder, LockTaken, ProcessLock } from '../../base/files/process-lock.ts';
import { failure, type ToolError } from '../../base/rules/errors.ts';
import { tryGit } from '../../git/git.ts';
import { environmentAt } from '../../git/team-environment.ts';
import { GATE_CODES } from '../rules/gate-codes.ts';

/** Poll interval of the lock. */
const LOOK_MS = 100;
/** A teammate that was killed in namespaces of its own keeps the next one waiting until its last sign is old. */
const FORMAT = { ...JSON_FORMAT, signMs: 5_000, signLastsMs: 30_000 };

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
  let attempts = 0;
  const attempt = () => {
    if (isEnough()) return null;
    attempts += 1;
    try {
      return ProcessLock.tryTake({ path, workflow: 'checks', format: FORMAT });
    } catch {
      // No lock can be created, for example on a read-only file system: measure without one.
      return undefined;
    }
  };
  const lock = await ProcessLock.take(attempt, { lookMs: LOOK_MS, isOver: () => now() >= giveUpAt, signal });
  if (lock === null) return null;
  if (lock instanceof LockTaken) throw busy(lock.holder, now() - askedAt);
  const release = (tookMs: number | null) => {
    if (tookMs !== null) keepLast(path, tookMs);
    lock?.release();
  };
  return { hasWaited: attempts > 1, lastMs: lastAt(path), release };
}

function busy(holder: LockHolder | null, waitedMs: number): ToolError {
  const who = holder === null ? {} : { holder: describeHolder(holder) };
  return failure(GATE_CODES.checks_busy, { ...who, seconds: Math.round(waitedMs / 1000) });
}

/** Error for checks that have too little time left after waiting for others. */
export function noTimeLeft(): ToolError {
  return failure(GATE_CODES.checks_busy, {});
}
