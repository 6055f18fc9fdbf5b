// Who measures: one at a time in a repository, all its worktrees together. Tests that run beside others fail for ports,
// databases and times that they share, and nobody could mend that.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { BusyError } from '../../domain/errors.ts';
import { tryGit } from '../git/git.ts';
import { environmentAt } from '../git/team-environment.ts';
import { HeldLock, type Holder, holderWords } from '../held-lock.ts';
import { isOwnPlace, turnsPlace } from '../turns-place.ts';

/** How often it is looked whether the others have ended. */
const LOOK_MS = 100;

export type TurnOptions = {
  /** The lock of those that take turns. */
  readonly path: string;
  readonly now: () => number;
  /** When to wait no longer, by `now`. */
  readonly giveUpAt: number;
  readonly signal: AbortSignal;
};

/** The lock for what is measured in a directory: in the repository, or, without one, in no place that test runners look through. */
export async function turnPath(root: string, cacheDirectory: string, signal: AbortSignal): Promise<string> {
  const how = ['rev-parse', '--path-format=absolute', '--git-common-dir'];
  const { exitCode, stdout } = await tryGit(how, { cwd: root, env: environmentAt(root), signal });
  signal.throwIfAborted();
  if (exitCode === 0) return join(stdout.replace(/\n$/, ''), 'toolcrew', 'checks.lock');
  const place = turnsPlace(tmpdir());
  const name = createHash('sha256').update(root).digest('hex').slice(0, 32);
  return join(isOwnPlace(place) ? place : cacheDirectory, `checks-${name}.lock`);
}

class Taken extends Error {
  readonly holder: Holder | null;

  constructor(holder: Holder | null) {
    super('it is taken');
    this.holder = holder;
  }
}

function refuse(holder: Holder | null): never {
  throw new Taken(holder);
}

/** undefined: there is no lock to be had, as where nothing can be written. */
function lockAt(path: string): HeldLock | Taken | undefined {
  try {
    mkdirSync(dirname(path), { recursive: true });
    return new HeldLock({ path, workflow: 'checks', refuse, giveUp: () => refuse(null) });
  } catch (error) {
    return error instanceof Taken ? error : undefined;
  }
}

export type Turn = {
  readonly hasWaited: boolean;
  /** How long what was measured here last took, ms; 0 where nobody knows. */
  readonly lastMs: number;
  /** @param tookMs how long it was measured; null when nothing was */
  readonly end: (tookMs: number | null) => void;
};

/** How long the last one measured is kept beside the lock. */
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
    // Nobody has to know it.
  }
}

/**
 * Waits until nobody else measures, or until `isEnough`. Throws `BusyError` when it may wait no longer.
 * @returns null when it was enough
 */
export async function takeTurn(
  { path, now, giveUpAt, signal }: TurnOptions,
  isEnough: () => boolean,
): Promise<Turn | null> {
  const askedAt = now();
  for (let hasWaited = false; !isEnough(); hasWaited = true) {
    signal.throwIfAborted();
    const lock = lockAt(path);
    if (!(lock instanceof Taken)) {
      const end = (tookMs: number | null) => {
        if (tookMs !== null) keepLast(path, tookMs);
        lock?.release();
      };
      return { hasWaited, lastMs: lastAt(path), end };
    }
    if (now() >= giveUpAt) throw busy(lock.holder, now() - askedAt);
    await delay(LOOK_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
  return null;
}

function busy(holder: Holder | null, waitedMs: number): BusyError {
  const who = holder === null ? '' : ` (${holderWords(holder)})`;
  return new BusyError(
    `not measured: the checks of others${who} were still running after ${Math.round(waitedMs / 1000)} s, and one runs at a time in a repository`,
  );
}

/** For checks that had less time than they may take, since others were waited for. */
export function cutShort(): BusyError {
  return new BusyError('not measured: the checks of others ran first, and left too little time');
}
