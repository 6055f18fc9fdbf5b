// When a failed attempt is tried again.

const RETRY_BASE_MS = 10_000;

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
