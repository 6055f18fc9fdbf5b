// The real clock.

import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from './ports.ts';

/** `setTimeout` takes at most 2³¹−1 ms; a longer sleep ends early, so callers check the time again. */
const LONGEST_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  async sleep(ms, signal) {
    if (signal.aborted) return;
    try {
      await delay(Math.min(Math.max(0, ms), LONGEST_MS), undefined, { signal });
    } catch {
      // Aborted: the sleep is over.
    }
  },
};
