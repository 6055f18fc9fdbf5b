// Delays before retries: of attempts, of publishing, of removals and of an issue's work that broke off.

const RETRY_BASE_MS = 10_000;
const OUTAGE_BASE_MS = 60_000;

/**
 * The pause after the n-th failure in a row: 10 s × 2ⁿ⁻¹ with ±20 % jitter, never above `capMs`.
 * @param failures how many attempts have failed, at least 1
 * @param random a number in [0, 1)
 * @returns milliseconds
 */
export function retryDelayMs(failures: number, capMs: number, random: number): number {
  const exponential = RETRY_BASE_MS * 2 ** Math.min(failures - 1, 30);
  return Math.round(Math.min(capMs, Math.min(capMs, exponential) * (0.8 + 0.4 * random)));
}

/**
 * The pause after the n-th outage in a row: 60 s × 2ⁿ⁻¹ with jitter, at least a minute, at most `longestPauseMs`.
 * @param outages how many attempts in a row could not work, at least 1
 * @param random a number in [0, 1)
 * @returns milliseconds
 */
export function outageDelayMs(outages: number, capMs: number, random: number): number {
  const longest = longestPauseMs(capMs);
  const exponential = Math.min(longest, OUTAGE_BASE_MS * 2 ** Math.min(outages - 1, 30));
  return Math.round(Math.min(longest, Math.max(OUTAGE_BASE_MS, exponential * (0.8 + 0.4 * random))));
}

/** Upper bound of every pause before an attempt, ms. */
export function longestPauseMs(capMs: number): number {
  return Math.max(capMs, OUTAGE_BASE_MS);
}
