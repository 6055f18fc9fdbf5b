// Lease of one repository: as long as a coordinator holds it in the store, no other coordinator acts for that repository.

import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock, Logger } from '../../base/ports.ts';
import { refusal } from '../../base/rules/codes.ts';
import { failure } from '../../base/rules/errors.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import type { LeaseHolder, Store } from '../store/store.ts';
import { noteSeen, seenFence } from './taking-notes.ts';

export type LeaseOptions = {
  readonly store: Store;
  /** `<host>/<owner>/<repo>`. */
  readonly repository: string;
  readonly leaseMs: number;
  /** Of the repository, locked by this process: an earlier process that took a lease from here has ended. */
  readonly stateDir: string;
  /** Where workers find this coordinator now, with a proof. */
  readonly address: () => string;
  /** It is taken also where the store forgot the holder that was waited for: that one had its time. */
  readonly isForgettable?: boolean;
  readonly clock: Clock;
  readonly log: Logger;
};

/** Name of the file with the token of the last lease. */
const FILE = 'lease';
/** So long an effect waits for an answer of the store, before the lease counts by this machine's clock. */
const ANSWER_MS = 1_000;

function lastToken(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}

export class RepositoryLease {
  readonly #options: LeaseOptions;
  #holder: LeaseHolder;
  readonly #lost = new AbortController();
  readonly #over = new AbortController();
  /** Until then the store gives it to nobody else, by `clock.elapsed()`. */
  #validUntil: number;

  private constructor(options: LeaseOptions, holder: LeaseHolder, takenAt: number) {
    this.#options = options;
    this.#holder = holder;
    this.#validUntil = takenAt + options.leaseMs;
    void this.#renew();
  }

  /** Throws `repository_held` where another coordinator has it, and `repository_forgotten` where one may have it still. */
  static async take(options: LeaseOptions): Promise<RepositoryLease> {
    const { store, repository, leaseMs, stateDir, clock, isForgettable = false } = options;
    const path = join(stateDir, FILE);
    const own = { token: randomUUID(), host: hostname(), since: clock.now(), address: options.address() };
    const takenAt = clock.elapsed();
    const seen = isForgettable ? 0 : seenFence(stateDir);
    const held = await store.takeLease(repository, own, lastToken(path), leaseMs, seen);
    if (held === null) {
      const seconds = Math.ceil(leaseMs / 1000);
      throw failure(FLEET_CODES.repository_forgotten, { url: store.address, repository, seconds });
    }
    if (held.token !== own.token) {
      const { host, since } = held;
      noteSeen(stateDir, held.fence);
      throw failure(FLEET_CODES.repository_held, { repository, host, since: new Date(since).toISOString() });
    }
    writeFileSync(path, `${own.token}\n`, { mode: 0o600 });
    return new RepositoryLease(options, held, takenAt);
  }

  /** Larger than that of every earlier holder. */
  get fence(): number {
    return this.#holder.fence;
  }

  get holder(): LeaseHolder {
    return this.#holder;
  }

  get repository(): string {
    return this.#options.repository;
  }

  /** Half of its time is left at least, as far as this machine's clock tells. */
  get isSure(): boolean {
    const { clock, leaseMs } = this.#options;
    return !this.#lost.signal.aborted && this.#validUntil - clock.elapsed() > leaseMs / 2;
  }

  /** Renews it; false: another coordinator may act. */
  holds(): Promise<boolean> {
    return this.#holds(ANSWER_MS);
  }

  /** Aborted once another coordinator may act. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  async #renew(): Promise<void> {
    const { clock, leaseMs } = this.#options;
    const signal = AbortSignal.any([this.#lost.signal, this.#over.signal]);
    while (!signal.aborted) {
      await clock.sleep(leaseMs / 3, signal);
      if (!signal.aborted) await this.#holds(Math.max(0, this.#validUntil - clock.elapsed()));
    }
  }

  /** Renews it; without an answer in that time, it holds until its own end. */
  async #holds(answerMs: number): Promise<boolean> {
    const { store, repository, leaseMs, clock } = this.#options;
    if (this.#lost.signal.aborted) return false;
    const askedAt = clock.elapsed();
    // The state on this machine may be old by now, also where nobody else took the lease meanwhile.
    if (askedAt >= this.#validUntil) return this.#lose();
    const answered = new AbortController();
    this.#holder = { ...this.#holder, address: this.#options.address() };
    // Nothing is kept for a store that is away: it would come from a holder that may have lost the lease by then.
    const isAway = store.problem !== null;
    const answer = await Promise.race([
      isAway ? null : store.renewLease(repository, this.#holder, leaseMs).catch(() => null),
      clock.sleep(answerMs, answered.signal).then(() => null),
    ]);
    answered.abort();
    if (answer === false) return this.#lose();
    if (answer === true) this.#validUntil = Math.max(this.#validUntil, askedAt + leaseMs);
    return clock.elapsed() < this.#validUntil || this.#lose();
  }

  #lose(): false {
    if (this.#lost.signal.aborted || this.#over.signal.aborted) return false;
    const { log, repository } = this.#options;
    log.log('warn', 'serve', refusal(FLEET_CODES.repository_lease_lost, { repository }));
    this.#lost.abort();
    return false;
  }

  /** Gives it back, for others to take at once. */
  async release(): Promise<void> {
    if (this.#over.signal.aborted) return;
    this.#over.abort();
    const { store, repository } = this.#options;
    if (store.problem === null) await store.releaseLease(repository, this.#holder).catch(() => undefined);
  }
}
