// Reads the list of labelled issues: at the pace of polls, and in between when a delivery asks for it.

import type { Clock, Logger } from '../base/ports.ts';
import { refusal } from '../base/rules/codes.ts';
import { messageOf } from '../base/rules/errors.ts';
import type { Journal, PollInfo, Tracker } from './ports.ts';
import { WORK_CODES } from './rules/codes/work-codes.ts';
import type { Issue } from './rules/issue.ts';
import { type EventKind, pollPauseMs } from './rules/look.ts';
import { TrackerError } from './rules/tracker-error.ts';
import type { Workflow } from './rules/workflow.ts';

export type PollerOptions = {
  readonly workflow: () => Workflow;
  readonly journal: Journal;
  readonly tracker: Tracker;
  readonly clock: Clock;
  readonly log: Logger;
  readonly once?: boolean;
  /** When the last delivery of the kind came, in elapsed time; null: none has come. */
  readonly arrival: (kind: EventKind) => number | null;
};

export class Poller {
  readonly #options: PollerOptions;
  #lastAt: number | null = null;
  #lastError: string | null = null;
  #isBegun = false;
  /** When the last poll was answered, in elapsed time, and by the clock. */
  #polledAt = 0;
  #polledTime = 0;
  /** When the next one is due, in elapsed time, after one that was not answered, and at first. */
  #retryAt: number | null = 0;

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  get info(): PollInfo {
    const { clock } = this.#options;
    const nextAt = this.#isBegun ? clock.now() + this.#dueAt - clock.elapsed() : null;
    return { lastAt: this.#lastAt, nextAt, lastError: this.#lastError, intervalMs: this.#pauseMs };
  }

  /** Whether the service answered the last time that it was asked. */
  get isAnswered(): boolean {
    return this.#lastError === null && this.#lastAt !== null;
  }

  /** How long until the next poll is due without anybody asking, ms. */
  get untilNext(): number {
    const { once, clock } = this.#options;
    return once === true ? Number.MAX_SAFE_INTEGER : this.#dueAt - clock.elapsed();
  }

  get #dueAt(): number {
    return this.#retryAt ?? this.#polledAt + this.#pauseMs;
  }

  get #pauseMs(): number {
    const { workflow, journal, arrival } = this.#options;
    const { intervalMs } = workflow().polling;
    const issues = arrival('issues');
    if (issues === null) return intervalMs;
    const follows = [...journal.state.entries.values()].flatMap(({ phase, follow }) =>
      phase === 'following' && follow !== null ? [follow] : [],
    );
    // What happened on a pull request before it was followed came with no delivery that counts.
    const isSeen = follows.every(({ since }) => since < this.#polledTime);
    if (!isSeen) return intervalMs;
    return pollPauseMs(intervalMs, this.#polledAt, follows.length === 0 ? [issues] : [issues, arrival('pulls')]);
  }

  /** The list; null when there was no answer. @param isPoll false: the next poll is due when it was */
  async read(isPoll: boolean, signal: AbortSignal): Promise<readonly Issue[] | null> {
    const { tracker, clock, log, workflow } = this.#options;
    const { polling, labels, agent } = workflow();
    this.#isBegun = true;
    try {
      const listing = await tracker.listActive(labels.active, signal, agent.priorityLabels);
      if (this.#lastError !== null) log.log('info', 'poller', 'the tracker answers again');
      this.#lastError = null;
      this.#lastAt = clock.now();
      this.#retryAt = null;
      if (isPoll) {
        this.#polledAt = clock.elapsed();
        this.#polledTime = this.#lastAt;
      }
      return listing;
    } catch (error) {
      if (signal.aborted) return null;
      const said = messageOf(error);
      if (said !== this.#lastError) log.log('warn', 'poller', refusal(WORK_CODES.poll_skipped, { said }));
      this.#lastError = said;
      const retryAt = error instanceof TrackerError ? error.retryAt : null;
      this.#retryAt = clock.elapsed() + Math.max(polling.intervalMs, (retryAt ?? 0) - clock.now());
      return null;
    }
  }
}
