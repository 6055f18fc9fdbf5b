// The hosting service's limits: read from its answers, obeyed before the next request.

import type { Clock } from '../../base/ports.ts';
import { retryAfterMs } from '../../base/rules/retry-after.ts';
import type { RateLimit } from '../ports.ts';

type Headers = Readonly<Record<string, string | number | undefined>>;

const SECONDARY_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 60 * 60_000;

function numberOf(value: string | number | undefined): number | null {
  if (value === undefined || value === '') return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

export class Limits {
  readonly #clock: Pick<Clock, 'now' | 'elapsed'>;
  #limit: number | null = null;
  #remaining: number | null = null;
  #resetAt: number | null = null;
  /** The end of the pause in elapsed time: it is no shorter and no longer when somebody sets the clock. */
  #pauseEnd: number | null = null;
  #reason: string | null = null;

  constructor(clock: Pick<Clock, 'now' | 'elapsed'>) {
    this.#clock = clock;
  }

  /** When requests may be made again, ms since the epoch; null: now. */
  get pausedUntil(): number | null {
    if (this.#pauseEnd === null) return null;
    const left = this.#pauseEnd - this.#clock.elapsed();
    return left > 0 ? this.#clock.now() + left : null;
  }

  get reason(): string | null {
    return this.pausedUntil === null ? null : this.#reason;
  }

  get snapshot(): RateLimit {
    const iso = (at: number | null) => (at === null ? null : new Date(at).toISOString());
    return {
      limit: this.#limit,
      remaining: this.#remaining,
      reset_at: iso(this.#resetAt),
      paused_until: iso(this.pausedUntil),
      reason: this.reason,
    };
  }

  /** Reads an answer's headers; gives the end of the pause that it asks for, or null. */
  observe(status: number, headers: Headers, message: string): number | null {
    const reset = numberOf(headers['x-ratelimit-reset']);
    // GraphQL has a quota of its own.
    if ((headers['x-ratelimit-resource'] ?? 'core') === 'core') {
      this.#limit = numberOf(headers['x-ratelimit-limit']) ?? this.#limit;
      this.#remaining = numberOf(headers['x-ratelimit-remaining']) ?? this.#remaining;
      if (reset !== null) this.#resetAt = reset * 1000;
    }
    if (status !== 403 && status !== 429) return null;
    // A moment that the service names is one of its own clock, which the answer tells.
    const there = typeof headers.date === 'string' ? Date.parse(headers.date) : Number.NaN;
    const now = Number.isNaN(there) ? this.#clock.now() : there;
    const asked = retryAfterMs(String(headers['retry-after'] ?? ''), now);
    if (asked !== null) return this.#pause(asked, 'the service asked to wait (Retry-After)');
    if (numberOf(headers['x-ratelimit-remaining']) === 0 && reset !== null)
      return this.#pause(reset * 1000 - now, "the hour's quota of requests is used up");
    if (status === 429 || /secondary rate limit|abuse detection/i.test(message))
      return this.#pause(SECONDARY_PAUSE_MS, 'a secondary limit of the service');
    return null;
  }

  #pause(ms: number, reason: string): number {
    const { now, elapsed } = this.#clock;
    const at = elapsed();
    const left = Math.min(Math.max(ms, 1000, (this.#pauseEnd ?? at) - at), LONGEST_PAUSE_MS);
    this.#pauseEnd = at + left;
    this.#reason = reason;
    return now() + left;
  }
}
