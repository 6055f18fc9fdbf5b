// Carries out commands of an operator on one issue. Each is recorded before it is answered; what it ends, ends afterwards.

import type { Logger } from '../base/ports.ts';
import { assertNever, failure } from '../base/rules/errors.ts';
import type { Supervisor } from '../base/supervisor.ts';
import { claimOf } from './candidates.ts';
import type { Waiting } from './dispatcher.ts';
import type { Intake } from './intake.ts';
import type { Journal } from './ports.ts';
import type { EndCause } from './rules/attempt-end.ts';
import { WORK_CODES } from './rules/codes/work-codes.ts';
import { finishedIssueOf } from './rules/finished-issues.ts';
import type { Issue } from './rules/issue.ts';
import { isUnpublished } from './rules/next-step.ts';
import { type JournalRecord, MAX_TELL, type Steer } from './rules/record.ts';
import { isInReview } from './rules/review.ts';
import { isIdle, isWaiting, makesSense, type Order, type Standing, statesFor, wayOn } from './rules/steering.ts';
import type { Workflow } from './rules/workflow.ts';

/** @property standing state of the issue after the command */
export type Steered = { readonly issue: number; readonly command: Order; readonly standing: Standing };

export type SteeringOptions = {
  readonly workflow: () => Workflow;
  readonly journal: Journal;
  readonly log: Logger;
  readonly supervisor: Supervisor;
  /** Issues that carry the label and are not worked on. */
  readonly waiting: () => readonly Waiting[];
  /** Ends what is done for an issue; false: no attempt was under way. */
  readonly endWork: (issue: number, cause: EndCause) => Promise<boolean>;
  /** Takes the steps that an issue without an attempt has before it. */
  readonly settle: (issue: number) => void;
  readonly intake: Pick<Intake, 'endPauses' | 'known'>;
  readonly poll: () => void;
};

const WITHDRAWN: EndCause = { kind: 'cancelled', outcome: 'label_removed', updatedAt: '' };

export class Steering {
  readonly #options: SteeringOptions;

  constructor(options: SteeringOptions) {
    this.#options = options;
  }

  /** Refused for an issue that is unknown, or in a state where the command makes no sense. */
  async steer(command: Steer, issue: number): Promise<Steered> {
    const { journal, log } = this.#options;
    const before = this.#require(command, issue);
    // Nothing comes between these records.
    const claimed = command === 'cancel' ? this.#claimed(issue) : undefined;
    const steered = journal.append({ type: 'steered', issue, steer: command });
    const standing = this.#standingOf(issue) ?? before;
    await claimed;
    await steered;
    log.log('info', 'serve', `issue #${issue}: tool ${command}`, { issue });
    this.#follow(command, issue);
    this.#options.poll();
    return { issue, command, standing };
  }

  /** Has a text for the agent of an issue: it gets it in its next turn. Refused as a command is, or without a text that fits. */
  async tell(issue: number, text: string): Promise<Steered> {
    const { journal, log, poll } = this.#options;
    const length = text.trim().length;
    if (length === 0 || length > MAX_TELL) throw failure(WORK_CODES.told_text_invalid, { most: MAX_TELL, length });
    const before = this.#require('tell', issue);
    const messages = [{ author: null, text }];
    const told = journal.append({ type: 'messages', issue, messages, heard: null });
    const standing = this.#standingOf(issue) ?? before;
    await told;
    log.log('info', 'serve', `issue #${issue}: tool tell`, { issue });
    this.wake(issue);
    poll();
    return { issue, command: 'tell', standing };
  }

  #require(command: Order, issue: number): Standing {
    const standing = this.#standingOf(issue);
    if (standing === undefined) throw failure(WORK_CODES.issue_not_known, { issue });
    if (makesSense(command, standing)) return standing;
    const values = { issue, standing: words(standing), command: `tool ${command}` };
    const next = wayOn(command, standing);
    throw failure(WORK_CODES.issue_not_steerable, {
      ...{ ...values, expected: statesFor(command).map(words) },
      ...(next === undefined ? {} : { next }),
    });
  }

  /** Claims an issue that was put back to work. */
  readonly claim = async (issue: Issue, labelEvent: number | null): Promise<void> => {
    await this.#options.journal.append(this.#claimOf(issue, labelEvent));
    this.#options.poll();
  };

  #claimOf(issue: Issue, labelEvent: number | null): JournalRecord {
    const { labels, workspace } = this.#options.workflow();
    return claimOf(issue, this.#options.journal.state, labels, workspace.branchPrefix, labelEvent);
  }

  /** Only a claimed issue has effects: one that waits for its first attempt is claimed before it is cancelled. */
  async #claimed(issue: number): Promise<void> {
    const phase = this.#options.journal.state.entries.get(issue)?.phase;
    const waiting = this.#waiting(issue)?.issue;
    if ((phase === undefined || phase === 'parked') && waiting !== undefined)
      await this.#options.journal.append(this.#claimOf(waiting, null));
  }

  #follow(command: Steer, issue: number): void {
    const { supervisor, endWork, settle, intake } = this.#options;
    switch (command) {
      case 'pause':
        supervisor.run(`pause of issue #${issue}`, async () => {
          await endWork(issue, { kind: 'paused' });
        });
        return;
      case 'cancel':
        supervisor.run(`cancellation of issue #${issue}`, async () => {
          if (!(await endWork(issue, WITHDRAWN))) settle(issue);
        });
        return;
      case 'retry':
        intake.endPauses();
        this.wake(issue);
        return;
      case 'resume':
        return;
      default:
        assertNever(command);
    }
  }

  /** A step that waits for its next try is not waited for where an attempt or a review is due. */
  readonly wake = (issue: number): void => {
    const { supervisor, journal, endWork, settle } = this.#options;
    supervisor.run(`waking of issue #${issue}`, async () => {
      const entry = journal.state.entries.get(issue);
      if (entry !== undefined && isWaiting(entry)) await endWork(issue, { kind: 'paused' });
      settle(issue);
    });
  };

  #waiting(issue: number): Waiting | undefined {
    return this.#options.waiting().find((one) => one.issue.number === issue);
  }

  /** Whether people want new work. In the second in which the last work ended, only the event of the label tells that. */
  #isQueued(issue: number): boolean {
    const { entries, past } = this.#options.journal.state;
    const waiting = this.#waiting(issue);
    if (waiting === undefined || waiting.why.some(({ of }) => of === WORK_CODES.issue_already_done)) return false;
    const end = entries.get(issue)?.finished ?? finishedIssueOf(past, issue);
    if (end === undefined || waiting.issue.updatedAt > end.updatedAt) return true;
    return this.#options.intake.known(waiting.issue)?.admitted === true;
  }

  #standingOf(issue: number): Standing | undefined {
    const { orders, entries, past } = this.#options.journal.state;
    const entry = entries.get(issue);
    const order = orders.get(issue);
    const phase = entry?.phase ?? 'parked';
    if (phase === 'running' && order !== undefined) return order === 'cancel' ? 'cancelling' : 'paused';
    if ((phase === 'parked' || isIdle(phase)) && order === 'pause') return 'paused';
    if (entry !== undefined && isInReview(entry)) return 'review';
    if (entry !== undefined && isUnpublished(entry)) return 'handed_in';
    if (phase !== 'parked') return phase;
    if (this.#isQueued(issue)) return 'queued';
    return entry?.finished?.outcome ?? finishedIssueOf(past, issue)?.outcome;
  }
}

function words(standing: Standing): string {
  return standing.replace('_', ' ');
}
