// Why issues that carry the label are worked on or wait: trust, slots, cost; said once in the log, always on the page.

import { type DaemonState, utcDay } from '../../domain/daemon/state.ts';
import { messageOf } from '../../domain/errors.ts';
import type { Issue } from '../../domain/issue.ts';
import { longestPauseMs } from '../../domain/retry.ts';
import { oneLine } from '../../domain/text.ts';
import type { Workflow } from '../../domain/workflow.ts';
import type { Clock, Journal, Logger, Tracker, Workspaces } from '../ports.ts';
import { type Candidate, candidates, spentEvent } from './candidates.ts';
import { type Admission, Gatekeeper } from './gatekeeper.ts';

export type IntakeOptions = {
  readonly workflow: () => Workflow;
  readonly journal: Journal;
  readonly tracker: Tracker;
  readonly clock: Clock;
  readonly log: Logger;
  readonly workspaces: Pick<Workspaces, 'outdate'>;
};

export const WAITS_FOR_SLOT = 'waits for a slot';

/** So many issues at least are asked about at once. */
const BATCH = 4;

export class Intake {
  readonly #options: IntakeOptions;
  readonly #gatekeeper: Gatekeeper;
  /** Issues of the last listing whose work is not over since. */
  #listed = new Set<number>();
  #listing: readonly Issue[] = [];
  readonly #announced = new Map<number, string>();
  /** Issues whose question got no answer: the others come first, so that none of them blocks all. */
  readonly #unanswered = new Set<number>();
  /** Why nobody is asked any more before the next poll. */
  #trouble: string | null = null;
  #troubleSaid: string | null = null;
  /** After a poll with trouble one question is enough to see whether it is over. */
  #careful = false;
  #capSaid = '';

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#gatekeeper = new Gatekeeper(options.tracker, options.clock);
  }

  get #state(): DaemonState {
    return this.#options.journal.state;
  }

  /** A poll brought this listing. */
  listed(issues: readonly Issue[]): void {
    this.#careful = this.#trouble !== null;
    this.#trouble = null;
    if (issues === this.#listing) return;
    this.#listing = issues;
    const numbers = new Set(issues.map((issue) => issue.number));
    // What was pushed before its label was put on belongs to what the issue is worked on with.
    if (issues.some(({ number }) => !this.#listed.has(number))) this.#options.workspaces.outdate();
    this.#listed = numbers;
    this.#gatekeeper.keepOnly(numbers);
    for (const number of this.#unanswered) if (!numbers.has(number)) this.#unanswered.delete(number);
  }

  /** Looks at every waiting issue again at the next poll: permissions may have changed. */
  reconsider(): void {
    this.#gatekeeper.reconsider();
  }

  known(issue: Issue): Admission | undefined {
    return this.#gatekeeper.known(issue);
  }

  /**
   * What could be started on, oldest first.
   * @param held issues at work, as they were read: the file may not name their labels any more
   */
  candidates(listing: readonly Issue[], held: readonly Issue[], busy: ReadonlySet<number>): Candidate[] {
    const { clock, workflow } = this.#options;
    const unlisted = held.filter(({ number }) => !this.#listed.has(number));
    const all = unlisted.length === 0 ? listing : [...unlisted, ...listing];
    const open = candidates(all, this.#state, busy, clock.now(), longestPauseMs(workflow().agent.maxRetryBackoffMs));
    if (this.#unanswered.size === 0) return open;
    const late = ({ issue }: Candidate) => this.#unanswered.has(issue.number) && this.known(issue) === undefined;
    return [...open.filter((one) => !late(one)), ...open.filter(late)];
  }

  /**
   * Asks for the next few of these whether they may be worked on; after the first failure for none.
   * @param from where the first of them is
   */
  async askAhead(open: readonly Candidate[], from: number, slots: number, signal: AbortSignal): Promise<void> {
    const ahead = open.slice(from, from + Math.max(BATCH, slots));
    await this.ask(
      ahead.flatMap(({ kind, issue }) => (kind === 'fresh' ? [issue] : [])),
      signal,
    );
  }

  /** Asks for these issues whether they may be worked on; after the first failure for none. */
  async ask(issues: readonly Issue[], signal: AbortSignal): Promise<void> {
    if (this.#trouble !== null) return;
    const { tracker, labels } = this.#options.workflow();
    const ahead = issues.filter((issue) => this.known(issue) === undefined);
    const batch = this.#careful ? ahead.slice(0, 1) : ahead;
    if (batch.length === 0) return;
    await Promise.all(
      batch.map(async (issue) => {
        try {
          await this.#gatekeeper.admit(issue, tracker.trust, labels, spentEvent(this.#state, issue), signal);
          this.#unanswered.delete(issue.number);
        } catch (error) {
          this.#unanswered.add(issue.number);
          this.#trouble ??= `cannot tell who may set work going: ${messageOf(error)}`;
        }
      }),
    );
    if (signal.aborted) return;
    if (this.#trouble !== null && this.#trouble !== this.#troubleSaid)
      this.#options.log.log('warn', 'poller', this.#trouble);
    this.#troubleSaid = this.#trouble;
    this.#careful = false;
  }

  /** What was asked of an issue got no answer: nobody is asked any more before the next poll. */
  noAnswer(issue: number, error: unknown): void {
    this.#unanswered.add(issue);
    this.#gatekeeper.forget(issue);
    this.#trouble ??= `issue #${issue} cannot be read: ${messageOf(error)}`;
  }

  /** Whether questions were left without an answer since the last poll. */
  get isTroubled(): boolean {
    return this.#trouble !== null;
  }

  /** Why the issue is not started on now; null when it may be. */
  obstacle(issue: Issue, slots: number, capped: string | null): string | null {
    // Without a free slot nothing is asked anew: the last reason stays.
    const admission = slots <= 0 ? this.#gatekeeper.last(issue) : this.known(issue);
    if (admission?.admitted === false) {
      this.announce(issue, `issue #${issue.number} "${oneLine(issue.title, 120)}" waits: ${admission.reason}`);
      return admission.reason;
    }
    if (capped !== null) return capped;
    if (admission === undefined && this.#trouble !== null) return this.#trouble;
    if (slots <= 0) return WAITS_FOR_SLOT;
    return admission === undefined ? 'is to be looked at' : null;
  }

  announce(issue: Issue, line: string): void {
    if (this.#announced.get(issue.number) === line) return;
    this.#announced.set(issue.number, line);
    this.#options.log.log('info', 'poller', line, { issue: issue.number });
  }

  /** The issue is over: whether it may be worked on again is another question, and what is said of it next is news. */
  forget(issue: number): void {
    this.#listed.delete(issue);
    this.#gatekeeper.forget(issue);
    this.#announced.delete(issue);
  }

  /** Why nothing may be started for its cost; null when something may. */
  costCap(): string | null {
    const { maxCostPerDayUsd } = this.#options.workflow().agent;
    const { today } = this.#state;
    const day = utcDay(this.#options.clock.now());
    if (maxCostPerDayUsd === null || today.day !== day || today.cost_usd < maxCostPerDayUsd) return null;
    const reason = `the day's limit of $${maxCostPerDayUsd.toFixed(2)} is reached (agent.max_cost_usd_per_day)`;
    if (this.#capSaid !== day)
      this.#options.log.log('warn', 'poller', `no agent is started before tomorrow (UTC): ${reason}`);
    this.#capSaid = day;
    return reason;
  }
}
