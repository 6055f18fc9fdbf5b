// Reads the list of labelled issues: at the pace of polls, and in between when a delivery asks for it.

import type { Clock, Logger } from '../base/ports.ts';
import { refusal } from '../base/rules/codes.ts';
import { messageOf } from '../base/rules/errors.ts';
import type { Follower } from './follower.ts';
import type { Looks } from './looks.ts';
import type { Journal, OwnWorkflow, PollInfo, Tracker } from './ports.ts';
import { WORK_CODES } from './rules/codes/work-codes.ts';
import type { Issue } from './rules/issue.ts';
import { type EventKind, pollPauseMs } from './rules/look.ts';
import { TrackerError } from './rules/tracker-error.ts';
import type { Workflow } from './rules/workflow.ts';
import type { Slots } from './slots.ts';

export type PollerOptions = {
  readonly workflow: () => Workflow;
  readonly journal: Journal;
  readonly tracker: Tracker;
  readonly clock: Clock;
  readonly log: Logger;
  readonly once?: boolean;
  /** Left out: no repository has a file of its own. */
  readonly ownFile?: OwnWorkflow;
  readonly looks: Pick<Looks, 'arrival'>;
  readonly follower: Pick<Follower, 'waitsForTime'>;
  readonly slots: Pick<Slots, 'wants'>;
};

export class Poller {
  readonly #options: PollerOptions;
  #lastAt: number | null = null;
  #lastError: string | null = null;
  #isBegun = false;
  /** When the last poll was answered, in elapsed time, and by the clock. */
  #polledAt = 0;
  #polledTime = 0;
  /** When the next one is due, in elapsed time, after a reading that was not answered, and at first. */
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
    const { workflow, journal, looks, follower } = this.#options;
    const { intervalMs } = workflow().polling;
    if (looks.arrival('issues') === null || follower.waitsForTime) return intervalMs;
    const kinds = new Set<EventKind>(['issues']);
    for (const { phase, follow, serial, question, run } of journal.state.entries.values()) {
      if (phase !== 'following' && phase !== 'held_back' && phase !== 'asking' && phase !== 'running') continue;
      kinds.add(phase === 'following' || phase === 'held_back' ? 'pulls' : 'comments');
      const began = {
        following: follow?.since,
        held_back: serial?.since,
        asking: question?.at,
        running: run?.startedAt,
      };
      const since = began[phase];
      // What happened before it was watched came with no delivery that counts.
      if ((since ?? 0) >= this.#polledTime) return intervalMs;
    }
    return pollPauseMs(
      intervalMs,
      this.#polledAt,
      [...kinds].map((kind) => looks.arrival(kind)),
    );
  }

  /** Something was not read: the next poll is due at the ordinary pace. @param wake ends the wait for a later one */
  hurry(wake: AbortController): void {
    const { clock, workflow } = this.#options;
    this.#retryAt ??= Math.min(this.#dueAt, clock.elapsed() + workflow().polling.intervalMs);
    wake.abort();
  }

  /** Before the first poll. */
  async begin(signal: AbortSignal): Promise<void> {
    await this.#lookAtOwnFile(signal);
    // Until its issues are read: of many repositories, the one that is read first does not get all.
    this.#options.slots.wants(1);
  }

  /** A repository that waits for git keeps no slot from others. */
  async #lookAtOwnFile(signal: AbortSignal): Promise<void> {
    await this.#options.ownFile?.look(signal, () => this.#options.slots.wants(0));
  }

  /** The list; null when there was no answer. @param isPoll false: the next poll is due when it was */
  async read(isPoll: boolean, signal: AbortSignal): Promise<readonly Issue[] | null> {
    const { tracker, clock, log, workflow } = this.#options;
    if (isPoll) await this.#lookAtOwnFile(signal);
    const { polling, labels, agent } = workflow();
    this.#isBegun = true;
    try {
      const listing = await tracker.listActive(labels.active, signal, agent.priorityLabels);
      if (this.#lastError !== null) log.log('info', 'poller', 'the tracker answers again');
      this.#lastError = null;
      this.#lastAt = clock.now();
      if (isPoll) {
        this.#retryAt = null;
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
      const next = clock.elapsed() + Math.max(polling.intervalMs, (retryAt ?? 0) - clock.now());
      // Deliveries do not put off the poll that is due.
      this.#retryAt = isPoll ? next : (this.#retryAt ?? next);
      return null;
    }
  }
}
