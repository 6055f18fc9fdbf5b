// Quota of a runtime as its program announces it: exit code 75 and a line `Retry-After: …` on standard error.

import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { retryAfterMs } from '../../base/rules/retry-after.ts';
import { AGENT_CODES } from './agent-codes.ts';

/** EX_TEMPFAIL of sysexits.h. */
export const QUOTA_EXIT = 75;

/** Longest wait for a quota. */
export const LONGEST_QUOTA_MS = 8 * 24 * 3_600_000;

/** The value of a line `Retry-After: …`; null: the line is another one. */
export function retryAfterOf(line: string): string | null {
  return /^\s*retry-after:(.*)$/i.exec(line)?.[1]?.trim() ?? null;
}

/** `at`: when the quota is there again, ms since the epoch; null: the value tells no time. `problem`: why the value does not count as it is. */
export type Announced = { readonly at: number | null; readonly problem: Refusal | null };

/** @param now ms since the epoch */
export function announced(value: string, now: number): Announced {
  const ms = retryAfterMs(value, now);
  if (ms === null) return { at: null, problem: refusal(AGENT_CODES.retry_after_invalid, { got: value }) };
  if (ms <= LONGEST_QUOTA_MS) return { at: now + ms, problem: null };
  const days = LONGEST_QUOTA_MS / 86_400_000;
  return { at: now + LONGEST_QUOTA_MS, problem: refusal(AGENT_CODES.retry_after_too_long, { got: value, days }) };
}
