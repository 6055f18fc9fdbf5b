// Spare workspaces: clones made ahead for issues that wait for a slot and were never worked on.

import type { Clock, Logger } from '../base/ports.ts';
import { refusal } from '../base/rules/codes.ts';
import { messageOf } from '../base/rules/errors.ts';
import type { Supervisor } from '../base/supervisor.ts';
import type { Journal, Workspaces } from './ports.ts';
import { WORK_CODES } from './rules/codes/work-codes.ts';

export type SpareWorkspacesOptions = {
  readonly workspaces: Workspaces;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Logger;
};

/** After a failure it is left alone for so long: an issue's own workspace will show what is wrong. */
const PAUSE_MS = 60_000;

export class SpareWorkspaces {
  readonly #options: SpareWorkspacesOptions;
  readonly #supervisor: Supervisor;
  /** Unknown at first: what an earlier process left has to go. */
  #wanted: number | undefined;
  #isFilling = false;
  #notBefore = Number.NEGATIVE_INFINITY;

  constructor(options: SpareWorkspacesOptions, supervisor: Supervisor) {
    this.#options = options;
    this.#supervisor = supervisor;
  }

  /** Takes the issues that wait and the number of slots. An issue that was worked on has its workspace already. */
  wantFor(issues: readonly number[], slots: number): void {
    const { clock, journal } = this.#options;
    const count = Math.min(issues.filter((issue) => !journal.state.entries.has(issue)).length, slots);
    const isSettled = count === 0 && this.#wanted === 0;
    this.#wanted = count;
    if (isSettled || this.#isFilling || this.#supervisor.signal.aborted || clock.elapsed() < this.#notBefore) return;
    this.#isFilling = true;
    this.#supervisor.run('spare workspaces', async (signal) => {
      try {
        await this.#fill(signal);
      } finally {
        this.#isFilling = false;
      }
    });
  }

  /** Until as many are there as are wanted by then. */
  async #fill(signal: AbortSignal): Promise<void> {
    const { workspaces, clock, log } = this.#options;
    for (let count: number | undefined; count !== this.#wanted && !signal.aborted; ) {
      count = this.#wanted;
      try {
        await workspaces.keepSpares(count ?? 0, signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#notBefore = clock.elapsed() + PAUSE_MS;
        // The next wish is heard anew, also that for none.
        this.#wanted = undefined;
        const failed = { task: 'The making of a workspace ahead', said: messageOf(error) };
        log.log('warn', 'workspace', refusal(WORK_CODES.background_task_failed, failed));
        return;
      }
    }
  }

  /** Nobody waits any more: none are kept. */
  async close(): Promise<void> {
    const { signal } = new AbortController();
    await this.#options.workspaces.keepSpares(0, signal).catch(() => undefined);
  }
}
