// A trial of the rights that a queue needs.

import type { Store } from './store.ts';

/** Has one job go through a queue, by every command that attempts need. Rejects with what the store said. */
export async function probeQueue(store: Pick<Store, 'queue' | 'worker'>, name: string): Promise<void> {
  const queue = store.queue(name);
  const worker = store.worker(name, { lockMs: 5_000 });
  try {
    const job = { coordinator: '', insecure: false, repository: '', issue: 0, life: 0, attempt: 0, fence: 0 };
    const options = { jobId: name, removeOnComplete: true, priority: 1 };
    await queue.add('probe', { ...job, labels: [], version: '', lease_ms: 1_000 }, options);
    const taken = await worker.getNextJob(name, { block: false });
    await taken?.extendLock(name, 5_000);
    await taken?.moveToCompleted(null, name, false);
    await queue.obliterate({ force: true });
  } finally {
    await Promise.all([worker.close(true), queue.close()].map((closing) => closing.catch(() => undefined)));
  }
}
