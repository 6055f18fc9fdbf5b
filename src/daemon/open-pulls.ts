// Asks of open pull requests that somebody waits for whether they are still open.

import type { Clock, Logger } from '../base/ports.ts';
import { refusal } from '../base/rules/codes.ts';
import { messageOf } from '../base/rules/errors.ts';
import { Misses } from './misses.ts';
import type { Journal, Tracker } from './ports.ts';
import { FOLLOW_CODES } from './rules/codes/follow-codes.ts';
import type { OpenPull } from './rules/record.ts';

export type OpenPullsOptions = {
  readonly journal: Journal;
  readonly tracker: Tracker;
  readonly clock: Clock;
  readonly log: Logger;
};

export class OpenPulls {
  readonly #options: OpenPullsOptions;
  readonly #misses = new Misses();
  /** Why each could not be read the last time. */
  readonly #unread = new Map<number, string>();

  constructor(options: OpenPullsOptions) {
    this.#options = options;
  }

  /** Records those that are over. Each reading is a conditional request. */
  async look(pulls: readonly OpenPull[], signal: AbortSignal): Promise<void> {
    const { journal, log } = this.#options;
    for (const { number, issue, branch } of pulls) {
      try {
        const state = await this.#stateOf(number, branch, signal);
        this.#unread.delete(number);
        if (state !== 'open' && journal.state.open.has(number) && !signal.aborted)
          await journal.append({ type: 'pull_request_over', issue, pull_request: number, state });
      } catch (error) {
        if (signal.aborted) return;
        const said = messageOf(error);
        if (this.#unread.get(number) === said) continue;
        this.#unread.set(number, said);
        log.log('warn', 'poller', refusal(FOLLOW_CODES.follow_unreadable, { pull_request: number, issue, said }), {
          issue,
        });
      }
    }
  }

  async #stateOf(number: number, branch: string, signal: AbortSignal): Promise<'open' | 'merged' | 'closed'> {
    const { tracker, clock } = this.#options;
    if (tracker.feed === null) return (await tracker.findPullRequest(branch, signal)) === null ? 'closed' : 'open';
    const status = await tracker.feed.read(number, signal);
    if (status === null) return this.#misses.isGone(number, clock.elapsed()) ? 'closed' : 'open';
    this.#misses.delete(number);
    return status.state;
  }
}
