// The time limit for taking in what a worker hands in.

import type { Clock } from '../../base/ports.ts';
import { failure } from '../../base/rules/errors.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';

const ADOPT_MS = 300_000;

/** Nothing else cuts it off: what is taken is taken whole, whatever ends the attempt meanwhile. */
export async function inTime(clock: Clock, act: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const [late, over] = [new AbortController(), new AbortController()];
  void clock.sleep(ADOPT_MS, over.signal).then(() => {
    if (!over.signal.aborted) late.abort(failure(FLEET_CODES.bundle_slow, { seconds: ADOPT_MS / 1000 }));
  });
  try {
    await act(late.signal);
  } catch (error) {
    late.signal.throwIfAborted();
    throw error;
  } finally {
    over.abort();
  }
}
