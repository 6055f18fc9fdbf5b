// A worker: takes jobs from the queue while it has free slots, makes their attempts, and drains when it is to end.

import { randomUUID } from 'node:crypto';
import type { Clock, Logger } from '../../base/ports.ts';
import { refusal } from '../../base/rules/codes.ts';
import { failure, isFailure, messageOf, ToolError } from '../../base/rules/errors.ts';
import { isPlainHttp } from '../../daemon/rules/queue-settings.ts';
import { isSame, jobProof } from '../proofs.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import { attemptId, queuesFor, renewalMs } from '../rules/job.ts';
import { type JobWorker, PRESENCE_MS, queueFailure, type Store } from '../store.ts';
import { jobSchema, type Order, type SignedJob } from '../wire.ts';
import { CoordinatorClient, Superseded } from './coordinator-client.ts';

export type WorkerOptions = {
  readonly store: Store;
  readonly key: string;
  readonly name: string;
  readonly labels: readonly string[];
  readonly slots: number;
  readonly version: string;
  /** Ends after one attempt. */
  readonly once: boolean;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes one attempt that was taken; throws `Superseded`. */
  readonly make: (client: CoordinatorClient, order: Order, id: string, returning: AbortSignal) => Promise<void>;
};

type TakenJob = NonNullable<Awaited<ReturnType<JobWorker['getNextJob']>>>;

/** Between two looks at queues that were empty. */
const LOOK_MS = 250;
/** How often it is looked for new queues. */
const QUEUES_MS = 2_000;
/** A store that stays away is named so often. */
const SAY_MS = 60_000;
/** Until the job's own lease is known. */
const FIRST_LOCK_MS = 30_000;

export class FleetWorker {
  readonly #options: WorkerOptions;
  readonly #workers = new Map<string, JobWorker>();
  readonly #running = new Set<Promise<void>>();
  /** No job is taken any more. */
  readonly #draining = new AbortController();
  /** Agents are ended, and their work handed back. */
  readonly #returning = new AbortController();
  /** All is ended, whatever is left. */
  readonly #ended = new AbortController();
  readonly #startedAt: number;
  #names: readonly string[] = [];
  #namesAt = Number.NEGATIVE_INFINITY;
  #saidAt = Number.NEGATIVE_INFINITY;
  #taken = 0;
  /** Why it cannot go on. */
  #broken: ToolError | null = null;
  #wake = new AbortController();

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#startedAt = options.clock.now();
  }

  /** Takes no new job; with `return`, the agents at work are ended and their work is handed back. */
  drain(how: 'finish' | 'return'): void {
    this.#draining.abort();
    if (how === 'return') this.#returning.abort();
    this.#wake.abort();
  }

  /** Ends what has not ended by now. */
  end(): void {
    this.drain('return');
    this.#ended.abort(new Error('the worker ends'));
  }

  /** Runs until it is drained, or with `once` until one attempt is over. Throws a ToolError that it cannot go on with. */
  async run(): Promise<void> {
    const { clock, slots, once } = this.#options;
    const { signal } = this.#draining;
    const over = new AbortController();
    const announcing = this.#announce(over.signal);
    while (!signal.aborted) {
      this.#wake = new AbortController();
      const most = once ? 1 - this.#taken : slots - this.#running.size;
      const isTaken = most > 0 && (await this.#takeOne());
      if (once && this.#taken > 0) break;
      if (!isTaken) await clock.sleep(LOOK_MS, AbortSignal.any([signal, this.#wake.signal]));
    }
    await Promise.all([...this.#running]);
    over.abort();
    await announcing;
    if (this.#broken !== null) throw this.#broken;
  }

  /** Says now and then that it is there. */
  async #announce(over: AbortSignal): Promise<void> {
    const { store, clock, name, labels, slots, version } = this.#options;
    const { signal } = this.#draining;
    while (!over.aborted) {
      const presence = {
        ...{ name, labels: [...labels], slots, used: this.#running.size, version, draining: signal.aborted },
        started_at: this.#startedAt,
      };
      if (store.problem === null) await store.announceWorker(presence).catch(() => undefined);
      else this.#sayQueue(store.problem);
      // That it drains is said at once.
      await clock.sleep(PRESENCE_MS / 5, signal.aborted ? over : AbortSignal.any([over, signal]));
    }
    if (store.problem === null) await store.forgetWorker(name).catch(() => undefined);
  }

  /** Once in a while. */
  #sayQueue(said: string): void {
    const { store, clock, log } = this.#options;
    if (clock.elapsed() - this.#saidAt < SAY_MS) return;
    this.#saidAt = clock.elapsed();
    log.log('warn', 'serve', refusal(FLEET_CODES.queue_interrupted, { url: store.address, said }));
  }

  async #queues(): Promise<readonly string[]> {
    const { store, clock, labels } = this.#options;
    if (clock.elapsed() - this.#namesAt < QUEUES_MS) return this.#names;
    this.#names = queuesFor(await store.queueNames(), labels);
    this.#namesAt = clock.elapsed();
    return this.#names;
  }

  /** Takes the next job of the queues that it serves; false: there is none. */
  async #takeOne(): Promise<boolean> {
    const { store } = this.#options;
    if (store.problem !== null) return false;
    try {
      for (const name of await this.#queues()) {
        const worker = this.#workers.get(name) ?? store.worker(name, { lockMs: FIRST_LOCK_MS });
        if (!this.#workers.has(name)) {
          this.#workers.set(name, worker);
          // Without an answer of the store it begins with the next look.
          worker.startStalledCheckTimer().catch(() => undefined);
        }
        const lock = randomUUID();
        const job = await worker.getNextJob(lock, { block: false });
        if (job === undefined || job === null) continue;
        this.#taken += 1;
        const running = this.#see(job, lock).finally(() => {
          this.#running.delete(running);
          this.#wake.abort();
        });
        this.#running.add(running);
        return true;
      }
    } catch (error) {
      const why = queueFailure(store.address, error);
      if (isFailure(why, FLEET_CODES.queue_permission_missing)) throw why;
      // The store went away, or is slow: the client connects again.
      this.#sayQueue(messageOf(error));
    }
    return false;
  }

  /** Sees one job through; never rejects. */
  async #see(job: TakenJob, lock: string): Promise<void> {
    const { log } = this.#options;
    const read = jobSchema.safeParse(job.data);
    try {
      if (read.success) {
        if (await this.#isOurs(job, lock, read.data)) await this.#make(job, lock, read.data);
        else return;
      } else
        log.log('warn', 'serve', refusal(FLEET_CODES.fleet_job_invalid, { said: read.error.issues[0]?.message ?? '' }));
    } catch (error) {
      this.#say(error);
    }
    // What became of the attempt is the coordinator's; one whose lock is gone is in the queue no more.
    await job.moveToCompleted(null, lock, false).catch(() => undefined);
  }

  #say(error: unknown): void {
    const { log } = this.#options;
    if (this.#ended.signal.aborted) return;
    if (error instanceof Superseded) log.log('warn', 'agent', error.refusal.refusal);
    else log.log('error', 'agent', error instanceof ToolError ? error.refusal : messageOf(error));
  }

  /** A job that this worker cannot make goes back to the queue, and the worker ends. */
  async #isOurs(job: TakenJob, lock: string, data: SignedJob): Promise<boolean> {
    const { key, version } = this.#options;
    const { proof, ...bare } = data;
    const obstacle = () => {
      if (!isSame(proof, jobProof(key, bare))) return failure(FLEET_CODES.fleet_key_wrong, {});
      if (bare.version !== version)
        return failure(FLEET_CODES.worker_version_wrong, { expected: bare.version, got: version });
      const { coordinator: address, insecure } = bare;
      return isPlainHttp(address) && !insecure ? failure(FLEET_CODES.fleet_address_insecure, { address }) : null;
    };
    const broken = obstacle();
    if (broken === null) return true;
    this.#broken ??= broken;
    this.drain('finish');
    await job.moveToWait(lock).catch(() => undefined);
    return false;
  }

  async #make(job: TakenJob, lock: string, data: SignedJob): Promise<void> {
    const { store, key, name, version, clock, log, make } = this.#options;
    const id = attemptId(data);
    const over = new AbortController();
    const superseded = new AbortController();
    const renew = async () => {
      while (!over.signal.aborted) {
        // One that cannot be renewed is not lost yet: the coordinator decides.
        await job.extendLock(lock, data.lease_ms).catch(() => undefined);
        // Another coordinator acts for the repository: this one may never answer again.
        const fence = store.problem === null ? await store.fenceOf(data.repository).catch(() => null) : null;
        if (fence !== null && fence !== data.fence)
          superseded.abort(new Superseded(failure(FLEET_CODES.attempt_superseded, { attempt: id })));
        await clock.sleep(renewalMs(data.lease_ms), over.signal);
      }
    };
    void renew();
    const client = new CoordinatorClient({
      ...{ job: data, key, worker: name, version, clock },
      signal: AbortSignal.any([this.#ended.signal, superseded.signal]),
      onSilent: (said) =>
        log.log('warn', 'serve', refusal(FLEET_CODES.coordinator_silent, { address: data.coordinator, said })),
    });
    try {
      const order = await client.take();
      const fields = { issue: data.issue, attempt: data.attempt };
      log.log('info', 'agent', `${data.repository}#${data.issue}: attempt ${data.attempt} begins`, fields);
      await make(client, order, id, this.#returning.signal);
      log.log('info', 'agent', `${data.repository}#${data.issue}: attempt ${data.attempt} is handed in`, fields);
    } finally {
      over.abort();
      await client.close();
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#workers.values()].map((worker) => worker.close(true).catch(() => undefined)));
    this.#options.store.close();
  }
}
