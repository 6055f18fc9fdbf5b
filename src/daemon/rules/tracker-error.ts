// Error of a tracker call, with the kind of failure.

import { type Refusal, textOf, type Values } from '../../base/rules/codes.ts';

/**
 * `paused`: a limit of the service, until `retryAt` · `unavailable`: no usable answer (5xx, time-out, cut connection, a
 * page instead of JSON) · `unauthorized`: the credential is not accepted · `refused`: the service rejected the request.
 */
export type TrackerFailure = 'paused' | 'unavailable' | 'unauthorized' | 'refused';

export class TrackerError extends Error {
  readonly failure: TrackerFailure;
  readonly refusal: Refusal;
  /** With `paused`: end of the pause, ms since the epoch. */
  readonly retryAt: number | null;
  /** With `refused`: the HTTP status. */
  readonly status: number | null;

  constructor(
    failure: TrackerFailure,
    refusal: Refusal,
    options: { cause?: unknown; retryAt?: number; status?: number } = {},
  ) {
    super(textOf(refusal), { cause: options.cause });
    this.name = 'TrackerError';
    this.failure = failure;
    this.refusal = refusal;
    this.retryAt = options.retryAt ?? null;
    this.status = options.status ?? null;
  }

  get code(): string {
    return this.refusal.of.code;
  }

  get values(): Values {
    return this.refusal.values;
  }

  /** The service's own words, where the entry has them. */
  get said(): string {
    return typeof this.values.said === 'string' ? this.values.said : this.message;
  }
}
