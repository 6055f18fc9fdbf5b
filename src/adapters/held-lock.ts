// A file that says which process holds something, which one does at a time; who is dead holds nothing.

import { existsSync, linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { isAlive, processStartTime } from './processes.ts';

export type Holder = {
  readonly pid: number;
  readonly host: string;
  /** When the kernel started the process, so that a reused pid is not taken for the holder; null where it does not tell. */
  readonly start_time: string | null;
  readonly since: string;
  /** What it is at. */
  readonly workflow: string;
  readonly url: string | null;
};

/** A lock of another machine counts as given up when it was not touched for so long. */
const FOREIGN_STALE_MS = 90_000;
const TOUCH_MS = 20_000;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function readHolder(path: string): Holder | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (!isObject(value)) return undefined;
    const { pid, host, start_time, since, workflow, url } = value;
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
      start_time: typeof start_time === 'string' ? start_time : null,
      url: typeof url === 'string' ? url : null,
    };
  } catch {
    return undefined;
  }
}

function holds(path: string, holder: Holder): boolean {
  if (holder.host !== hostname()) {
    try {
      return Date.now() - statSync(path).mtimeMs < FOREIGN_STALE_MS;
    } catch {
      return false;
    }
  }
  if (!isAlive(holder.pid)) return false;
  const started = processStartTime(holder.pid);
  return holder.start_time === null || started === null || started === holder.start_time;
}

/** Who holds the lock now; undefined when nobody does. */
export function holderOf(lock: string): Holder | undefined {
  const holder = readHolder(lock);
  return holder !== undefined && holds(lock, holder) ? holder : undefined;
}

/** `process 12`, with the machine where it is not this one. */
export function holderWords({ pid, host }: Holder): string {
  return `process ${pid}${host === hostname() ? '' : ` on ${host}`}`;
}

export type HeldLockOptions = {
  readonly path: string;
  readonly workflow: string;
  /** Throws the error of somebody who came second. */
  readonly refuse: (holder: Holder) => never;
  /** Throws when others take it all the time. */
  readonly giveUp: () => never;
};

/** Held from here until it is released; throws when somebody else holds it. */
export class HeldLock {
  readonly #options: HeldLockOptions;
  readonly #lock: string;
  readonly #own: Holder;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HeldLockOptions) {
    this.#options = options;
    this.#lock = options.path;
    this.#own = {
      pid: process.pid,
      host: hostname(),
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
    const mine = `${this.#lock}.${process.pid}`;
    try {
      writeFileSync(mine, JSON.stringify(this.#own), { mode: 0o600 });
      for (let tries = 0; tries < 20; tries++) {
        if (this.#tryLink(mine)) return;
        const holder = readHolder(this.#lock);
        if (holder !== undefined && holds(this.#lock, holder)) this.#options.refuse(holder);
        this.#setAside(holder);
      }
    } finally {
      rmSync(mine, { force: true });
    }
    this.#options.giveUp();
  }

  #tryLink(mine: string): boolean {
    try {
      linkSync(mine, this.#lock);
      return true;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
      throw error;
    }
  }

  /** Takes a dead holder's lock out of the way; one that somebody took meanwhile is put back. */
  #setAside(dead: Holder | undefined): void {
    const aside = `${this.#lock}.aside.${process.pid}`;
    try {
      renameSync(this.#lock, aside);
    } catch {
      return;
    }
    const taken = readHolder(aside);
    if (
      taken !== undefined &&
      (dead === undefined || taken.pid !== dead.pid || taken.since !== dead.since) &&
      holds(aside, taken)
    ) {
      if (!existsSync(this.#lock)) renameSync(aside, this.#lock);
      return;
    }
    rmSync(aside, { force: true });
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
    if (readHolder(this.#lock)?.pid === process.pid) rmSync(this.#lock, { force: true });
  }
}
