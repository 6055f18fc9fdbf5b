// Issues that something is being done for, and their attempts.

import type { Attempt } from './attempt.ts';
import type { AttemptStatus } from './attempt-status.ts';

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

  /** What the agents at work are doing, by issue. */
  get statuses(): ReadonlyMap<number, AttemptStatus> {
    return new Map(this.attempting.map(({ number, attempt }) => [number, attempt.status]));
  }
}
