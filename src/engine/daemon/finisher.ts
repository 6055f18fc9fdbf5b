// Takes an issue whose attempts are over to its end, step by step; what fails is tried again or handed back to the agent.

import { nextStep } from '../../domain/daemon/next.ts';
import type { IssueOutcome } from '../../domain/daemon/record.ts';
import type { Entry } from '../../domain/daemon/state.ts';
import { messageOf, ToolError } from '../../domain/errors.ts';
import { hasLabel, type Issue } from '../../domain/issue.ts';
import { retryDelayMs } from '../../domain/retry.ts';
import { TrackerError } from '../../domain/tracker-error.ts';
import type { Workflow } from '../../domain/workflow.ts';
import type { Clock, Journal, Logger, Tracker } from '../ports.ts';
import type { Publisher } from './publish.ts';

export type FinisherOptions = {
  readonly workflow: () => Workflow;
  readonly journal: Journal;
  readonly tracker: Tracker;
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  /** Records that an issue is over. */
  readonly finish: (issue: number, outcome: IssueOutcome, updatedAt: string) => Promise<void>;
};

/** Between two tries of a step, however short the back-off of agents is set. */
const LEAST_PAUSE_MS = 1_000;
const OBSERVE_TRIES = 5;
const OBSERVE_PAUSE_MS = 1_000;

export class Finisher {
  readonly #options: FinisherOptions;

  constructor(options: FinisherOptions) {
    this.#options = options;
  }

  /** Takes step after step until an attempt is next or the issue is over; false when the signal ended it before. */
  async takeSteps(issue: number, signal: AbortSignal): Promise<boolean> {
    const { journal, publisher, workflow, log } = this.#options;
    let failures = 0;
    for (;;) {
      const entry = journal.state.entries.get(issue);
      const step = entry === undefined ? undefined : nextStep(entry, workflow().labels);
      if (entry === undefined || step === undefined) return true;
      if (signal.aborted) return false;
      try {
        if (step.kind === 'observe') {
          await this.#observe(entry, step.label, signal);
          return !signal.aborted;
        }
        if (step.kind === 'label_add') this.#sayDone(entry);
        await publisher.step(entry, step, signal);
        failures = 0;
      } catch (error) {
        if (signal.aborted) return false;
        if (entry.phase === 'claimed') {
          // A label of an earlier time that cannot be taken off is no reason not to work.
          log.log('warn', 'publish', `issue #${issue}: ${messageOf(error)}`, { issue });
          return true;
        }
        failures += 1;
        await this.#fail(entry, error, failures, signal);
      }
    }
  }

  #sayDone(entry: Entry): void {
    if (entry.phase !== 'publishing') return;
    const request = entry.pullRequest;
    const what = request === null ? 'no pull request' : `pull request #${request.number}`;
    this.#options.log.log('info', 'agent', `done, ${what}`, {
      issue: entry.number,
      pull_request: request?.number ?? null,
    });
  }

  /** A step that failed is tried again, unless what was refused is the branch itself: that is the agent's to mend. */
  async #fail(entry: Entry, error: unknown, failures: number, signal: AbortSignal): Promise<void> {
    const { journal, log, clock, random, workflow } = this.#options;
    const { agent } = workflow();
    const issue = entry.number;
    const reason = messageOf(error);
    const now = clock.now();
    const refused =
      (error instanceof ToolError && error.code === 'refused') ||
      (error instanceof TrackerError && error.status === 422);
    if (refused && entry.phase === 'publishing' && entry.pullRequest === null) {
      const next = entry.failures + 1 >= agent.maxAttempts ? 'give_up' : 'retry';
      const retryAt =
        next === 'retry' ? now + retryDelayMs(entry.failures + 1, agent.maxRetryBackoffMs, random()) : null;
      log.log('warn', 'publish', `issue #${issue} cannot be published: ${reason}`, { issue });
      await journal.append({ type: 'publish_failed', issue, reason, next, retry_at: retryAt });
      return;
    }
    const asked = error instanceof TrackerError ? error.retryAt : null;
    const retryAt = asked ?? now + retryDelayMs(failures, Math.max(agent.maxRetryBackoffMs, LEAST_PAUSE_MS), random());
    log.log('warn', 'publish', `issue #${issue}: ${reason}; tried again in ${Math.ceil((retryAt - now) / 1000)} s`, {
      issue,
    });
    await journal.append({ type: 'publish_failed', issue, reason, next: 'again', retry_at: retryAt });
    await clock.sleep(retryAt - now, signal);
  }

  /** Reads the end label back from the tracker: only then the issue is over. */
  async #observe(entry: Entry, label: string, signal: AbortSignal): Promise<void> {
    const { tracker, log, clock, finish } = this.#options;
    let issue: Issue | null = null;
    for (let tries = 0; tries < OBSERVE_TRIES; tries++) {
      issue = await tracker.readIssue(entry.number, signal);
      if (issue === null || hasLabel(issue.labels, label)) break;
      await clock.sleep(OBSERVE_PAUSE_MS, signal);
      if (signal.aborted) return;
    }
    const fields = { issue: entry.number };
    if (issue !== null && hasLabel(issue.labels, label))
      log.log('info', 'poller', `issue #${entry.number} state changed to ${label}`, fields);
    else
      log.log(
        'warn',
        'poller',
        `issue #${entry.number} does not show ${label}; somebody may have taken it off`,
        fields,
      );
    await finish(entry.number, entry.phase === 'publishing' ? 'done' : 'failed', issue?.updatedAt ?? '');
  }
}
