// The queue as its coordinator uses it: jobs are added and taken out, and it is seen how many wait and who works.

import type { Logger } from '../../base/ports.ts';
import { refusal } from '../../base/rules/codes.ts';
import { messageOf } from '../../base/rules/errors.ts';
import type { QueueSight } from '../../daemon/view-source.ts';
import { jobProof } from '../proofs.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import { attemptId, type FleetJob, labelsOfQueue, queueName } from '../rules/job.ts';
import { WorkerSight } from '../rules/worker-sight.ts';
import type { JobQueue, Store } from '../store/store.ts';
import { queueFailure } from '../store/store-failure.ts';
import type { SignedJob } from '../wire.ts';

const LOOK_MS = 2_000;

export class AttemptQueue {
  readonly #store: Store;
  readonly #key: string;
  readonly #log: Logger;
  readonly #queues = new Map<string, JobQueue>();
  readonly #workers = new WorkerSight();
  #sight: QueueSight = { waiting: 0, active: 0, workers: [], problem: null };
  /** Why the last look at it came to nothing; null: it did not. */
  #problem: string | null = null;
  #timer: NodeJS.Timeout | undefined;
  #looking = false;

  constructor(store: Store, key: string, log: Logger) {
    this.#store = store;
    this.#key = key;
    this.#log = log;
  }

  readonly #failed = (error: unknown): never => {
    throw queueFailure(this.#store.address, error);
  };

  #queue(labels: readonly string[]): { readonly name: string; readonly queue: JobQueue } {
    const name = queueName(labels);
    const known = this.#queues.get(name);
    const queue = known ?? this.#store.queue(name);
    this.#queues.set(name, queue);
    return { name, queue };
  }

  /** A job that is there stays as it is. Throws a ToolError. */
  async add(job: FleetJob, priority: number): Promise<void> {
    const { name, queue } = this.#queue(job.labels);
    const signed: SignedJob = { ...job, proof: jobProof(this.#key, job) };
    // What is over leaves nothing behind.
    const options = { jobId: attemptId(job), priority, removeOnComplete: true, removeOnFail: true };
    await this.#store.announceQueue(name).catch(this.#failed);
    await queue.add('attempt', signed, options).catch(this.#failed);
  }

  /** Whether it waits or is with a worker; null: the queue gives no answer. Throws a ToolError. */
  async has(job: FleetJob): Promise<boolean | null> {
    if (this.#store.problem !== null) return null;
    return (await this.#queue(job.labels).queue.getJobState(attemptId(job)).catch(this.#failed)) !== 'unknown';
  }

  /** Whether a worker holds it; null: the queue gives no answer. */
  async isHeld(job: FleetJob): Promise<boolean | null> {
    if (this.#store.problem !== null) return null;
    return this.#store.isLocked(queueName(job.labels), attemptId(job));
  }

  /** One that a worker holds stays with it. */
  async remove(job: FleetJob): Promise<void> {
    if (this.#store.problem === null) await this.#queue(job.labels).queue.remove(attemptId(job));
  }

  /** Takes jobs of earlier coordinators of a repository out: whoever has the newest lease begins each attempt anew. */
  async removeOld(repository: string, fence: number): Promise<void> {
    const isOld = (job: Partial<FleetJob>) =>
      job.repository?.toLowerCase() === repository.toLowerCase() && (job.fence ?? 0) < fence;
    for (const name of await this.#store.queueNames()) {
      const labels = labelsOfQueue(name);
      if (labels === null) continue;
      const { queue } = this.#queue(labels);
      const jobs = await queue.getJobs(['waiting', 'prioritized', 'delayed']);
      // One that was taken meanwhile is locked: its worker learns that it is over.
      for (const job of jobs) if (isOld(job.data)) await job.remove().catch(() => undefined);
    }
  }

  get sight(): QueueSight {
    return { ...this.#sight, problem: this.#store.problem ?? this.#problem };
  }

  /** Begins to look at the queue now and then. */
  watch(onChange: () => void): void {
    const look = async () => {
      if (this.#looking) return;
      this.#looking = true;
      const before = shownOf(this.sight);
      try {
        if (this.#store.problem === null) this.#sight = await this.#look();
        this.#note(this.#store.problem);
      } catch (error) {
        this.#note(this.#store.problem ?? messageOf(error));
      } finally {
        this.#looking = false;
      }
      if (shownOf(this.sight) !== before) onChange();
    };
    void look();
    this.#timer = setInterval(() => void look(), LOOK_MS);
  }

  /** Says the same problem once, until it is another one or it works again. */
  #note(problem: string | null): void {
    if (problem !== null && problem !== this.#problem) {
      const why = refusal(FLEET_CODES.queue_interrupted, { url: this.#store.address, said: problem });
      this.#log.log('warn', 'serve', why);
    }
    this.#problem = problem;
  }

  async #look(): Promise<QueueSight> {
    const counts = await Promise.all(
      [...this.#queues].map(async ([name, queue]) => {
        const {
          waiting = 0,
          prioritized = 0,
          active = 0,
        } = await queue.getJobCounts('waiting', 'prioritized', 'active');
        return { labels: labelsOfQueue(name) ?? [], waiting: waiting + prioritized, active };
      }),
    );
    const workers = await this.#store.workers();
    for (const one of this.#workers.look(counts, workers)) this.#log.log('warn', 'serve', one);
    const sum = (of: 'waiting' | 'active') => counts.reduce((total, one) => total + one[of], 0);
    return { waiting: sum('waiting'), active: sum('active'), workers, problem: null };
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#queues.values()].map((queue) => queue.close().catch(() => undefined)));
    this.#store.close();
  }
}

/** All but the times of heartbeats, which differ at each look. */
function shownOf({ workers, ...counts }: QueueSight): string {
  return JSON.stringify([counts, workers.map(({ seenMs, sent_at, ...rest }) => rest)]);
}
