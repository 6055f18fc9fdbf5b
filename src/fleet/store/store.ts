// The store of a queue as coordinator and worker use it, whatever keeps it.

import type { Queue, Worker } from 'bullmq';
import * as z from 'zod';
import type { FleetJob } from '../rules/job.ts';

/** A worker that has not said so for longer is not shown. */
export const PRESENCE_MS = 15_000;

/** So long a connection, and a command, may take until there is an answer. */
export const ANSWER_MS = 10_000;
export const COMMAND_MS = 5_000;

const worker = z.object({
  name: z.string().max(100),
  labels: z.array(z.string().max(100)).max(100),
  slots: z.int(),
  used: z.int(),
  version: z.string().max(100),
  draining: z.boolean(),
  /** Ms since the epoch, by the worker's clock. */
  started_at: z.number(),
  /** The same of this heartbeat. */
  sent_at: z.number(),
});
export type WorkerPresence = z.infer<typeof worker>;

/** `seenMs`: since its last heartbeat. */
export type SeenWorker = WorkerPresence & { readonly seenMs: number };

/** Coordinator that acts for a repository. */
export type LeaseHolder = {
  readonly token: string;
  readonly host: string;
  /** Ms since the epoch, by its own clock. */
  readonly since: number;
  /** Larger than that of every earlier holder. */
  readonly fence: number;
  /** Where workers find it, with a proof; means nothing to the store. At most 1,000 characters. */
  readonly address: string;
};

/** A journal's records, each a line of JSON, from the place `from` on. */
export type JournalPage = {
  /** Place of the oldest record that is kept. */
  readonly first: number;
  /** Place of the next record. */
  readonly next: number;
  readonly lines: readonly string[];
};

/** `elsewhere`: the journal in the store does not end where the holder believes. */
export type JournalAnswer = 'done' | 'lease_lost' | 'elsewhere';

export type JobQueue = Pick<
  Queue<FleetJob>,
  'add' | 'close' | 'getJobCounts' | 'getJobs' | 'getJobState' | 'obliterate' | 'remove'
>;
export type JobWorker = Pick<Worker<FleetJob>, 'close' | 'getNextJob' | 'startStalledCheckTimer'>;

/** A worker's options: it takes jobs one by one, when it is asked to. `stalledInterval`: a job whose lock is gone is found by the second look. */
export function workerOptions(lockMs: number, stalledInterval: number) {
  return { autorun: false, lockDuration: lockMs, stalledInterval };
}

/** Failures come with the calls: what is said beside them is heard by nobody. */
export function quiet<T extends { on(event: 'error', listener: () => void): unknown }>(made: T): T {
  made.on('error', () => undefined);
  return made;
}

/** What the store says of itself. `evicts`: its policy, where it may drop what is kept; `oldest` version that serves. */
export type StoreFacts = {
  readonly product: string;
  readonly version: string;
  readonly oldest: string;
  readonly evicts: string | null;
};

/** All of it rejects where the store gives no answer. Repositories are `<host>/<owner>/<repo>`. */
export type Store = {
  /** Without user and password. */
  readonly address: string;
  /** Why it gave no answer last; null: it answers. */
  readonly problem: string | null;
  queue(name: string): JobQueue;
  /** Takes jobs one by one, when it is asked to. */
  worker(name: string, of: { readonly lockMs: number }): JobWorker;
  about(): Promise<StoreFacts>;
  /** Has one job go through a queue of its own, by every command that attempts need. Throws a ToolError. */
  probe(): Promise<void>;
  /** Workers find the queues by this list. */
  announceQueue(name: string): Promise<void>;
  queueNames(): Promise<readonly string[]>;
  /** Whether a worker holds the job. */
  isLocked(queue: string, id: string): Promise<boolean>;
  /**
   * Takes the lease of a repository where it is free, or is `last` of the same machine. Gives its holder; null: it is free,
   * since the store forgot the holder with the number `seen`, which may act still.
   */
  takeLease(
    repository: string,
    own: Omit<LeaseHolder, 'fence'>,
    last: string,
    leaseMs: number,
    seen: number,
  ): Promise<LeaseHolder | null>;
  /** Writes the address of the holder anew. False: another coordinator has it, or had it since. */
  renewLease(repository: string, holder: LeaseHolder, leaseMs: number): Promise<boolean>;
  releaseLease(repository: string, holder: LeaseHolder): Promise<void>;
  /** Those of the repositories that a coordinator acts for. */
  heldLeases(repositories: readonly string[]): Promise<ReadonlySet<string>>;
  /** What the holders of all leases wrote as their addresses, by the repositories in lower case. */
  heldAddresses(): Promise<ReadonlyMap<string, string>>;
  /** Number of the lease on a repository; null: nobody has it. */
  fenceOf(repository: string): Promise<number | null>;
  /** What the holder of the lease wrote as its address; null: nobody has it. */
  addressOf(repository: string): Promise<string | null>;
  /** Place of the next record, and the records from `from` on, at most `most`, each a line of JSON. Places begin at 0. */
  readJournal(repository: string, from: number, most: number): Promise<JournalPage>;
  /** Appends at `at` where the holder has the lease and `at` is the next place. A repeated append of the same lines at the same place is `done`. */
  appendJournal(repository: string, holder: LeaseHolder, at: number, lines: readonly string[]): Promise<JournalAnswer>;
  /** Puts `line`, a snapshot, in the place of all records before `at`: it gets the place before. Same answers. */
  compactJournal(repository: string, holder: LeaseHolder, at: number, line: string): Promise<JournalAnswer>;
  announceWorker(presence: WorkerPresence): Promise<void>;
  forgetWorker(name: string): Promise<void>;
  /** By their names. What cannot be read is left out. */
  workers(): Promise<readonly SeenWorker[]>;
  close(): void;
};

/** @returns none where the text is no presence */
export function readPresence(text: string, seenMs: number): readonly SeenWorker[] {
  try {
    return [{ ...worker.parse(JSON.parse(text)), seenMs }];
  } catch {
    return [];
  }
}
