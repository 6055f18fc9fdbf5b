// Waits that end: what does not come to pass is named, and the test fails with it.

import { setTimeout as delay } from 'node:timers/promises';

/** Long enough for a machine that is ten times slower than those that this was written on. */
const LIMIT_MS = 300_000;

/** @param words what came instead, as far as it is known by then */
export async function within<T>(
  what: string,
  promise: Promise<T>,
  words: () => string = () => '',
  limitMs = LIMIT_MS,
): Promise<T> {
  const over = new AbortController();
  const late = delay(limitMs, undefined, { signal: over.signal }).then((): never => {
    throw new Error(`waited in vain for ${limitMs / 1000} s: ${what}\n${words()}`);
  });
  // Nobody listens to it once the other one has come.
  late.catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    over.abort();
  }
}
