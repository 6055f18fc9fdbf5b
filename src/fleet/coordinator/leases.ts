// Leases of a coordinator: it takes one for each repository with its journal, and learns when one that it waits for is free.

import { Listeners } from '../../base/listeners.ts';
import type { Clock, Logger } from '../../base/ports.ts';
import { failure, isFailure } from '../../base/rules/errors.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import type { Store } from '../store/store.ts';
import { takeJournal } from './journal-taking.ts';
import { RepositoryLease } from './repository-lease.ts';
import { StoreJournal } from './store-journal.ts';

const LOOK_MS = 1_000;

export class Leases {
  readonly #store: Store;
  readonly #leaseMs: number;
  readonly #clock: Clock;
  readonly #addressFor: (repository: string) => string;
  /** Each with the time before which it is not tried again, by `clock.elapsed()`. */
  readonly #waited = new Map<string, number>();
  /** The store forgot who had it: until that time the holder can say so. */
  readonly #heldOff = new Map<string, number>();
  readonly #free = new Listeners();
  readonly #over = new AbortController();

  /** @param addressFor what workers find in the lease of a repository */
  constructor(store: Store, leaseMs: number, clock: Clock, addressFor: (repository: string) => string) {
    this.#store = store;
    this.#addressFor = addressFor;
    this.#leaseMs = leaseMs;
    this.#clock = clock;
    void this.#watch();
  }

  /** Throws `repository_held` where another coordinator has it, or the like; tells the listeners once that may be over. */
  async take(repository: string, stateDir: string, log: Logger): Promise<RepositoryLease> {
    const address = () => this.#addressFor(repository);
    const more = { store: this.#store, leaseMs: this.#leaseMs, clock: this.#clock, address };
    const until = this.#heldOff.get(repository);
    const isForgettable = until !== undefined && this.#clock.elapsed() >= until;
    try {
      const { problem } = this.#store;
      if (problem !== null) throw failure(FLEET_CODES.queue_unreachable, { url: this.#store.address, said: problem });
      const lease = await RepositoryLease.take({ ...more, repository, stateDir, log, isForgettable });
      this.#heldOff.delete(repository);
      this.#waited.delete(repository);
      return lease;
    } catch (error) {
      const later = until ?? this.#clock.elapsed() + this.#leaseMs;
      if (isFailure(error, FLEET_CODES.repository_forgotten)) this.#heldOff.set(repository, later);
      if (isFailure(error, FLEET_CODES.repository_held)) this.#heldOff.delete(repository);
      this.#waited.set(repository, this.#heldOff.get(repository) ?? 0);
      throw error;
    }
  }

  readonly onFree = this.#free.add;

  /** The journal of the repository as the store has it, which the file in the state directory becomes a copy of. */
  async openJournal(lease: RepositoryLease, directory: string, log: Logger): Promise<StoreJournal> {
    const store = this.#store;
    const { repository } = lease;
    const taken = await takeJournal({ store, repository, directory, log }).catch((error: unknown) => {
      // A store that answers would refuse it again at once.
      this.#waited.set(repository, store.problem === null ? this.#clock.elapsed() + this.#leaseMs : 0);
      throw error;
    });
    return new StoreJournal({ store, lease, taken, clock: this.#clock, log, lookMs: this.#leaseMs });
  }

  async #watch(): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      await this.#clock.sleep(LOOK_MS, signal);
      if (signal.aborted || this.#waited.size === 0 || this.#store.problem !== null) continue;
      const waited = [...this.#waited.keys()];
      const held = await this.#store.heldLeases(waited).catch(() => null);
      if (held === null) continue;
      // A holder that was forgotten is there: that is to be said.
      const back = [...held].filter((repository) => this.#heldOff.delete(repository));
      const now = this.#clock.elapsed();
      const free = waited.filter((one) => !held.has(one) && (this.#waited.get(one) ?? 0) <= now);
      for (const repository of [...back, ...free]) this.#waited.delete(repository);
      if (back.length + free.length > 0) this.#free.tell();
    }
  }

  close(): void {
    this.#over.abort();
  }
}
