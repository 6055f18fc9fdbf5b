// Has workspaces made ready for issues that wait for a slot.

import { messageOf } from '../../domain/errors.ts';
import type { Clock, Logger, Workspaces } from '../ports.ts';
import type { Supervisor } from '../supervisor.ts';

export type StockOptions = {
  readonly workspaces: Workspaces;
  readonly clock: Clock;
  readonly log: Logger;
};

/** After a failure it is left alone for so long: an issue's own workspace will show what is wrong. */
const PAUSE_MS = 60_000;

export class Stock {
  readonly #options: StockOptions;
  readonly #supervisor: Supervisor;
  #wanted = 0;
  #isStocking = false;
  #notBefore = Number.NEGATIVE_INFINITY;

  constructor(options: StockOptions, supervisor: Supervisor) {
    this.#options = options;
    this.#supervisor = supervisor;
  }

  /** So many workspaces will be wanted soon. */
  want(count: number): void {
    const { workspaces, clock, log } = this.#options;
    const isIdle = count === 0 && this.#wanted === 0;
    this.#wanted = count;
    if (isIdle || this.#isStocking || this.#supervisor.signal.aborted || clock.elapsed() < this.#notBefore) return;
    this.#isStocking = true;
    this.#supervisor.run('spare workspaces', async (signal) => {
      try {
        await workspaces.stock(count, signal);
      } catch (error) {
        this.#notBefore = clock.elapsed() + PAUSE_MS;
        if (!signal.aborted) log.log('warn', 'workspace', `no workspace could be made ahead: ${messageOf(error)}`);
      } finally {
        this.#isStocking = false;
      }
    });
  }
}
