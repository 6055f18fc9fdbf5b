// A lease: the right of one caller to write a file.

export type Lease = {
  readonly path: string;
  readonly member: string;
  readonly epoch: number;
  readonly takenAt: number;
  readonly until: number;
  readonly reason: string;
};
