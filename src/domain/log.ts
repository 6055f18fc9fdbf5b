// What every event log has in common.

/** A record as it stands in a log: with the log's version, an id of its own and the time, ms since the epoch. */
export type Stored<R> = R & { readonly v: 1; readonly id: string; readonly at: number };
