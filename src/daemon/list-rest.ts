// Reads what a poll left of a long list: at first, and now and then, agents start before all of it is known.

import type { Clock, Logger } from '../base/ports.ts';
import { refusal } from '../base/rules/codes.ts';
import { messageOf } from '../base/rules/errors.ts';
import type { Tracker } from './ports.ts';
import { WORK_CODES } from './rules/codes/work-codes.ts';
import type { Issue } from './rules/issue.ts';

export type ListRestOptions = {
  readonly tracker: Pick<Tracker, 'listRest'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly once?: boolean;
  readonly freeSlots: () => number;
  /** Takes the whole list. */
  readonly take: (listing: readonly Issue[]) => Promise<void>;
};

/** Agents that have just been started are not kept waiting by the reading of a long list. */
const PAUSE_MS = 2_000;

export class ListRest {
  readonly #options: ListRestOptions;
  #isReading = false;

  constructor(options: ListRestOptions) {
    this.#options = options;
  }

  async read(signal: AbortSignal): Promise<void> {
    const { tracker, log, clock, once, freeSlots, take } = this.#options;
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      if (once !== true && freeSlots() <= 0) await clock.sleep(PAUSE_MS, signal);
      if (signal.aborted) return;
      const listing = await tracker.listRest(signal);
      if (listing !== null) await take(listing);
    } catch (error) {
      const what = refusal(WORK_CODES.list_incomplete, { said: messageOf(error) });
      if (!signal.aborted) log.log('warn', 'poller', what);
    } finally {
      this.#isReading = false;
    }
  }
}
