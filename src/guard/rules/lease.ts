// Lease: the right of one teammate to write one path for a time.

export type Lease = {
  /** From the root of the project. */
  readonly path: string;
  readonly member: string;
  readonly epoch: number;
  /** Milliseconds since the epoch, as is `until`. */
  readonly takenAt: number;
  readonly until: number;
  readonly reason: string;
};
