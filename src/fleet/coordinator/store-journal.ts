// Journal of a repository in the store: each promise is there before it is acted on, what was told comes after it in order.

import type { Clock, Logger } from '../../base/ports.ts';
import { refusal } from '../../base/rules/codes.ts';
import { failure } from '../../base/rules/errors.ts';
import type { JournalFollower } from '../../daemon/journal/journal.ts';
import type { Journal } from '../../daemon/ports.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import { weightOf } from '../rules/promises.ts';
import type { JournalAnswer, Store } from '../store/store.ts';
import type { TakenJournal } from './journal-taking.ts';
import type { RepositoryLease } from './repository-lease.ts';

export type StoreJournalOptions = {
  readonly store: Pick<Store, 'address' | 'problem' | 'readJournal' | 'appendJournal' | 'compactJournal'>;
  readonly lease: Pick<RepositoryLease, 'holder' | 'lost' | 'isSure' | 'holds' | 'repository'>;
  /** It is looked so often whether the store still has all of it. */
  readonly lookMs: number;
  readonly taken: TakenJournal;
  readonly clock: Clock;
  readonly log: Logger;
};

/** What only tells something waits so long for more. */
const GATHER_MS = 200;
/** Between two tries while the store gives no answer. */
const RETRY_MS = 250;
/** The end of the process waits so long for the store. */
const CLOSE_MS = 5_000;
const MOST_LINES = 200;
const MOST_CHARS = 1024 * 1024;

/** `isSnapshot`: it stands for all lines before it. */
type Line = { readonly text: string; readonly isSnapshot: boolean };
type Waiter = { readonly upTo: number; readonly resolve: () => void; readonly reject: (error: unknown) => void };

export class StoreJournal {
  readonly #options: StoreJournalOptions;
  /** What the store does not have yet, in order. */
  #pending: Line[];
  /** Of these, so many are on their way. A try that got no answer is repeated with the same ones. */
  #sent = 0;
  /** Place in the store of the first of them. */
  #place: number;
  /** How many lines the store took so far, and snapshots. */
  #taken = 0;
  #waiters: Waiter[] = [];
  #pumping: Promise<void> | null = null;
  #gathering = false;
  readonly #over = new AbortController();
  readonly #stop: AbortSignal;
  /** It is to be looked whether the store still has all of it. */
  #isLookDue = false;
  /** Begins the local file anew with a snapshot, which comes back as a line. */
  #snapshot: () => void = () => undefined;

  constructor(options: StoreJournalOptions) {
    this.#options = options;
    const { next, rest, isAhead } = options.taken;
    this.#place = next;
    this.#pending = rest.map((text, index) => ({ text, isSnapshot: isAhead && index === 0 }));
    const { lost } = options.lease;
    this.#stop = AbortSignal.any([lost, this.#over.signal]);
    lost.addEventListener('abort', () => this.#drop(), { once: true });
    if (rest.length > 0) this.#pump();
    void this.#watch();
  }

  /** A store that was emptied has the journal again before somebody else needs it. */
  async #watch(): Promise<void> {
    const { clock, lookMs } = this.#options;
    while (!this.#stop.aborted) {
      await clock.sleep(lookMs, this.#stop);
      this.#isLookDue = !this.#stop.aborted;
      this.#pump();
    }
  }

  /** Whether the last attempt at the issue was another coordinator's: what this machine has of it is old. */
  wasElsewhere(issue: number): boolean {
    return this.#options.taken.elsewhere.has(issue);
  }

  /** Takes what the local file takes. */
  readonly follower: JournalFollower = {
    appended: (text) => this.#add({ text, isSnapshot: false }),
    continued: (text) => this.#add({ text, isSnapshot: true }),
  };

  #add(line: Line): void {
    if (this.#options.lease.lost.aborted) return;
    this.#pending.push(line);
    this.#gather();
  }

  /** @param continueFile begins the local file anew with a snapshot */
  over(journal: Journal, continueFile: () => void): Journal {
    const { lease, store, taken } = this.#options;
    this.#snapshot = continueFile;
    taken.elsewhere.keep((issue) => journal.state.entries.has(issue));
    return {
      get state() {
        return journal.state;
      },
      append: async (record) => {
        // Whoever acts next, here or elsewhere, goes on with agents that are at work.
        if (record.type === 'attempt_ended' && lease.lost.aborted) throw this.#lost();
        const weight = weightOf(record);
        // The store answers for the lease; without enough time left it is renewed first.
        if (record.type === 'effect_started' && !lease.isSure && !(await lease.holds())) throw this.#lost();
        const writing = journal.append(record);
        const shared = weight === 'told' ? undefined : this.flush();
        shared?.catch(() => undefined);
        const stored = await writing;
        if (weight === 'promise') await shared;
        if (weight === 'end' && store.problem === null) await shared?.catch(() => undefined);
        // An attempt here, or the end, makes what others did old.
        if ('issue' in record && (record.type === 'attempt_started' || !journal.state.entries.has(record.issue)))
          taken.elsewhere.keep((issue) => issue !== record.issue);
        return stored;
      },
      close: () => journal.close(),
    };
  }

  /** Resolves when the store has all that was appended before; rejects when the lease is lost before that. */
  flush(): Promise<void> {
    if (this.#options.lease.lost.aborted) return Promise.reject(this.#lost());
    if (this.#pending.length === 0) return Promise.resolve();
    const upTo = this.#taken + this.#pending.length;
    return new Promise((resolve, reject) => {
      this.#waiters.push({ upTo, resolve, reject });
      this.#pump();
    });
  }

  #lost(): Error {
    return failure(FLEET_CODES.repository_lease_lost, { repository: this.#options.lease.repository });
  }

  #drop(): void {
    this.#pending = [];
    this.#sent = 0;
    for (const { reject } of this.#waiters.splice(0)) reject(this.#lost());
  }

  #gather(): void {
    if (this.#gathering) return;
    this.#gathering = true;
    void this.#options.clock.sleep(GATHER_MS, this.#over.signal).then(() => {
      this.#gathering = false;
      this.#pump();
    });
  }

  #pump(): void {
    this.#pumping ??= this.#write().finally(() => {
      this.#pumping = null;
      if (this.#pending.length > 0 && !this.#over.signal.aborted) this.#gather();
    });
  }

  /** Until the store has everything, or the lease is lost. */
  async #write(): Promise<void> {
    const { store, clock } = this.#options;
    while (!this.#stop.aborted && (this.#pending.length > 0 || this.#isLookDue)) {
      // Nothing is asked of a store that is away: it would come late.
      const isTaken = store.problem === null && (await this.#step().catch(() => false));
      if (!isTaken) await clock.sleep(RETRY_MS, this.#stop);
    }
  }

  /** False: it is to be tried again after a pause. */
  async #step(): Promise<boolean> {
    const { lease, store } = this.#options;
    if (this.#pending.length === 0) {
      const { next } = await store.readJournal(lease.repository, 0, 0);
      this.#isLookDue = false;
      return this.#pending.length > 0 || next === this.#place || this.#begin();
    }
    const answer = await this.#send();
    if (answer === 'elsewhere') return this.#begin();
    // A store that forgot the lease gets it again with the renewal.
    if (answer === 'lease_lost') await lease.holds();
    return answer === 'done';
  }

  async #send(): Promise<JournalAnswer> {
    const { lease, store } = this.#options;
    const [first] = this.#pending;
    if (first?.isSnapshot === true) {
      const answer = await store.compactJournal(lease.repository, lease.holder, this.#place, first.text);
      if (answer === 'done') this.#settle(1, 0);
      return answer;
    }
    if (this.#sent === 0) this.#sent = this.#batch();
    const lines = this.#pending.slice(0, this.#sent).map(({ text }) => text);
    const answer = await store.appendJournal(lease.repository, lease.holder, this.#place, lines);
    if (answer === 'done') this.#settle(lines.length, lines.length);
    return answer;
  }

  #batch(): number {
    let chars = 0;
    const end = this.#pending.findIndex(({ text, isSnapshot }, index) => {
      chars += text.length;
      return isSnapshot || index === MOST_LINES || (index > 0 && chars > MOST_CHARS);
    });
    return end === -1 ? this.#pending.length : end;
  }

  #settle(count: number, places: number): void {
    // Lost meanwhile: nothing is pending any more.
    if (this.#options.lease.lost.aborted) return;
    this.#pending.splice(0, count);
    this.#sent = 0;
    this.#place += places;
    this.#taken += count;
    while (this.#waiters[0] !== undefined && this.#waiters[0].upTo <= this.#taken) this.#waiters.shift()?.resolve();
  }

  /**
   * The store does not end where it did: it lost what it had. The holder of the lease knows all of it, and puts a snapshot in
   * the place of what is left. One that waits is used again: the store may refuse it for long.
   */
  async #begin(): Promise<boolean> {
    const { lease, store, log } = this.#options;
    const { repository, holder } = lease;
    const { next } = await store.readJournal(repository, 0, 0);
    if (!this.#pending.some(({ isSnapshot }) => isSnapshot)) this.#snapshot();
    const last = this.#pending.findLastIndex(({ isSnapshot }) => isSnapshot);
    const line = this.#pending[last];
    if (line === undefined) return false;
    const answer =
      next === 0
        ? await store.appendJournal(repository, holder, 0, [line.text])
        : await store.compactJournal(repository, holder, next, line.text);
    if (answer !== 'done') return false;
    this.#place = Math.max(1, next);
    this.#settle(last + 1, 0);
    log.log('warn', 'serve', refusal(FLEET_CODES.journal_written_anew, { url: store.address, repository }));
    return true;
  }

  /** Before the lease is given back. */
  async close(): Promise<void> {
    if (this.#over.signal.aborted) return;
    const { clock, log, lease, store } = this.#options;
    const late = new AbortController();
    const flushed = this.flush().then(
      () => true,
      () => true,
    );
    const isFlushed = await Promise.race([flushed, clock.sleep(CLOSE_MS, late.signal).then(() => false)]);
    late.abort();
    this.#over.abort();
    if (!isFlushed) {
      const what = { url: store.address, repository: lease.repository, said: store.problem ?? 'no answer' };
      log.log('warn', 'serve', refusal(FLEET_CODES.journal_not_shared, what));
    }
    await this.#pumping;
  }
}
