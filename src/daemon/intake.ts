// Intake of labelled issues: an issue starts, or waits for trust, other issues, slots, cost or quota.
// A reason to wait is logged once and always shown on the status page.

import type { Clock, Logger } from '../base/ports.ts';
import { messageIn, type Refusal, refusal, textOf } from '../base/rules/codes.ts';
import { messageOf } from '../base/rules/errors.ts';
import { oneLine } from '../base/rules/text.ts';
import { BlockerCheck } from './blocker-check.ts';
import { type Candidate, candidates, dueIssues, spentEvent } from './candidates.ts';
import { type Admission, Gatekeeper } from './gatekeeper.ts';
import type { Journal, Tracker, Workspaces } from './ports.ts';
import { WORK_CODES } from './rules/codes/work-codes.ts';
import type { Issue } from './rules/issue.ts';
import { longestPauseMs } from './rules/retry.ts';
import { type DaemonState, dayAfter, spentOn, utcDay } from './rules/state.ts';
import type { Workflow } from './rules/workflow.ts';
import type { SlotShares } from './slot-shares.ts';

export type IntakeOptions = {
  readonly workflow: () => Workflow;
  readonly journal: Journal;
  readonly tracker: Tracker;
  readonly clock: Clock;
  readonly log: Logger;
  readonly workspaces: Pick<Workspaces, 'outdate'>;
  /** With other repositories: what all of them may do. */
  readonly shares?: Pick<SlotShares, 'pauses' | 'budget'>;
};

const WAITS_FOR_SLOT = refusal(WORK_CODES.issue_waits_for_slot, {});
/** As the status page and the API say it. */
export const WAITS_FOR_SLOT_TEXT = messageIn(WAITS_FOR_SLOT);

/** Why an issue waits, in words. */
export function reasonOf(why: readonly Refusal[]): string {
  return why.map(messageIn).join(' ');
}

/** Whether the issue waits for a slot alone. */
export function waitsForSlot(why: readonly Refusal[]): boolean {
  return why.length === 1 && why[0]?.of === WORK_CODES.issue_waits_for_slot;
}

/** Why the issue cannot start without the cost cap and the slots. */
export function slotObstacle(slots: number, capped: Refusal | null): readonly Refusal[] | null {
  if (capped !== null) return [capped];
  return slots > 0 ? null : [WAITS_FOR_SLOT];
}

const ONE_BUDGET = 'agent.max_cost_usd_per_day';
const UNCHECKED = refusal(WORK_CODES.issue_unchecked, {});

/** Minimum number of issues that are asked about at once. */
const BATCH = 4;

export class Intake {
  readonly #options: IntakeOptions;
  readonly #gatekeeper: Gatekeeper;
  readonly #blockers: BlockerCheck;
  /** Issues of the last listing whose work is not over since. */
  #listed = new Set<number>();
  #listing: readonly Issue[] = [];
  readonly #announced = new Map<number, string>();
  /** Issues whose last query failed: they come last, so that they do not block the others. */
  readonly #unanswered = new Set<number>();
  /** Failure that stops all queries before the next poll; null: none. */
  #trouble: Refusal | null = null;
  #troubleSaid: string | null = null;
  /** After a poll with a failed query, one query is enough to see whether the failure is over. */
  #careful = false;
  #capSaid = '';
  /** When it was last asked anew for what issues wait, in elapsed time. */
  #newAt = Number.NEGATIVE_INFINITY;
  /** Until when a runtime has no quota, ms since the epoch. Not kept over a restart: people may have bought some. */
  readonly #pauses: Map<string, number>;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#pauses = options.shares?.pauses ?? new Map();
    this.#gatekeeper = new Gatekeeper(options.tracker, options.clock);
    this.#blockers = new BlockerCheck(options);
  }

  get #state(): DaemonState {
    return this.#options.journal.state;
  }

  /** What an issue waits for is asked again. @param isAsked false: only if the last time was an interval ago */
  newPoll(isAsked: boolean): void {
    const { clock, workflow } = this.#options;
    if (!isAsked && clock.elapsed() - this.#newAt < workflow().polling.intervalMs) return;
    this.#newAt = clock.elapsed();
    this.#blockers.newPoll();
  }

  /** Takes the listing of a poll. */
  listed(issues: readonly Issue[]): void {
    this.#careful = this.#trouble !== null;
    this.#trouble = null;
    if (issues === this.#listing) return;
    this.#listing = issues;
    const numbers = new Set(issues.map((issue) => issue.number));
    // Commits pushed before the label was added belong to the base of the work, so the next refresh must fetch anew.
    if (issues.some(({ number }) => !this.#listed.has(number))) this.#options.workspaces.outdate();
    this.#listed = numbers;
    this.#gatekeeper.keepOnly(numbers);
    this.#blockers.keepOnly(numbers);
    for (const number of this.#unanswered) if (!numbers.has(number)) this.#unanswered.delete(number);
  }

  /** Looks at every waiting issue again at the next poll: permissions may have changed. */
  reconsider(): void {
    this.#gatekeeper.reconsider();
  }

  known(issue: Issue): Admission | undefined {
    return this.#gatekeeper.known(issue);
  }

  /** Whether something is to be asked before it is known that the issue can start. */
  isUnchecked(issue: Issue): boolean {
    const admission = this.known(issue);
    return admission === undefined || (admission.admitted && this.#blockers.isDue(issue));
  }

  /** Whether the issue may wait for another one. */
  maybeBlocked(issue: Issue): boolean {
    return this.#blockers.maybeBlocked(issue);
  }

  /**
   * Issues that could start, by priority, then oldest first.
   * @param held issues in work, as they were read: WORKFLOW.md may not name their labels any more
   */
  candidates(listing: readonly Issue[], held: readonly Issue[], busy: ReadonlySet<number>): Candidate[] {
    const { clock, workflow } = this.#options;
    this.#blockers.listed(listing);
    const unlisted = held.filter(({ number }) => !this.#listed.has(number));
    const all = unlisted.length === 0 ? listing : [...unlisted, ...listing];
    const { maxRetryBackoffMs, priorityLabels } = workflow().agent;
    const open = candidates(all, this.#state, busy, clock.now(), longestPauseMs(maxRetryBackoffMs), priorityLabels);
    if (this.#unanswered.size === 0) return open;
    const late = ({ issue }: Candidate) => this.#unanswered.has(issue.number) && this.isUnchecked(issue);
    return [...open.filter((one) => !late(one)), ...open.filter(late)];
  }

  /** Issues at work whose next attempt is due. */
  due(busy: ReadonlySet<number>): readonly number[] {
    const { clock, workflow } = this.#options;
    return dueIssues(this.#state, busy, clock.now(), longestPauseMs(workflow().agent.maxRetryBackoffMs));
  }

  /**
   * Queries the admission and the blockers of the next few candidates; of none after a failure.
   * @param from index of the first one
   */
  async askAhead(open: readonly Candidate[], from: number, slots: number, signal: AbortSignal): Promise<void> {
    const ahead = open.slice(from, from + Math.max(BATCH, slots));
    await this.ask(
      ahead.flatMap(({ kind, issue }) => (kind === 'fresh' ? [issue] : [])),
      signal,
    );
  }

  /** Queries the admission and the blockers of these issues; of none after a failure. */
  async ask(issues: readonly Issue[], signal: AbortSignal): Promise<void> {
    if (this.#trouble !== null) return;
    const { tracker, labels } = this.#options.workflow();
    const ahead = issues.filter((issue) => this.isUnchecked(issue));
    const batch = this.#careful ? ahead.slice(0, 1) : ahead;
    if (batch.length === 0) return;
    await Promise.all(
      batch.map(async (issue) => {
        const { number } = issue;
        let unreadable = (said: string) => refusal(WORK_CODES.permissions_unreadable, { said });
        try {
          await this.#gatekeeper.admit(issue, tracker.trust, labels, spentEvent(this.#state, issue), signal);
          unreadable = (said) => refusal(WORK_CODES.blockers_unreadable, { issue: number, said });
          if (this.isUnchecked(issue)) await this.#blockers.check(issue, signal);
          this.#unanswered.delete(number);
        } catch (error) {
          this.#unanswered.add(number);
          this.#trouble ??= unreadable(messageOf(error));
        }
      }),
    );
    if (signal.aborted) return;
    const words = this.#trouble === null ? null : textOf(this.#trouble);
    if (words !== null && words !== this.#troubleSaid) this.#options.log.log('warn', 'poller', this.#trouble ?? words);
    this.#troubleSaid = words;
    this.#careful = false;
  }

  /** Records a failed query about an issue; no more queries are made before the next poll. */
  noAnswer(issue: number, error: unknown): void {
    this.#unanswered.add(issue);
    this.#gatekeeper.forget(issue);
    this.#trouble ??= refusal(WORK_CODES.issue_unreadable, { issue, said: messageOf(error) });
  }

  /** Whether a query has failed since the last poll. */
  get isTroubled(): boolean {
    return this.#trouble !== null;
  }

  /** Why the issue cannot start now; null when it can. Empty: nothing that people need to know. */
  obstacle(issue: Issue, slots: number, capped: Refusal | null): readonly Refusal[] | null {
    // Without a free slot nothing is queried again: the last reason stays.
    const admission = slots <= 0 ? this.#gatekeeper.last(issue) : this.known(issue);
    if (admission?.admitted === false) {
      const isDone = admission.why.some(({ of }) => of === WORK_CODES.issue_already_done);
      // A listing may still have the label that the daemon has just taken off.
      return isDone && !this.#gatekeeper.isSettled(issue) ? [] : this.#told(issue, admission.why);
    }
    const isUnchecked = admission === undefined || (slots > 0 && this.#blockers.isDue(issue));
    if (capped === null && isUnchecked && this.#trouble !== null) return [this.#trouble];
    const blocked = this.#blockers.last(issue);
    if (blocked !== null) return this.#told(issue, [blocked]);
    const wait = slotObstacle(slots, capped);
    return wait === null && isUnchecked ? [UNCHECKED] : wait;
  }

  #told(issue: Issue, why: readonly Refusal[]): readonly Refusal[] {
    this.announce(issue, `issue #${issue.number} "${oneLine(issue.title, 120)}" waits: ${reasonOf(why)}`);
    return why;
  }

  announce(issue: Issue, line: string): void {
    if (this.#announced.get(issue.number) === line) return;
    this.#announced.set(issue.number, line);
    this.#options.log.log('info', 'poller', line, { issue: issue.number });
  }

  /** Forgets a finished issue: its next admission is queried, and its next reason logged, again. */
  forget(issue: number): void {
    this.#listed.delete(issue);
    this.#gatekeeper.forget(issue);
    this.#announced.delete(issue);
  }

  /** No attempt of the runtime starts until then, ms since the epoch. */
  pause(runtime: string, until: number): void {
    this.#pauses.set(runtime, Math.max(until, this.#pauses.get(runtime) ?? 0));
  }

  /** Attempts try at once, whatever runtimes said of their quota. */
  endPauses(): void {
    this.#pauses.clear();
  }

  /** When the quota of the runtime is there again, ms since the epoch; 0: it is. */
  quotaEnd(): number {
    return this.#pauses.get(this.#options.workflow().tool.runtime) ?? 0;
  }

  /** Why the quota of the runtime allows no start; null when it allows one. */
  quotaPause(): Refusal | null {
    const { runtime } = this.#options.workflow().tool;
    const until = this.quotaEnd();
    if (until <= this.#options.clock.now()) return null;
    return refusal(WORK_CODES.issue_waits_for_quota, { runtime, until: new Date(until).toISOString() });
  }

  /** Why the daily cost limit allows no start; null when it allows one. */
  costCap(): Refusal | null {
    const { maxCostPerDayUsd: limit } = this.#options.workflow().agent;
    const now = this.#options.clock.now();
    const day = utcDay(now);
    const all = this.#options.shares?.budget(day) ?? { limit: null, spent: 0 };
    const key = this.#options.shares === undefined ? ONE_BUDGET : `${ONE_BUDGET}_per_repository`;
    const own = { limit, spent: spentOn(this.#state, day), key };
    const over = [own, { ...all, key: ONE_BUDGET }].find((one) => one.limit !== null && one.spent >= one.limit);
    if (over === undefined) return null;
    const why = refusal(WORK_CODES.day_budget_spent, {
      ...{ limit: over.limit ?? 0, key: over.key, until: new Date(dayAfter(now)).toISOString() },
    });
    if (this.#capSaid !== day) this.#options.log.log('warn', 'poller', why);
    this.#capSaid = day;
    return why;
  }
}
