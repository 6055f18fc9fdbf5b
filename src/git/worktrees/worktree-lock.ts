// Lock between all processes. One whose owner has exited is free once the git that the owner started has ended.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { renameExclusive } from '../../base/files/create-exclusive.ts';
import { hasExited, pidNamespace, processesMarked, processStartTime } from '../../base/processes/processes.ts';
import { failure } from '../../base/rules/errors.ts';
import { GIT_CODES } from '../rules/git-codes.ts';

const LOOK_MS = 20;
/** The lock is held for a few runs of git; in the largest repositories one takes minutes. */
const WAIT_MS = 600_000;
/** A dead holder's git ends by itself. */
const ORPHAN_MS = 30_000;
/** Of a holder whose number says nothing here, the life signs do: so often it gives one, and so long it counts. */
const SIGN_MS = 1_000;
const SIGN_LASTS_MS = 15_000;

/** Marks each process that is started under the lock. */
const LOCK_VARIABLE = 'TOOL_TURN';

const namespace = pidNamespace();

let count = 0;

function numberIn(text: string | undefined): number | null {
  const value = Number.parseInt(text ?? '', 10);
  return Number.isSafeInteger(value) && value > 0 ? value : null;
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** Whether a lock's text names a process that lives, or one that was alive just now. */
function isHeld(lock: string, text: string): boolean {
  const [pid, started, , place = ''] = text.split('\n');
  if (place !== '' && place !== namespace) {
    const at = statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
    return at !== undefined && Date.now() - at < SIGN_LASTS_MS;
  }
  const number = numberIn(pid);
  return number !== null && !hasExited(number) && String(processStartTime(number)) === started;
}

function tryName(mine: string, lock: string): boolean {
  try {
    renameExclusive(mine, lock);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Takes a dead holder's lock away; one that somebody took meanwhile is put back. */
function setAside(lock: string, dead: string, name: string): void {
  const aside = `${lock}.${name}.aside`;
  try {
    renameSync(lock, aside);
  } catch {
    return;
  }
  if (read(aside) !== dead && !existsSync(lock)) renameSync(aside, lock);
  else rmSync(aside, { force: true });
}

/** A queue for the processes that share the file `lock`, and for the calls within this one. */
export class WorktreeLock {
  readonly #lock: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(lock: string) {
    this.#lock = lock;
  }

  /** For the environment of each process started under the lock: by this, the next owner finds it after a death. */
  get mark(): Readonly<Record<string, string>> {
    return { [LOCK_VARIABLE]: createHash('sha256').update(this.#lock).digest('hex').slice(0, 16) };
  }

  async take<T>(act: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const held = (async () => {
      await before.catch(() => undefined);
      const mine = await this.#enter();
      const signs = setInterval(() => this.#sign(mine), SIGN_MS);
      try {
        return await act();
      } finally {
        clearInterval(signs);
        // Somebody may have taken it for a dead one's, and be at work.
        if (read(this.#lock) === mine) {
          rmSync(this.#begun, { force: true });
          rmSync(this.#lock, { force: true });
        }
      }
    })();
    this.#last = held;
    return held;
  }

  #sign(mine: string): void {
    const now = new Date();
    try {
      if (read(this.#lock) === mine) utimesSync(this.#lock, now, now);
    } catch {
      // Somebody took it for a dead one's: there is nothing left to keep.
    }
  }

  /** Gives the text of the lock file while this call holds it. */
  async #enter(): Promise<string> {
    mkdirSync(dirname(this.#lock), { recursive: true });
    // The same number may be another process's in another namespace.
    const name = `${process.pid}.${namespace.replaceAll(/\D/g, '')}.${count++}`;
    const mine = `${this.#lock}.${name}`;
    const words = `${process.pid}\n${processStartTime(process.pid)}\n${name}\n${namespace}\n`;
    writeFileSync(mine, words);
    const giveUpAt = Date.now() + WAIT_MS;
    try {
      while (!tryName(mine, this.#lock)) {
        const held = read(this.#lock);
        if (held !== null && !isHeld(this.#lock, held)) setAside(this.#lock, held, name);
        else if (Date.now() < giveUpAt) await delay(held === null ? 1 : LOOK_MS);
        else
          throw failure(GIT_CODES.team_branches_locked, {
            path: this.#lock,
            pid: held?.split('\n')[0] ?? 'unknown',
            minutes: WAIT_MS / 60_000,
          });
      }
    } finally {
      rmSync(mine, { force: true });
    }
    await this.#outliveOrphans();
    writeFileSync(this.#begun, '');
    return words;
  }

  /** Exists while the lock is held; an owner that dies leaves it. */
  get #begun(): string {
    return `${this.#lock}.git`;
  }

  async #outliveOrphans(): Promise<void> {
    if (!existsSync(this.#begun)) return;
    const marks = Object.entries(this.mark).map(([name, value]) => `${name}=${value}`);
    const giveUpAt = Date.now() + ORPHAN_MS;
    // One that was being started as its starter died shows its mark a moment later.
    do await delay(LOOK_MS);
    while (marks.some((mark) => processesMarked(mark).length > 0) && Date.now() < giveUpAt);
  }
}
