// Work on an issue that broke off by an unexpected failure: it is taken up again after a while.

import type { Clock, Logger } from '../base/ports.ts';
import { refusal } from '../base/rules/codes.ts';
import { messageOf } from '../base/rules/errors.ts';
import { WORK_CODES } from './rules/codes/work-codes.ts';
import { retryDelayMs } from './rules/retry.ts';
import type { Workflow } from './rules/workflow.ts';

export type StumblesOptions = {
  readonly workflow: () => Workflow;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
};

export class Stumbles {
  readonly #options: StumblesOptions;
  /** How often in a row the work on an issue broke off. */
  readonly #counts = new Map<number, number>();

  constructor(options: StumblesOptions) {
    this.#options = options;
  }

  /** Issues whose work broke off last. */
  get issues(): readonly number[] {
    return [...this.#counts.keys()];
  }

  forget(issue: number): void {
    this.#counts.delete(issue);
  }

  /** Says so, and resolves when the work may be taken up again. */
  async pause(issue: number, error: unknown, signal: AbortSignal): Promise<void> {
    const { clock, log, random, workflow } = this.#options;
    const failed = { task: `issue #${issue}`, said: messageOf(error) };
    log.log('error', 'serve', refusal(WORK_CODES.background_task_failed, failed));
    const count = (this.#counts.get(issue) ?? 0) + 1;
    this.#counts.set(issue, count);
    await clock.sleep(retryDelayMs(count, workflow().agent.maxRetryBackoffMs, random()), signal);
  }
}
