// Lock file that names its owner process. A lock whose owner has exited is free.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hasExited, pidNamespace, processStartTime } from '../processes/processes.ts';
import { errorCode } from '../rules/errors.ts';
import { isObject } from '../rules/values.ts';
import { linkExclusive } from './create-exclusive.ts';

export type LockHolder = {
  readonly pid: number;
  readonly host: string;
  /** Namespace in which `pid` counts; empty: the system has none, or the holder did not write it. */
  readonly namespace: string;
  /** Start of the process, which tells it from a later one with the same pid; null: the kernel does not say. */
  readonly start_time: string | null;
  readonly since: string;
  /** Work that the lock is held for. */
  readonly workflow: string;
  readonly url: string | null;
};

/** Text and life signs of a lock. They never change for a path: older releases that still run read the same file. */
export type LockFormat = {
  readonly write: (holder: LockHolder) => string;
  /** undefined: the text names nobody. */
  readonly read: (text: string) => LockHolder | undefined;
  readonly mode: number;
  /** Interval of the holder's life signs, ms. */
  readonly signMs: number;
  /** A holder of another machine or namespace counts for this long after its last life sign, ms. */
  readonly signLastsMs: number;
};

export const JSON_FORMAT: LockFormat = {
  write: (holder) => JSON.stringify(holder),
  read: parseHolder,
  mode: 0o600,
  signMs: 20_000,
  signLastsMs: 90_000,
};

/** Text of a lock file; empty if it cannot be read, undefined if there is none. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? undefined : '';
  }
}

function parseHolder(text: string): LockHolder | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) return undefined;
    const { pid, host, namespace, start_time, since, workflow, url } = value;
    if (
      typeof pid !== 'number' ||
      typeof host !== 'string' ||
      typeof since !== 'string' ||
      typeof workflow !== 'string'
    )
      return undefined;
    return {
      pid,
      host,
      since,
      workflow,
      namespace: typeof namespace === 'string' ? namespace : '',
      start_time: typeof start_time === 'string' ? start_time : null,
      url: typeof url === 'string' ? url : null,
    };
  } catch {
    return undefined;
  }
}

/** Whether the holder's pid counts in this process. */
function isFromHere({ host, namespace }: LockHolder): boolean {
  return host === hostname() && (namespace === '' || namespace === pidNamespace());
}

function isAlive(path: string, holder: LockHolder, signLastsMs: number): boolean {
  if (!isFromHere(holder)) {
    const signAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    return signAt !== undefined && Date.now() - signAt < signLastsMs;
  }
  if (hasExited(holder.pid)) return false;
  const started = processStartTime(holder.pid);
  return holder.start_time === null || started === null || started === holder.start_time;
}

/** Holder named by a lock's text; undefined: nobody, or a process that has exited. */
function livingHolder(path: string, text: string, { read, signLastsMs }: LockFormat): LockHolder | undefined {
  const holder = read(text);
  return holder !== undefined && isAlive(path, holder, signLastsMs) ? holder : undefined;
}

/** undefined: the lock is free. */
export function readLockHolder(path: string, format = JSON_FORMAT): LockHolder | undefined {
  return livingHolder(path, textOf(path) ?? '', format);
}

/** `process 12`, with the machine if it is another one. */
export function describeHolder({ pid, host }: LockHolder): string {
  return `process ${pid}${host === hostname() ? '' : ` on ${host}`}`;
}

function tryLink(from: string, to: string): boolean {
  try {
    linkExclusive(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Refusal of a lock that another process or call holds. */
export class LockTaken {
  /** null: unknown, because others take the lock again and again. */
  readonly holder: LockHolder | null;

  constructor(holder: LockHolder | null) {
    this.holder = holder;
  }
}

export type ProcessLockOptions = {
  readonly path: string;
  readonly workflow: string;
  readonly format?: LockFormat;
};

export type LockWait = {
  /** Interval of the attempts, ms. */
  readonly lookMs: number;
  /** Whether the wait has reached its limit. */
  readonly isOver: () => boolean;
  readonly signal?: AbortSignal;
};

export class ProcessLock {
  readonly #path: string;
  readonly #format: LockFormat;
  readonly #own: LockHolder;
  /** Content of the lock file while this process holds it. */
  #text: string;
  #timer: NodeJS.Timeout | undefined;

  private constructor({ path, workflow, format = JSON_FORMAT }: ProcessLockOptions) {
    this.#path = path;
    this.#format = format;
    this.#own = {
      pid: process.pid,
      host: hostname(),
      namespace: pidNamespace(),
      start_time: processStartTime(process.pid),
      since: new Date().toISOString(),
      workflow,
      url: null,
    };
    this.#text = format.write(this.#own);
  }

  /** Takes the lock if it is free. Throws if no lock file can be created. */
  static tryTake(options: ProcessLockOptions): ProcessLock | LockTaken {
    // Reading costs less than an attempt.
    const holder = readLockHolder(options.path, options.format);
    if (holder !== undefined) return new LockTaken(holder);
    const lock = new ProcessLock(options);
    return lock.#take() ?? lock;
  }

  /**
   * Repeats an attempt until it gives something else than `LockTaken`, or the wait is over. Throws when aborted.
   * @param attempt calls `tryTake`, or gives the caller's reason not to need the lock
   */
  static async take<T>(attempt: () => T | LockTaken, { lookMs, isOver, signal }: LockWait): Promise<T | LockTaken> {
    for (;;) {
      signal?.throwIfAborted();
      const result = attempt();
      if (!(result instanceof LockTaken) || isOver()) return result;
      await delay(lookMs, undefined, { signal }).catch(() => undefined);
    }
  }

  #take(): LockTaken | undefined {
    mkdirSync(dirname(this.#path), { recursive: true });
    // Unique among living processes: the same pid may be another process in another namespace.
    const mine = `${this.#path}.mine.${process.pid}${this.#own.namespace.replaceAll(/\D/g, '')}`;
    try {
      // An earlier process with this pid may have left it as a second name of the lock itself.
      rmSync(mine, { force: true });
      writeFileSync(mine, this.#text, { mode: this.#format.mode });
      for (let tries = 0; tries < 20; tries++) {
        if (tryLink(mine, this.#path)) {
          this.#timer = setInterval(() => this.#sign(), this.#format.signMs).unref();
          return undefined;
        }
        const found = textOf(this.#path);
        // Released meanwhile.
        if (found === undefined) continue;
        const holder = livingHolder(this.#path, found, this.#format) ?? this.#clear(mine, found);
        if (holder !== undefined) return new LockTaken(holder);
      }
      return new LockTaken(null);
    } finally {
      rmSync(mine, { force: true });
    }
  }

  /**
   * Removes the lock of a dead holder, and no other. Reading and removing are two steps, and a living process may take the lock
   * in between. So the processes first compete for the right to remove: a link named after the dead lock's text, which no other
   * lock ever has. The right of a process that died with it passes to the next, named after both texts.
   * @returns the living process that has the right, if there is one
   */
  #clear(mine: string, dead: string): LockHolder | undefined {
    const rightAfter = (...texts: readonly string[]) =>
      `${this.#path}.over.${createHash('sha256').update(texts.join('\0')).digest('hex').slice(0, 32)}`;
    const before: { readonly right: string; readonly text: string }[] = [];
    let right = rightAfter(dead);
    while (!tryLink(mine, right)) {
      const text = textOf(right);
      // Another process has removed the lock.
      if (text === undefined) return undefined;
      const other = livingHolder(right, text, this.#format);
      if (other !== undefined) return other;
      before.push({ right, text });
      right = rightAfter(dead, ...before.map((one) => one.text));
    }
    try {
      // A holder on another machine may have given a life sign since.
      if (livingHolder(this.#path, dead, this.#format) !== undefined) return undefined;
      // Last, because older releases remove a dead worktree lock without this right.
      if (textOf(this.#path) === dead) rmSync(this.#path, { force: true });
      for (const one of before) rmSync(one.right, { force: true });
    } finally {
      rmSync(right, { force: true });
    }
    return undefined;
  }

  /** false: another process took this one for dead, and took the lock. */
  get isHeld(): boolean {
    return textOf(this.#path) === this.#text;
  }

  #sign(): void {
    try {
      if (this.isHeld) utimesSync(this.#path, new Date(), new Date());
    } catch {
      // Only other machines and namespaces need the sign; a lock that gives none is free for them.
    }
  }

  /** Writes the address of the status page into the lock, for processes that are refused. */
  announce(url: string | null): void {
    const text = this.#format.write({ ...this.#own, url });
    writeFileSync(`${this.#path}.url`, text, { mode: this.#format.mode });
    renameSync(`${this.#path}.url`, this.#path);
    this.#text = text;
  }

  release(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.isHeld) rmSync(this.#path, { force: true });
  }
}
