// Lock for the steps of a team that code takes: one process at a time. A lock whose owner has exited is free.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ensurePrivateDirectory, lockDirectory } from '../../base/files/lock-directory.ts';
import { describeHolder, LockTaken, ProcessLock } from '../../base/files/process-lock.ts';
import type { PhaseLock, PhaseLockResult } from '../ports.ts';

/** Less than what the shortest of the hooks that wait has, which is a minute. */
const PATIENCE_MS = 45_000;
const LOOK_MS = 20;

/**
 * Where locks are. The first place is fixed: whatever a shell calls its directory for temporary files, it waits for the same lock
 * as the host around it.
 * @param state the directory of what belongs to the project but not into it
 */
export function phaseLockDirectories(state: string): readonly string[] {
  return [lockDirectory('/tmp'), join(state, 'turns')];
}

export type FilePhaseLockOptions = {
  /** The checkout that holds the project's teams. */
  readonly project: string;
  /** Directories for locks: the first one that is this user's own and can be written to is used. */
  readonly directories: readonly string[];
  readonly patienceMs?: number;
};

/** Locks that this process holds. */
const held = new Set<string>();

/** undefined: no lock can be created in that directory. */
function lockIn(directory: string, name: string, team: string): ProcessLock | LockTaken | undefined {
  if (!ensurePrivateDirectory(directory)) return undefined;
  try {
    return ProcessLock.tryTake({ path: join(directory, `${name}.lock`), workflow: team });
  } catch {
    return undefined;
  }
}

export class FilePhaseLock implements PhaseLock {
  readonly #options: FilePhaseLockOptions;

  constructor(options: FilePhaseLockOptions) {
    this.#options = options;
  }

  async take<T>(team: string, act: () => Promise<T>): Promise<PhaseLockResult<T>> {
    const { project, patienceMs = PATIENCE_MS } = this.#options;
    const name = createHash('sha256').update(`${project}\0${team}`).digest('hex').slice(0, 32);
    const giveUpAt = performance.now() + patienceMs;
    const isOver = () => performance.now() >= giveUpAt;
    const lock = await ProcessLock.take(() => this.#tryTake(name, team), { lookMs: LOOK_MS, isOver });
    if (lock instanceof LockTaken)
      return { ok: false, holder: lock.holder === null ? 'another call' : describeHolder(lock.holder) };
    try {
      return { ok: true, value: await act() };
    } finally {
      held.delete(name);
      lock?.release();
    }
  }

  /** undefined: no lock can be created; then only the log decides between processes. */
  #tryTake(name: string, team: string): ProcessLock | LockTaken | undefined {
    if (held.has(name)) return new LockTaken(null);
    let lock: ProcessLock | LockTaken | undefined;
    for (const directory of this.#options.directories) lock ??= lockIn(directory, name, team);
    if (!(lock instanceof LockTaken)) held.add(name);
    return lock;
  }
}
