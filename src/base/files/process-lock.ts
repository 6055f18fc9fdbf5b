// A file that says which process holds something, which one does at a time; who is dead holds nothing.

import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { hasExited, pidNamespace, processStartTime } from '../processes/processes.ts';
import { linkExclusive } from './create-exclusive.ts';

export type LockHolder = {
  readonly pid: number;
  readonly host: string;
  /** In which its number counts; empty where there are none, or where nobody said it. */
  readonly namespace: string;
  /** When the kernel started the process, so that a reused pid is not taken for the holder; null where it does not tell. */
  readonly start_time: string | null;
  readonly since: string;
  /** What it is at. */
  readonly workflow: string;
  readonly url: string | null;
};

/** A lock of another machine, or of another namespace, counts as given up when it was not touched for so long. */
const FOREIGN_STALE_MS = 90_000;
const TOUCH_MS = 20_000;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** What is in a lock: nothing where that cannot be read, undefined where there is none. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT' ? undefined : '';
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

/** Whether its number says anything here. */
function isFromHere({ host, namespace }: LockHolder): boolean {
  return host === hostname() && (namespace === '' || namespace === pidNamespace());
}

function holds(path: string, holder: LockHolder): boolean {
  if (!isFromHere(holder)) {
    try {
      return Date.now() - statSync(path).mtimeMs < FOREIGN_STALE_MS;
    } catch {
      return false;
    }
  }
  if (hasExited(holder.pid)) return false;
  const started = processStartTime(holder.pid);
  return holder.start_time === null || started === null || started === holder.start_time;
}

/** Who is said to hold a lock by what was found in it, and is there; undefined where that is nobody. */
function livingHolder(path: string, text: string): LockHolder | undefined {
  const holder = parseHolder(text);
  return holder !== undefined && holds(path, holder) ? holder : undefined;
}

/** Who holds the lock now; undefined when nobody does. */
export function readLockHolder(lock: string): LockHolder | undefined {
  return livingHolder(lock, textOf(lock) ?? '');
}

/** `process 12`, with the machine where it is not this one. */
export function describeHolder({ pid, host }: LockHolder): string {
  return `process ${pid}${host === hostname() ? '' : ` on ${host}`}`;
}

export type ProcessLockOptions = {
  readonly path: string;
  readonly workflow: string;
  /** Throws the error of somebody who came second. */
  readonly refuse: (holder: LockHolder) => never;
  /** Throws when others take it all the time. */
  readonly giveUp: () => never;
};

/** Held from here until it is released; throws when somebody else holds it. */
export class ProcessLock {
  readonly #options: ProcessLockOptions;
  readonly #lock: string;
  readonly #own: LockHolder;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ProcessLockOptions) {
    this.#options = options;
    this.#lock = options.path;
    this.#own = {
      pid: process.pid,
      host: hostname(),
      namespace: pidNamespace(),
      start_time: processStartTime(process.pid),
      since: new Date().toISOString(),
      workflow: options.workflow,
      url: null,
    };
    this.#take();
    this.#timer = setInterval(() => this.#touch(), TOUCH_MS);
    this.#timer.unref();
  }

  #take(): void {
    // A name that no other process uses: the same number may be another's in another namespace.
    const mine = `${this.#lock}.mine.${process.pid}${this.#own.namespace.replaceAll(/\D/g, '')}`;
    try {
      // Of a dead process with this number it may be the lock itself, by its other name.
      rmSync(mine, { force: true });
      writeFileSync(mine, JSON.stringify(this.#own), { mode: 0o600 });
      for (let tries = 0; tries < 20; tries++) {
        if (this.#tryLink(mine, this.#lock)) return;
        const found = textOf(this.#lock);
        // Given back since.
        if (found === undefined) continue;
        const holder = livingHolder(this.#lock, found);
        if (holder !== undefined) this.#options.refuse(holder);
        this.#clear(mine, found);
      }
    } finally {
      rmSync(mine, { force: true });
    }
    this.#options.giveUp();
  }

  #tryLink(from: string, to: string): boolean {
    try {
      linkExclusive(from, to);
      return true;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
      throw error;
    }
  }

  /**
   * Takes a dead holder's lock away, and no other. A look and the taking away are two steps, and a living one may have its lock in
   * between: so who may do it is settled first, by a link that is named after what the dead one left, which no other lock ever
   * holds. A right of somebody who died with it is followed by the next one, named after both.
   */
  #clear(mine: string, dead: string): void {
    const rightAfter = (...texts: readonly string[]) =>
      `${this.#lock}.over.${createHash('sha256').update(texts.join('\0')).digest('hex').slice(0, 32)}`;
    const before: { readonly right: string; readonly text: string }[] = [];
    let right = rightAfter(dead);
    while (!this.#tryLink(mine, right)) {
      const text = textOf(right);
      // It is done, by somebody else.
      if (text === undefined) return;
      const other = livingHolder(right, text);
      if (other !== undefined) this.#options.refuse(other);
      before.push({ right, text });
      right = rightAfter(dead, ...before.map((one) => one.text));
    }
    try {
      // From another machine a sign of life may have come since.
      if (textOf(this.#lock) === dead) {
        if (livingHolder(this.#lock, dead) !== undefined) return;
        rmSync(this.#lock, { force: true });
      }
      for (const one of before) rmSync(one.right, { force: true });
    } finally {
      rmSync(right, { force: true });
    }
  }

  #touch(): void {
    try {
      utimesSync(this.#lock, new Date(), new Date());
    } catch {
      // The lock's age matters to other machines only; a failing touch is seen there.
    }
  }

  /** Says in the lock where the status page is, for whoever is refused. */
  announce(url: string | null): void {
    writeFileSync(`${this.#lock}.url`, JSON.stringify({ ...this.#own, url }), { mode: 0o600 });
    renameSync(`${this.#lock}.url`, this.#lock);
  }

  release(): void {
    clearInterval(this.#timer);
    if (this.#timer === undefined) return;
    this.#timer = undefined;
    const holder = parseHolder(textOf(this.#lock) ?? '');
    const { pid, since, namespace } = this.#own;
    // Somebody may have taken it for a dead one's.
    if (holder?.pid === pid && holder.since === since && holder.namespace === namespace)
      rmSync(this.#lock, { force: true });
  }
}
