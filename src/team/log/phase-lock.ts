// Lock for the steps of a team that code takes: one process at a time. A lock whose owner has exited is free.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ensurePrivateDirectory, lockDirectory } from '../../base/files/lock-directory.ts';
import { describeHolder, type LockHolder, ProcessLock, readLockHolder } from '../../base/files/process-lock.ts';
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

class Busy extends Error {
  readonly holder: LockHolder | null;

  constructor(holder: LockHolder | null) {
    super('it is taken');
    this.holder = holder;
  }
}

function refuse(holder: LockHolder | null): never {
  throw new Busy(holder);
}

/** undefined: there is no lock to be had in that place. Throws `Busy`. */
function lockIn(directory: string, name: string, team: string): ProcessLock | undefined {
  if (!ensurePrivateDirectory(directory)) return undefined;
  const path = join(directory, `${name}.lock`);
  // A look costs less than a try.
  const holder = readLockHolder(path);
  if (holder !== undefined) refuse(holder);
  try {
    return new ProcessLock({ path, workflow: team, refuse, giveUp: () => refuse(null) });
  } catch (error) {
    if (error instanceof Busy) throw error;
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
    for (;;) {
      const lock = this.#enter(name, team);
      if (!(lock instanceof Busy))
        try {
          return { ok: true, value: await act() };
        } finally {
          held.delete(name);
          lock?.release();
        }
      if (performance.now() >= giveUpAt)
        return { ok: false, holder: lock.holder === null ? 'another call' : describeHolder(lock.holder) };
      await delay(LOOK_MS);
    }
  }

  /** undefined: there is no place for a lock, and what the log says has to do. */
  #enter(name: string, team: string): ProcessLock | Busy | undefined {
    if (held.has(name)) return new Busy(null);
    try {
      let lock: ProcessLock | undefined;
      for (const directory of this.#options.directories) lock ??= lockIn(directory, name, team);
      held.add(name);
      return lock;
    } catch (error) {
      if (error instanceof Busy) return error;
      throw error;
    }
  }
}
