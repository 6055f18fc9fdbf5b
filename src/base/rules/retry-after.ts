// `Retry-After` as HTTP defines it: a number of seconds, or a date (RFC 9110, section 10.2.3).

/** Dates of HTTP begin with the day of the week. `Date.parse` alone takes `-5` for a year. */
const DATE = /^(mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i;

/** The time from now, ms; below 0 for a date that has passed; null for anything else. @param now ms since the epoch */
export function retryAfterMs(value: string, now: number): number | null {
  const text = value.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : date - now;
}
