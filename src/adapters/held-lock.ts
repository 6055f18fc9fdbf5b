// A file that says which process holds something, which one does at a time; who is dead holds nothing.

import { linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { isOver, pidNamespace, processStartTime } from './processes.ts';

export type Holder = {
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

function readHolder(path: string): Holder | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
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
function isFromHere({ host, namespace }: Holder): boolean {
  return host === hostname() && (namespace === '' || namespace === pidNamespace());
}

function holds(path: string, holder: Holder): boolean {
  if (!isFromHere(holder)) {
    try {
      return Date.now() - statSync(path).mtimeMs < FOREIGN_STALE_MS;
    } catch {
      return false;
    }
  }
  if (isOver(holder.pid)) return false;
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
    const mine = this.#beside('mine');
    try {
      // Of a dead process with this number it may be the lock itself, by its other name.
      rmSync(mine, { force: true });
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

  /** A name that no other process uses: the same number may be another's in another namespace. */
  #beside(what: string): string {
    return `${this.#lock}.${what}.${process.pid}${this.#own.namespace.replaceAll(/\D/g, '')}`;
  }

  #tryLink(from: string): boolean {
    try {
      linkSync(from, this.#lock);
      return true;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
      throw error;
    }
  }

  /** Takes a dead holder's lock out of the way; one that somebody took meanwhile is put back. */
  #setAside(dead: Holder | undefined): void {
    const aside = this.#beside('aside');
    const isOther = (one: Holder | undefined) =>
      one !== undefined && (one.pid !== dead?.pid || one.since !== dead.since);
    if (isOther(readHolder(this.#lock))) return;
    try {
      renameSync(this.#lock, aside);
    } catch {
      return;
    }
    const taken = readHolder(aside);
    // Never over one that was made in the meantime.
    if (taken !== undefined && isOther(taken) && holds(aside, taken)) this.#tryLink(aside);
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
    const holder = readHolder(this.#lock);
    const { pid, since, namespace } = this.#own;
    // Somebody may have taken it for a dead one's.
    if (holder?.pid === pid && holder.since === since && holder.namespace === namespace)
      rmSync(this.#lock, { force: true });
  }
}
