// Issues that something is being done for, and their attempts.

import type { Attempt } from './attempt.ts';
import type { AttemptStatus } from './attempt-status.ts';
import type { EndCause } from './rules/attempt-end.ts';

/** One issue that something is being done for. */
export type Worker = {
  readonly number: number;
  attempt: Attempt | undefined;
  readonly abort: AbortController;
  done: Promise<void>;
};

export class Workers extends Map<number, Worker> {
  /** Those with an attempt under way. */
  get attempting(): readonly (Worker & { readonly attempt: Attempt })[] {
    return [...this.values()].filter((one): one is Worker & { attempt: Attempt } => one.attempt !== undefined);
  }

  /** True: an attempt ends and concludes by itself. False: nothing is done for the issue any more. */
  async endWork(issue: number, cause: EndCause): Promise<boolean> {
    const worker = this.get(issue);
    if (worker?.attempt !== undefined) {
      worker.attempt.stop(cause);
      return true;
    }
    worker?.abort.abort(cause);
    await worker?.done;
    return false;
  }

  /** What the agents at work are doing, by issue. */
  get statuses(): ReadonlyMap<number, AttemptStatus> {
    return new Map(this.attempting.map(({ number, attempt }) => [number, attempt.status]));
  }
}
