// Chooses what starts next: reads each issue once more right before an agent starts on it, and those at work at each poll.

import type { Clock, Logger } from '../base/ports.ts';
import { type Refusal, refusal, textOf } from '../base/rules/codes.ts';
import { oneLine } from '../base/rules/text.ts';
import { type Candidate, claimOf } from './candidates.ts';
import { type Intake, slotObstacle, waitsForSlot } from './intake.ts';
import type { Journal, Tracker } from './ports.ts';
import { WORK_CODES } from './rules/codes/work-codes.ts';
import { activeLabelsOf, type Issue } from './rules/issue.ts';
import type { IssueOutcome } from './rules/record.ts';
import type { Entry } from './rules/state.ts';
import { TrackerError } from './rules/tracker-error.ts';
import type { Workflow } from './rules/workflow.ts';
import type { SpareWorkspaces } from './spare-workspaces.ts';
import { checkWithdrawal } from './withdrawn-issue.ts';

/** `why`: one obstacle or more. */
export type Waiting = { readonly issue: Issue; readonly why: readonly Refusal[] };

export type DispatcherOptions = {
  readonly workflow: () => Workflow;
  readonly journal: Journal;
  readonly tracker: Tracker;
  readonly clock: Clock;
  readonly log: Logger;
  readonly intake: Intake;
  readonly spareWorkspaces: SpareWorkspaces;
  readonly signal: AbortSignal;
  /** Issues that something is being done for. */
  readonly busy: () => ReadonlySet<number>;
  readonly freeSlots: () => number;
  /** So many issues wait for a slot alone. */
  readonly onWaiting: (issues: number) => void;
  /** Starts an agent on an issue that was claimed. */
  readonly start: (issue: Issue) => void;
  /** People took the issue back. */
  readonly takeBack: (entry: Entry, outcome: IssueOutcome, updatedAt: string) => Promise<void>;
  /** An issue at work could not be read. */
  readonly onUnread: () => void;
};

/** Whether people take an issue back by closing it or taking its label off. */
function isHeld(entry: Entry | undefined): entry is Entry {
  const phase = entry?.phase ?? 'parked';
  return phase !== 'parked' && phase !== 'cancelling' && phase !== 'reviving';
}

const PAUSED = refusal(WORK_CODES.issue_paused, {});

export class Dispatcher {
  readonly #options: DispatcherOptions;
  /** Issues at work as they were read last, and which of them were read in the poll under way. */
  readonly #held = new Map<number, Issue>();
  readonly #readNow = new Set<number>();
  /** Issues at work that gave no answer when they were read last: they start after a poll that reads them. */
  readonly #unanswered = new Set<number>();
  /** Issues that are read once more, right before they start. */
  readonly taking = new Set<number>();
  listing: readonly Issue[] = [];
  /** Issues that carry the label and are not worked on, with why. */
  waiting: readonly Waiting[] = [];
  /** What the reasons of those that wait were told from. */
  #seen: readonly unknown[] = [];
  /** When it was looked last for what could be started. */
  filledAt: number | null = null;

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** Reads each issue at work: it may have been closed, or its label taken off. */
  async verifyAll(): Promise<void> {
    const { entries } = this.#options.journal.state;
    for (const number of this.#held.keys()) if (!isHeld(entries.get(number))) this.#held.delete(number);
    await Promise.all([...entries.values()].map((entry) => this.#verify(entry)));
    await this.#endPauses();
  }

  /** The pause of an issue that waited for its first attempt ends when people close it or take its label off. */
  async #endPauses(): Promise<void> {
    const { journal, tracker, log, signal, workflow } = this.#options;
    const { entries, orders } = journal.state;
    const listed = new Set(this.listing.map(({ number }) => number));
    for (const number of [...orders.keys()].filter((one) => !listed.has(one) && !isHeld(entries.get(one))))
      try {
        const issue = await tracker.readIssue(number, signal);
        if (issue?.state === 'open' && activeLabelsOf(issue.labels, workflow().labels).length > 0) continue;
        log.log('info', 'poller', `issue #${number} is not to be worked on any more: its pause ends`, {
          issue: number,
        });
        await journal.append({ type: 'steered', issue: number, steer: 'resume' });
      } catch (error) {
        if (!(error instanceof TrackerError)) throw error;
        const what = refusal(WORK_CODES.issue_unreadable, { issue: number, said: error.message });
        log.log('warn', 'poller', what, { issue: number });
      }
  }

  /** Issues at work as they were read last, without those whose work has ended since. */
  get #stillHeld(): readonly Issue[] {
    const { entries } = this.#options.journal.state;
    return [...this.#held.values()].filter(({ number }) => isHeld(entries.get(number)));
  }

  /** An issue at work as it was read last. */
  held(issue: number): Issue | undefined {
    return this.#held.get(issue);
  }

  /** The same for some of them. */
  async verify(issues: readonly number[]): Promise<void> {
    const { entries } = this.#options.journal.state;
    const some = issues.flatMap((number) => entries.get(number) ?? []);
    await Promise.all(some.map((entry) => this.#verify(entry)));
  }

  /** What was read in a poll is read again before anything starts later. */
  pollIsOver(): void {
    this.#readNow.clear();
  }

  /** That a label was taken off shows in no list of those that carry it: each issue at work is read. */
  async #verify(entry: Entry): Promise<void> {
    if (!isHeld(entry)) return;
    // The daemon itself is taking the label off. In a round on a pull request that was done before.
    const { phase, follow } = entry;
    const settling =
      (phase === 'publishing' || phase === 'giving_up') && follow === null
        ? Object.keys(entry.effects).some((key) => key.startsWith('label_'))
        : false;
    if (!settling && (await this.#lookAt(entry)) !== null) this.#readNow.add(entry.number);
  }

  /** The issue at work as it is now; null when it was taken back, or when no answer came. */
  async #lookAt(entry: Entry): Promise<Issue | null> {
    const { tracker, log } = this.#options;
    const look = await checkWithdrawal(tracker, log, entry, this.#options.workflow().labels, this.#options.signal);
    this.#unanswered.delete(entry.number);
    if (look.kind === 'unknown') {
      this.#unanswered.add(entry.number);
      this.#options.onUnread();
    }
    if (look.kind === 'taken') await this.#options.takeBack(entry, look.outcome, look.updatedAt);
    if (look.kind === 'held') this.#held.set(entry.number, look.issue);
    else this.#held.delete(entry.number);
    return look.kind === 'held' ? look.issue : null;
  }

  /** Fills the free slots from the last listing, by priority, then oldest first. */
  async fill(isAllowed: boolean): Promise<boolean> {
    this.filledAt = this.#options.clock.now();
    // A slot that was meant for an issue which does not start after all is the next one's.
    while (isAllowed && (await this.#fillOnce()));
    this.#options.onWaiting(isAllowed ? this.waiting.filter(({ why }) => waitsForSlot(why)).length : 0);
    if (isAllowed) this.#keepSparesFor(this.waiting);
    return isAllowed;
  }

  /** Gives whether another issue may have a slot that one was meant to have. */
  async #fillOnce(): Promise<boolean> {
    const capped = this.#options.intake.costCap() ?? this.#options.intake.quotaPause();
    if (this.#isSettled(capped)) return false;
    const waiting: Waiting[] = [];
    const taken: Promise<boolean>[] = [];
    const open = this.#options.intake.candidates(this.listing, this.#stillHeld, this.#options.busy());
    let slots = this.#options.freeSlots();
    for (const [index, { kind, issue }] of open.entries()) {
      if (this.#unanswered.has(issue.number)) continue;
      const isUnchecked = kind === 'fresh' && slots > 0 && this.#options.intake.isUnchecked(issue);
      if (isUnchecked && capped === null && !this.#options.intake.isTroubled) {
        await this.#options.intake.askAhead(open, index, slots, this.#options.signal);
        slots = this.#options.freeSlots();
      }
      const why = this.#obstacle(kind, issue, slots, capped);
      if (why === null) {
        const taking = this.#take(kind, issue);
        // Its failure is heard below, after the others.
        taking.catch(() => undefined);
        taken.push(taking);
        slots = this.#options.freeSlots();
      } else if (why.length > 0) waiting.push({ issue, why });
    }
    const isLeft = (await Promise.all(taken)).includes(false);
    this.waiting = waiting;
    return isLeft && !this.#options.signal.aborted;
  }

  /** Without a free slot, nothing waits for another reason than before while nothing changed. */
  #isSettled(capped: Refusal | null): boolean {
    const { journal, intake, freeSlots, busy } = this.#options;
    const { entries, orders, past } = journal.state;
    const cap = capped === null ? null : textOf(capped);
    // A retry that has become due wants a slot as well.
    const due = intake.due(busy()).join();
    const seen = [this.listing, entries, orders, past, cap, intake.isTroubled, due];
    const isSame = freeSlots() <= 0 && seen.every((one, index) => one === this.#seen[index]);
    this.#seen = seen;
    return isSame;
  }

  #obstacle(kind: Candidate['kind'], issue: Issue, slots: number, capped: Refusal | null): readonly Refusal[] | null {
    if (this.#options.journal.state.orders.has(issue.number)) return [PAUSED];
    return kind === 'fresh' ? this.#options.intake.obstacle(issue, slots, capped) : slotObstacle(slots, capped);
  }

  #keepSparesFor(waiting: readonly Waiting[]): void {
    const { workflow, journal, intake } = this.#options;
    const { maxConcurrent } = workflow().agent;
    const next: number[] = [];
    for (const { issue, why } of waiting) {
      const isNew = !journal.state.entries.has(issue.number);
      if (isNew && waitsForSlot(why) && !intake.maybeBlocked(issue)) next.push(issue.number);
      if (next.length === maxConcurrent) break;
    }
    this.#options.spareWorkspaces.wantFor(next, maxConcurrent);
  }

  /** Reads the issue once more and starts on it; false when it does not start, which the next look at it shows. */
  async #take(kind: Candidate['kind'], listed: Issue): Promise<boolean> {
    const { journal, intake, signal } = this.#options;
    const { number } = listed;
    this.taking.add(number);
    try {
      const entry = journal.state.entries.get(number);
      if (kind === 'fresh' || entry === undefined) return await this.#takeFresh(number);
      const known = this.#readNow.has(number) ? this.#held.get(number) : undefined;
      const held = known ?? (await this.#lookAt(entry));
      if (held !== null) this.#options.start(held);
      // Where no answer came, the next poll asks again.
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      if (!(error instanceof TrackerError)) throw error;
      intake.noAnswer(number, error);
      return false;
    } finally {
      this.taking.delete(number);
    }
  }

  async #takeFresh(number: number): Promise<boolean> {
    const { tracker, intake, signal, workflow } = this.#options;
    const issue = await tracker.readIssue(number, signal);
    const isOpen =
      issue !== null && issue.state === 'open' && activeLabelsOf(issue.labels, workflow().labels).length > 0;
    if (!isOpen) {
      this.listing = this.listing.filter((other) => other.number !== number);
      return false;
    }
    // It may be another one than was asked about: somebody may have put the label on anew, or named a blocker.
    if (intake.isUnchecked(issue)) {
      this.listing = this.listing.map((other) => (other.number === number ? issue : other));
      await intake.ask([issue], signal);
    }
    if (intake.obstacle(issue, 1, null) !== null) return false;
    await this.#claim(issue);
    return true;
  }

  async #claim(issue: Issue): Promise<void> {
    const { journal } = this.#options;
    const admission = this.#options.intake.known(issue);
    const labelEvent = admission?.admitted === true ? admission.labelEvent : null;
    const { labels, workspace } = this.#options.workflow();
    const [label] = activeLabelsOf(issue.labels, labels);
    this.#options.intake.announce(
      issue,
      `found issue #${issue.number} "${oneLine(issue.title, 120)}" [${label ?? ''}]`,
    );
    // The claim counts at once; that it is on the disk is waited for by the attempt's own first record.
    const claimed = journal.append(claimOf(issue, journal.state, labels, workspace.branchPrefix, labelEvent));
    this.#options.start(issue);
    await claimed;
  }
}
