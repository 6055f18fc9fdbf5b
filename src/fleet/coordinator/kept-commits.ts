// Work that workers keep until it is published: they hear when nobody needs it, and bring what this machine lacks.

import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Usage } from '../../agents/rules/usage.ts';
import type { Clock, Logger } from '../../base/ports.ts';
import { refusal } from '../../base/rules/codes.ts';
import { failure, messageOf } from '../../base/rules/errors.ts';
import type { BringWork, Workspaces, WorkspaceTask } from '../../daemon/ports.ts';
import { quietTask } from '../../daemon/publish/publish.ts';
import type { DaemonState } from '../../daemon/rules/state.ts';
import type { Mirror } from '../../daemon/workspaces/mirror/mirror.ts';
import { isSame, newToken } from '../proofs.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import { attemptName } from '../rules/job.ts';
import { isSettled } from '../rules/kept-fate.ts';
import type { Fates, GoOnRequest, Kept } from '../wire.ts';
import type { WorkCarrier } from '../work-carrier.ts';
import { inTime } from './in-time.ts';

export type KeptCommitsOptions = {
  readonly carrier: Pick<WorkCarrier, 'adopt' | 'has'>;
  readonly mirror: Pick<Mirror, 'refresh'>;
  readonly workspaces: Pick<Workspaces, 'prepare' | 'afterCreate' | 'complete'>;
  readonly state: () => DaemonState;
  /** Whether the last attempt at the issue was another coordinator's. */
  readonly wasElsewhere: (issue: number) => boolean;
  /** A place for bundles. */
  readonly directory: string;
  readonly maxBundleBytes: number;
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly log: Logger;
};

/** A worker asks every few seconds, once it knows who acts for the repository. */
const WAIT_MS = 60_000;
/** A worker that has brought one bundle begins with its next one within this time. */
const NEXT_MS = 15_000;

/** A worker that asked to go on asks again within this time. */
const GOING_ON_MS = 10_000;

/** `isBegun`: a worker has started its agent. */
type LeftAttempt = {
  readonly life: number;
  readonly attempt: number;
  readonly isBegun: boolean;
  readonly used: Omit<Usage, 'seconds'>;
};

function leftAtWork({ entries }: DaemonState): ReadonlyMap<number, LeftAttempt> {
  const left = [...entries.values()].flatMap((entry): readonly [number, LeftAttempt][] => {
    const { number, phase, life, attempt, effects, running: used } = entry;
    const isBegun = effects[`agent:${attempt}`] === 'finished';
    return phase === 'running' && !entry.askedDone ? [[number, { life, attempt, isBegun, used }]] : [];
  });
  return new Map(left);
}

type Offer = { readonly kept: Kept; readonly worker: string };

type Wanted = {
  readonly task: WorkspaceTask;
  /** Null: whatever the attempt has handed in. */
  readonly head: string | null;
  readonly token: string;
  /** By their ids: several workers may have it. */
  readonly offers: Map<string, Offer>;
  /** Being taken in. */
  taking: Promise<void> | null;
  /** Nothing is waited for any more. */
  readonly over: AbortController;
};

/** Bundles of one worker, which brings them one after the other. */
type Bringing = {
  readonly arriving: Set<Promise<void>>;
  /** When each of them ended first, by their ids: one that fails over and over delays nothing. */
  readonly ended: Map<string, number>;
};

function isWanted({ life, attempt, head }: Kept, { task, head: wanted }: Wanted): boolean {
  return wanted === null ? life === task.life && attempt === task.attempt : head === wanted;
}

export class KeptCommits {
  readonly #options: KeptCommitsOptions;
  readonly #wanted = new Map<number, Wanted>();
  /** By the names of the workers. */
  readonly #bringing = new Map<string, Bringing>();
  /** The last attempt of each issue whose work was asked for. */
  readonly #asked = new Map<number, string>();
  /** Attempts that an earlier coordinator left at work. */
  readonly #left: ReadonlyMap<number, LeftAttempt>;
  /** When a worker asked last to go on with one of these, by their issues. */
  readonly #goingOn = new Map<number, number>();

  constructor(options: KeptCommitsOptions) {
    this.#options = options;
    this.#left = leftAtWork(options.state());
  }

  /** For the step that needs the commit: waits for it so long that each worker could be asked. */
  readonly bring: BringWork = async (entry, head, signal, onWait) => {
    const { carrier, mirror, clock, leaseMs, wasElsewhere } = this.#options;
    const { number: issue, life, attempt } = entry;
    const task = quietTask(entry);
    const asked = `${life}:${attempt}`;
    const left = head === null ? this.#leftOf(issue, life, attempt) : undefined;
    // No worker had begun with it: nothing can be kept of it.
    if (left?.isBegun === false) return true;
    const mayCome = () => (wasElsewhere(issue) || left !== undefined) && this.#asked.get(issue) !== asked;
    const isHere = async () => (head === null ? !mayCome() || this.#isGoingOn(issue) : carrier.has(task, head, signal));
    if (await isHere()) return true;
    // What was pushed, the hosting service has.
    await mirror.refresh(signal);
    if (await isHere()) return true;
    // Here is what was handed in until then: a worker with an agent at work asks at once.
    const ms = wasElsewhere(issue) ? WAIT_MS + leaseMs : leaseMs;
    await onWait(ms);
    const over = new AbortController();
    const wanted: Wanted = { task, head, token: newToken(), offers: new Map(), taking: null, over };
    const stop = AbortSignal.any([signal, over.signal]);
    const stopped = new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve(), { once: true }));
    this.#wanted.set(issue, wanted);
    try {
      for (let rest = ms; rest > 0 && !stop.aborted; rest = this.#extension(wanted)) {
        await clock.sleep(rest, stop);
        // What has begun to arrive is waited for.
        await Promise.race([Promise.allSettled(this.#arriving(wanted)), stopped]);
      }
    } finally {
      this.#wanted.delete(issue);
      if (this.#wanted.size === 0) this.#bringing.clear();
      await wanted.taking?.catch(() => undefined);
    }
    if (!signal.aborted) this.#asked.set(issue, asked);
    return over.signal.aborted;
  };

  #leftOf(issue: number, life: number, attempt: number): LeftAttempt | undefined {
    const left = this.#left.get(issue);
    return left?.life === life && left.attempt === attempt ? left : undefined;
  }

  /** A worker with an agent at work asks every second, or less often after it got no answer. */
  #isGoingOn(issue: number): boolean {
    const askedAt = this.#goingOn.get(issue) ?? Number.NEGATIVE_INFINITY;
    return this.#options.clock.elapsed() - askedAt < GOING_ON_MS;
  }

  /** Whether an attempt that follows on that one may be begun for its worker. */
  awaits({ issue, life, attempt }: GoOnRequest): boolean {
    const state = this.#options.state();
    const entry = state.entries.get(issue);
    const isLeft = this.#leftOf(issue, life, attempt)?.isBegun === true;
    const isOpen = entry?.life === life && (entry.phase === 'running' || entry.phase === 'retrying');
    const isNext =
      isOpen && (entry.attempt === attempt || (entry.attempt === attempt + 1 && entry.phase === 'running'));
    if (!isLeft || !isNext || entry.askedDone || state.orders.has(issue)) return false;
    this.#goingOn.set(issue, this.#options.clock.elapsed());
    this.#wanted.get(issue)?.over.abort();
    return true;
  }

  /** The attempt before, whose agent may still be at work. `isAwaited`: its worker is about to take the next one. */
  readonly before = ({ issue, life, attempt }: Pick<GoOnRequest, 'issue' | 'life' | 'attempt'>) => {
    const left = this.#leftOf(issue, life, attempt - 1);
    if (left?.isBegun !== true) return null;
    return { used: left.used, isAwaited: () => this.#isGoingOn(issue) };
  };

  /** A worker that brings another bundle offers nothing meanwhile: any of them may have it, until one has offered it. */
  #bringersOf({ offers }: Wanted): readonly Bringing[] {
    if (offers.size === 0) return [...this.#bringing.values()];
    const workers = new Set([...offers.values()].map(({ worker }) => worker));
    return [...workers].flatMap((worker) => this.#bringing.get(worker) ?? []);
  }

  /** This bundle, and others that the worker brings before it. */
  #arriving(wanted: Wanted): readonly Promise<void>[] {
    return this.#bringersOf(wanted).flatMap(({ arriving }) => [...arriving]);
  }

  /** Time for workers that were busy with other bundles, ms. */
  #extension(wanted: Wanted): number {
    const ends = this.#bringersOf(wanted).flatMap(({ ended }) => [...ended.values()]);
    return Math.max(...ends) + NEXT_MS - this.#options.clock.elapsed();
  }

  /** What becomes of what a worker keeps. */
  fates(kept: readonly Kept[], worker: string): Fates {
    const state = this.#options.state();
    const needed = new Set<string>();
    const bring = kept.flatMap((one) => {
      const wanted = this.#wanted.get(one.issue);
      if (wanted === undefined || !isWanted(one, wanted)) return [];
      if (wanted.head === null && isSettled(state, one)) {
        // It is published: nothing is missed.
        wanted.over.abort();
        return [];
      }
      needed.add(one.id);
      wanted.offers.set(one.id, { kept: one, worker });
      return wanted.taking === null ? [{ id: one.id, token: wanted.token }] : [];
    });
    const forget = kept.filter((one) => !needed.has(one.id) && isSettled(state, one));
    return { forget: forget.map(({ id }) => id), bring };
  }

  /** Whether the token is that of commits that are waited for. */
  admits(id: string, token: string): boolean {
    return this.#find(id, token) !== undefined;
  }

  #find(id: string, token: string): Wanted | undefined {
    return [...this.#wanted.values()].find(({ offers, token: own }) => offers.has(id) && isSame(token, own));
  }

  /**
   * Takes a bundle in with the same checks as any other, as the work of its attempt. It is waited for from now on.
   * @param receive puts it at a path
   */
  async take(id: string, token: string, receive: (path: string) => Promise<unknown>): Promise<void> {
    const wanted = this.#find(id, token);
    const offer = wanted?.offers.get(id);
    if (wanted === undefined || offer === undefined)
      throw failure(FLEET_CODES.attempt_superseded, { attempt: attemptName(id) });
    const bringing = this.#bringing.get(offer.worker) ?? { arriving: new Set(), ended: new Map() };
    this.#bringing.set(offer.worker, bringing);
    const arrival = this.#arrive(wanted, offer.kept, receive);
    bringing.arriving.add(arrival);
    try {
      await arrival;
    } finally {
      bringing.arriving.delete(arrival);
      if (!bringing.ended.has(id)) bringing.ended.set(id, this.#options.clock.elapsed());
    }
  }

  async #arrive(wanted: Wanted, kept: Kept, receive: (path: string) => Promise<unknown>): Promise<void> {
    const { directory, clock, log } = this.#options;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const path = join(directory, `${randomBytes(9).toString('hex')}.bundle`);
    try {
      await receive(path);
      // Another worker's may have come first.
      while (wanted.taking !== null) await wanted.taking.catch(() => undefined);
      if (wanted.over.signal.aborted) return;
      if (this.#wanted.get(kept.issue) !== wanted)
        throw failure(FLEET_CODES.attempt_superseded, { attempt: attemptName(kept.id) });
      wanted.taking = inTime(clock, (signal) => this.#adopt(wanted, kept, path, signal));
      try {
        await wanted.taking;
        wanted.over.abort();
      } catch (error) {
        const what = { attempt: attemptName(kept.id), said: messageOf(error) };
        log.log('warn', 'publish', refusal(FLEET_CODES.kept_work_refused, what), { issue: kept.issue });
        throw error;
      } finally {
        wanted.taking = null;
      }
    } finally {
      await rm(path, { force: true });
    }
  }

  async #adopt({ task }: Wanted, { head, files, base }: Kept, path: string, signal: AbortSignal): Promise<void> {
    const { carrier, workspaces, maxBundleBytes } = this.#options;
    if ((await workspaces.prepare(task, signal)).created) {
      await workspaces.afterCreate(task, signal);
      await workspaces.complete(task, signal);
    }
    await carrier.adopt(task, path, { head, files }, { base, maxBundleBytes }, signal);
  }
}
