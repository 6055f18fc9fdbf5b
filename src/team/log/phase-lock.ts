// One process at a time takes the steps of a team that are code's: whoever dies in its turn loses it.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isOwnPlace, turnsPlace } from '../../base/files/lock-directory.ts';
import { HeldLock, type Holder, holderOf, holderWords } from '../../base/files/process-lock.ts';
import type { Taken, Turn } from '../ports.ts';

/** Less than what the shortest of the hooks that wait has, which is a minute. */
const PATIENCE_MS = 45_000;
const LOOK_MS = 20;

/**
 * Where locks are. The first place is fixed: whatever a shell calls its directory for temporary files, it waits for the same turn
 * as the host around it.
 * @param state the directory of what belongs to the project but not into it
 */
export function turnPlaces(state: string): readonly string[] {
  return [turnsPlace('/tmp'), join(state, 'turns')];
}

export type PhaseTurnOptions = {
  /** The checkout that holds the project's teams. */
  readonly project: string;
  /** Directories for locks: the first one that is this user's own and can be written to is used. */
  readonly places: readonly string[];
  readonly patienceMs?: number;
};

/** Turns that are held in this process. */
const held = new Set<string>();

class Busy extends Error {
  readonly holder: Holder | null;

  constructor(holder: Holder | null) {
    super('it is taken');
    this.holder = holder;
  }
}

function refuse(holder: Holder | null): never {
  throw new Busy(holder);
}

/** undefined: there is no lock to be had in that place. Throws `Busy`. */
function lockIn(place: string, name: string, team: string): HeldLock | undefined {
  if (!isOwnPlace(place)) return undefined;
  const path = join(place, `${name}.lock`);
  // A look costs less than a try.
  const holder = holderOf(path);
  if (holder !== undefined) refuse(holder);
  try {
    return new HeldLock({ path, workflow: team, refuse, giveUp: () => refuse(null) });
  } catch (error) {
    if (error instanceof Busy) throw error;
    return undefined;
  }
}

export class PhaseTurn implements Turn {
  readonly #options: PhaseTurnOptions;

  constructor(options: PhaseTurnOptions) {
    this.#options = options;
  }

  async take<T>(team: string, act: () => Promise<T>): Promise<Taken<T>> {
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
        return { ok: false, holder: lock.holder === null ? 'another call' : holderWords(lock.holder) };
      await delay(LOOK_MS);
    }
  }

  /** undefined: there is no place for a lock, and what the log says has to do. */
  #enter(name: string, team: string): HeldLock | Busy | undefined {
    if (held.has(name)) return new Busy(null);
    try {
      let lock: HeldLock | undefined;
      for (const place of this.#options.places) lock ??= lockIn(place, name, team);
      held.add(name);
      return lock;
    } catch (error) {
      if (error instanceof Busy) return error;
      throw error;
    }
  }
}
