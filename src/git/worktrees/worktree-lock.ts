// Lock of a repository's worktrees. One whose owner has exited is free once the git that the owner started has ended.

import { createHash } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { type LockFormat, LockTaken, ProcessLock } from '../../base/files/process-lock.ts';
import { processesWithVariable } from '../../base/processes/processes.ts';
import { failure } from '../../base/rules/errors.ts';
import { GIT_CODES } from '../rules/git-codes.ts';

const LOOK_MS = 20;
/** The lock is held for a few runs of git; in the largest repositories one takes minutes. */
const WAIT_MS = 600_000;
/** A dead holder's git ends by itself. */
const ORPHAN_MS = 30_000;

/** Marks each process that is started under the lock. */
const LOCK_VARIABLE = 'TOOL_TURN';

/** One field a line, readable for other users of a shared repository. */
const LINES: LockFormat = {
  write: ({ pid, start_time, since, namespace }) => `${pid}\n${start_time}\n${since}\n${namespace}\n`,
  read: (text) => {
    const [pid = '', start_time = '', since = '', namespace = ''] = text.split('\n');
    if (!/^[1-9]\d*$/.test(pid)) return undefined;
    return { pid: Number(pid), host: hostname(), namespace, start_time, since, workflow: '', url: null };
  },
  mode: 0o644,
  signMs: 1_000,
  signLastsMs: 15_000,
};

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
      const lock = await this.#enter();
      try {
        await this.#outliveOrphans();
        writeFileSync(this.#begun, '');
        return await act();
      } finally {
        // Another process may have taken the lock for a dead one's, and be at work.
        if (lock.isHeld) rmSync(this.#begun, { force: true });
        lock.release();
      }
    })();
    this.#last = held;
    return held;
  }

  async #enter(): Promise<ProcessLock> {
    const path = this.#lock;
    const giveUpAt = Date.now() + WAIT_MS;
    const lock = await ProcessLock.take(() => ProcessLock.tryTake({ path, workflow: '', format: LINES }), {
      lookMs: LOOK_MS,
      isOver: () => Date.now() >= giveUpAt,
    });
    if (!(lock instanceof LockTaken)) return lock;
    const pid = String(lock.holder?.pid ?? 'unknown');
    throw failure(GIT_CODES.team_branches_locked, { path, pid, minutes: WAIT_MS / 60_000 });
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
    while (marks.some((mark) => processesWithVariable(mark).length > 0) && Date.now() < giveUpAt);
  }
}
