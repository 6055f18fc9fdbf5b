// Error of a tracker call, with the kind of failure.

/**
 * `paused`: a limit of the service, until `retryAt` · `unavailable`: no usable answer (5xx, time-out, cut connection, a
 * page instead of JSON) · `unauthorized`: the credential is not accepted · `refused`: the service rejected the request.
 */
export type TrackerFailure = 'paused' | 'unavailable' | 'unauthorized' | 'refused';

export class TrackerError extends Error {
  readonly failure: TrackerFailure;
  /** With `paused`: end of the pause, ms since the epoch. */
  readonly retryAt: number | null;
  /** With `refused`: the HTTP status. */
  readonly status: number | null;

  constructor(
    failure: TrackerFailure,
    message: string,
    options: { cause?: unknown; retryAt?: number; status?: number } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'TrackerError';
    this.failure = failure;
    this.retryAt = options.retryAt ?? null;
    this.status = options.status ?? null;
  }
}
