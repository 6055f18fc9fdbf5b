// A worker: takes jobs from the queue while it has free slots, makes their attempts, and drains when it is to end.

import { randomUUID } from 'node:crypto';
import type { Clock, Logger } from '../../base/ports.ts';
import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { failure, isFailure, messageOf, ToolError } from '../../base/rules/errors.ts';
import { isPlainHttp } from '../../daemon/rules/queue-settings.ts';
import { isSame, jobProof } from '../proofs.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import { type AttemptIdentity, attemptId, attemptName, queuesFor, renewalMs } from '../rules/job.ts';
import { type JobWorker, PRESENCE_MS, type Store } from '../store/store.ts';
import { queueFailure } from '../store/store-failure.ts';
import { jobSchema, type Order, type SignedJob } from '../wire.ts';
import { reasonOf, Superseded, Unreachable } from './coordinator-answers.ts';
import { CoordinatorClient } from './coordinator-client.ts';
import { fenceNow, successorOf } from './successor.ts';

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
  /** Makes one attempt that was taken; throws `Superseded`. False: this machine has no room for one. */
  readonly make: (attempt: TakenAttempt) => Promise<boolean>;
};

export type TakenAttempt = {
  readonly client: CoordinatorClient;
  readonly job: SignedJob;
  readonly order: Order;
  readonly id: string;
  readonly returning: AbortSignal;
  /** When the coordinator was asked for it, ms since the epoch. */
  readonly askedAt: number;
};

type TakenJob = NonNullable<Awaited<ReturnType<JobWorker['getNextJob']>>>;

/**
 * What becomes of a job: it is over, others may take it at once, or after a pause. The first in a queue that nobody here can
 * make would keep the others waiting.
 */
type Fate = 'complete' | 'return' | 'later';

/** Between two looks at queues that were empty. */
const LOOK_MS = 250;
/** How often it is looked for new queues. */
const QUEUES_MS = 2_000;
/** A store that stays away is named so often. */
const SAY_MS = 60_000;
/** A queue is left alone so long after a job was given back to it. */
const REST_MS = 2_000;
const LATER_MS = 10_000;
/** Jobs of a coordinator that cannot be reached are left to others for two leases, and no longer than this. */
const LONGEST_AVOID_MS = 60_000;
/** After an attempt for which this machine had no room. Longer than the pause before the next attempt, which is for another worker. */
const UNABLE_MS = 120_000;
/** A coordinator has so long to say whether it has the same key: less than the first lock. */
const ASK_MS = 10_000;
/** Until the job's own lease is known. */
const FIRST_LOCK_MS = 15_000;

function drainLine(how: 'finish' | 'return', agents: number): string {
  if (agents === 0) return 'takes no more attempts, and ends';
  const waits = `waits for attempts at work: ${agents}; a second signal hands their work back`;
  return `takes no more attempts, and ${how === 'finish' ? waits : `hands back the work of attempts: ${agents}`}`;
}

export class FleetWorker {
  readonly #options: WorkerOptions;
  readonly #workers = new Map<string, JobWorker>();
  readonly #running = new Set<Promise<void>>();
  /** No job is taken any more. */
  readonly #draining = new AbortController();
  /** Agents are ended, and their work handed back. */
  readonly #returning = new AbortController();
  /** All is ended, whatever is left. */
  #isEnded = false;
  /** Of attempts that it has. */
  readonly #clients = new Set<CoordinatorClient>();
  /** Of the requests under way. */
  readonly #cuts = new Set<AbortController>();
  readonly #startedAt: number;
  #names: readonly string[] = [];
  #namesAt = Number.NEGATIVE_INFINITY;
  /** When each cause was named last, by its code. */
  readonly #saidAt = new Map<string, number>();
  /** Coordinators that this worker does not reach, with the time until when it leaves their jobs to others. */
  readonly #avoided = new Map<string, number>();
  readonly #restingUntil = new Map<string, number>();
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** Attempts that it had. */
  #made = 0;
  /** A job was signed with the key of this worker. */
  #isKeyRight = false;
  /** Why it cannot go on. */
  #broken: ToolError | null = null;
  #wake = new AbortController();
  /** Ends the sleep before it says again that it is there. */
  #changed = new AbortController();

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#startedAt = options.clock.now();
  }

  /** Takes no new job; with `return`, the agents at work are ended and their work is handed back. */
  drain(how: 'finish' | 'return'): void {
    const isNew = !(how === 'return' ? this.#returning : this.#draining).signal.aborted;
    if (isNew) this.#options.log.log('info', 'serve', drainLine(how, this.#running.size));
    this.#draining.abort();
    if (how === 'return') this.#returning.abort();
    this.#wake.abort();
    this.#changed.abort();
  }

  /** Ends what has not ended by now. */
  end(): void {
    this.drain('return');
    this.#isEnded = true;
    for (const cut of this.#cuts) cut.abort(new Error('the worker ends'));
  }

  /** It cannot go on: agents at work finish. */
  #break(why: ToolError): void {
    this.#broken ??= why;
    this.drain('finish');
  }

  /** Runs until it is drained, or with `once` until one attempt is over. Throws a ToolError that it cannot go on with. */
  async run(): Promise<void> {
    const { clock, slots, once } = this.#options;
    const { signal } = this.#draining;
    const over = new AbortController();
    const announcing = this.#announce(over.signal);
    try {
      while (!signal.aborted && !(once && this.#made > 0)) {
        // One signal for each sleep: what waits for a lasting one is never let go by Node 20.
        this.#wake = new AbortController();
        const isTaken = this.#running.size < (once ? 1 : slots) && (await this.#takeOne());
        if (!isTaken) await clock.sleep(LOOK_MS, this.#wake.signal);
      }
      await Promise.all([...this.#running]);
    } finally {
      over.abort();
      this.#changed.abort();
      await announcing;
    }
    if (this.#broken !== null) throw this.#broken;
  }

  /** Says now and then that it is there. */
  async #announce(over: AbortSignal): Promise<void> {
    const { store, clock, name, labels, slots, version } = this.#options;
    while (!over.aborted) {
      this.#changed = new AbortController();
      const draining = this.#draining.signal.aborted;
      const presence = {
        ...{ name, labels: [...labels], slots, used: this.#running.size, version, draining },
        started_at: this.#startedAt,
        sent_at: clock.now(),
      };
      if (store.problem === null) await store.announceWorker(presence).catch(() => undefined);
      // That it drains is said at once.
      await clock.sleep(PRESENCE_MS / 5, this.#changed.signal);
    }
    if (store.problem === null) await store.forgetWorker(name).catch(() => undefined);
  }

  /** Once in a while for each cause. */
  #sayOnce(what: Refusal): void {
    const { clock, log } = this.#options;
    const said = this.#saidAt.get(what.of.code);
    if (said !== undefined && clock.elapsed() - said < SAY_MS) return;
    this.#saidAt.set(what.of.code, clock.elapsed());
    log.log('warn', 'serve', what);
  }

  /** A store that refuses this worker ends it; one that is away, or slow, is connected to again. */
  #fail(error: unknown): void {
    const { store } = this.#options;
    const why = queueFailure(store.address, error);
    if (isFailure(why, FLEET_CODES.queue_permission_missing)) this.#break(why);
    else this.#sayOnce(refusal(FLEET_CODES.queue_interrupted, { url: store.address, said: messageOf(error) }));
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
    const { store, clock } = this.#options;
    if (store.problem !== null) {
      this.#fail(store.problem);
      return false;
    }
    try {
      for (const name of await this.#queues()) {
        if (clock.elapsed() < Math.max(this.#pausedUntil, this.#restingUntil.get(name) ?? 0)) continue;
        const worker = this.#workers.get(name) ?? store.worker(name, { lockMs: FIRST_LOCK_MS });
        if (!this.#workers.has(name)) {
          this.#workers.set(name, worker);
          // Without an answer of the store it begins with the next look.
          worker.startStalledCheckTimer().catch(() => undefined);
        }
        const lock = randomUUID();
        const job = await worker.getNextJob(lock, { block: false });
        if (job === undefined || job === null) continue;
        const running = this.#see(job, lock, name).finally(() => {
          this.#running.delete(running);
          this.#wake.abort();
        });
        this.#running.add(running);
        return true;
      }
    } catch (error) {
      this.#fail(error);
    }
    return false;
  }

  /** Sees one job through; never rejects. */
  async #see(job: TakenJob, lock: string, queue: string): Promise<void> {
    const { clock } = this.#options;
    const fate = await this.#fateOf(job, lock).catch((error: unknown): Fate => {
      this.#say(error);
      return 'complete';
    });
    // What became of the attempt is the coordinator's; one whose lock is gone is in the queue no more.
    try {
      if (fate === 'complete') await job.moveToCompleted(null, lock, false);
      if (fate === 'later') await job.moveToDelayed(clock.now() + LATER_MS, lock);
      if (fate === 'return') {
        // Others may take it: this one would get it again at once.
        this.#restingUntil.set(queue, clock.elapsed() + REST_MS);
        await job.moveToWait(lock);
      }
    } catch {
      // The store gives the job to another worker when the lock ends.
    }
  }

  #say(error: unknown): void {
    const { log } = this.#options;
    if (this.#isEnded) return;
    if (error instanceof Superseded) log.log('warn', 'agent', error.refusal.refusal);
    else log.log('error', 'agent', error instanceof ToolError ? error.refusal : messageOf(error));
  }

  async #fateOf(job: TakenJob, lock: string): Promise<Fate> {
    const { key, clock, log } = this.#options;
    const read = jobSchema.safeParse(job.data);
    if (!read.success) {
      log.log('warn', 'serve', refusal(FLEET_CODES.fleet_job_invalid, { said: read.error.issues[0]?.message ?? '' }));
      return 'complete';
    }
    const { proof, ...bare } = read.data;
    const isSigned = isSame(proof, jobProof(key, bare));
    if (await this.#isOld(bare)) {
      if (!isSigned) this.#sayOnce(refusal(FLEET_CODES.fleet_job_foreign, { address: bare.coordinator }));
      return 'complete';
    }
    const address = bare.coordinator;
    if ((this.#avoided.get(address) ?? 0) > clock.elapsed()) return isSigned ? 'return' : 'later';
    if (isPlainHttp(address) && !bare.insecure) {
      if (isSigned) this.#break(failure(FLEET_CODES.fleet_address_insecure, { address }));
      return isSigned ? 'return' : 'complete';
    }
    if (!isSigned) return this.#fateOfForeign(read.data);
    this.#isKeyRight = true;
    return this.#make(job, lock, read.data);
  }

  /** Whether another coordinator acts for the repository by now. */
  async #isOld({ repository, fence }: AttemptIdentity): Promise<boolean> {
    const now = await fenceNow(this.#options.store, repository);
    return now !== null && now !== fence;
  }

  #client(job: SignedJob, signal: AbortSignal): CoordinatorClient {
    const { store, key, name, version, clock, log } = this.#options;
    const address = job.coordinator;
    // One connection that is dead tells of all others to the same machine.
    const onDead = () => {
      for (const one of this.#clients) if (one.address === client.address) one.renewConnections();
    };
    const client = new CoordinatorClient({
      ...{ job, key, worker: name, version, clock, signal, successor: () => successorOf(store, key, job.repository) },
      onDead,
      onSilent: (said) => log.log('warn', 'serve', refusal(FLEET_CODES.coordinator_silent, { address, said })),
    });
    return client;
  }

  /** A job with the proof of another key: the coordinator says whether the key of this worker is wrong. */
  async #fateOfForeign(job: SignedJob): Promise<Fate> {
    const address = job.coordinator;
    const cut = this.#cut();
    const client = this.#client(job, cut.signal);
    try {
      const isShared = await client.sharesKey(ASK_MS);
      if (isShared || this.#isKeyRight) this.#sayOnce(refusal(FLEET_CODES.fleet_job_foreign, { address }));
      if (isShared) return 'complete';
      // A coordinator of another fleet in the same store: its own workers take the job.
      if (this.#isKeyRight) return 'later';
      this.#break(failure(FLEET_CODES.fleet_key_wrong, {}));
      return 'return';
    } catch (error) {
      if (error instanceof Unreachable) return await this.#fateOfSilent(job, ASK_MS, error.message, 'later');
      throw error;
    } finally {
      this.#cuts.delete(cut);
      await client.close();
    }
  }

  /** The coordinator gives no answer: when it still acts for the repository, other workers may reach it. */
  async #fateOfSilent(job: SignedJob, ms: number, said: string, otherwise: Fate): Promise<Fate> {
    const { store, clock } = this.#options;
    const { coordinator: address, repository } = job;
    if ((await fenceNow(store, repository)) === null && store.problem === null) return 'complete';
    for (const [other, until] of this.#avoided) if (until <= clock.elapsed()) this.#avoided.delete(other);
    this.#avoided.set(address, clock.elapsed() + Math.min(2 * job.lease_ms, LONGEST_AVOID_MS));
    this.#sayOnce(refusal(FLEET_CODES.coordinator_unreachable, { address, seconds: Math.round(ms / 1000), said }));
    return otherwise;
  }

  /** Aborted when the worker ends: one for each attempt, since what waits for a lasting signal is never let go by Node 20. */
  #cut(): AbortController {
    const cut = new AbortController();
    if (this.#isEnded) cut.abort(new Error('the worker ends'));
    this.#cuts.add(cut);
    return cut;
  }

  async #make(job: TakenJob, lock: string, data: SignedJob): Promise<Fate> {
    const { version, clock, log, make } = this.#options;
    const id = attemptId(data);
    const over = new AbortController();
    const cut = this.#cut();
    const client = this.#client(data, cut.signal);
    this.#clients.add(client);
    const renew = async () => {
      while (!over.signal.aborted) {
        // One that cannot be renewed is not lost yet: the coordinator decides.
        await job.extendLock(lock, data.lease_ms).catch(() => undefined);
        // Another coordinator acts for the repository: the one before may never answer again.
        const { moves } = client;
        if ((await this.#isOld(client.job)) && moves === client.moves && !(await client.goOn()))
          cut.abort(new Superseded(failure(FLEET_CODES.attempt_superseded, { attempt: attemptName(id) })));
        await clock.sleep(renewalMs(data.lease_ms), over.signal);
      }
    };
    void renew();
    const askedAt = clock.now();
    try {
      const order = await client.take();
      this.#made += 1;
      const fields = { issue: data.issue, attempt: data.attempt };
      log.log('info', 'agent', `${data.repository}#${data.issue}: attempt ${data.attempt} begins`, fields);
      const isAble = await make({ client, job: data, order, id, askedAt, returning: this.#returning.signal });
      log.log('info', 'agent', `${data.repository}#${data.issue}: attempt ${data.attempt} is handed in`, fields);
      if (!isAble) this.#pausedUntil = clock.elapsed() + UNABLE_MS;
      return 'complete';
    } catch (error) {
      if (error instanceof Unreachable)
        return await this.#fateOfSilent(data, 2 * data.lease_ms, error.message, 'return');
      const reason = reasonOf(error);
      if (reason === FLEET_CODES.worker_version_wrong.code)
        this.#break(failure(FLEET_CODES.worker_version_wrong, { expected: data.version, got: version }));
      else if (reason === FLEET_CODES.fleet_key_wrong.code) this.#break(failure(FLEET_CODES.fleet_key_wrong, {}));
      else throw error;
      return 'return';
    } finally {
      over.abort();
      // Or the renewal goes on to look for another coordinator, and keeps the process alive.
      cut.abort(new Error('the attempt is over'));
      this.#cuts.delete(cut);
      this.#clients.delete(client);
      await client.close();
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#workers.values()].map((worker) => worker.close(true).catch(() => undefined)));
    this.#options.store.close();
  }
}
