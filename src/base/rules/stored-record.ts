// Envelope of a record in an event log: version, id and time.

/** Record as it is stored in a log: with the log's version, its own id and its time, ms since the epoch. */
export type Stored<R> = R & { readonly v: 1; readonly id: string; readonly at: number };
