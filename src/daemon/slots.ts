// Slots of agents. An attempt holds one, and so does a review; a review that waits for one comes before any new attempt.

import type { Journal } from './ports.ts';
import { slugKey } from './rules/repositories.ts';
import { spentOn } from './rules/state.ts';
import type { Workflow } from './rules/workflow.ts';
import type { Share, SlotShares } from './slot-shares.ts';
import type { Workers } from './workers.ts';

export type SlotsOptions = {
  readonly workflow: () => Workflow;
  readonly workers: Pick<Workers, 'attempting'>;
  /** Issues with an attempt about to start. */
  readonly starting: () => ReadonlySet<number>;
  readonly journal: Pick<Journal, 'state'>;
  /** With other repositories: what all of them share. */
  readonly shares?: SlotShares;
  /** A slot may be free that was not. */
  readonly wake: () => void;
};

export class Slots {
  readonly #options: SlotsOptions;
  #reviews = 0;
  /** So many issues wait for a slot alone. */
  #issues = 0;
  readonly #waiting = new Set<() => void>();

  readonly #share: Share | undefined;

  constructor(options: SlotsOptions) {
    this.#options = options;
    this.#share = options.shares?.join({
      name: slugKey(options.workflow().tracker.slug),
      held: () => this.#held,
      spentOn: (day) => spentOn(options.journal.state, day),
      wake: () => {
        this.look();
        options.wake();
      },
    });
  }

  /** For new attempts. */
  get free(): number {
    // Agents that end faster than their work can be collected wait for that.
    const room = 2 * this.#most - this.#options.workers.attempting.length - this.#options.starting().size;
    return Math.min(this.#unheld - this.#waiting.size, room);
  }

  get #most(): number {
    return this.#options.workflow().agent.maxConcurrent;
  }

  get #held(): number {
    const { attempting } = this.#options.workers;
    return attempting.filter(({ attempt }) => attempt.holdsSlot).length + this.#options.starting().size + this.#reviews;
  }

  get #unheld(): number {
    const own = this.#most - this.#held;
    return this.#share === undefined ? own : Math.min(own, this.#share.free());
  }

  /** Waits for a slot and takes it; gives the way to free it. Rejects when it is aborted. */
  async take(signal: AbortSignal): Promise<() => void> {
    while (this.#unheld <= 0) await this.#change(signal);
    signal.throwIfAborted();
    this.#reviews += 1;
    return () => {
      this.#reviews -= 1;
      this.freed();
    };
  }

  /** Says how many issues wait for a slot alone. */
  wants(issues: number): void {
    this.#issues = issues;
    this.#share?.wants(issues + this.#waiting.size);
  }

  /** One may be free now, for others as well. */
  freed(): void {
    this.look();
    this.#share?.freed();
  }

  leave(): void {
    this.#share?.leave();
  }

  /** One may be free now. */
  look(): void {
    for (const resolve of this.#waiting) resolve();
  }

  async #change(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    let resume: () => void = () => undefined;
    const changed = new Promise<void>((resolve) => {
      resume = resolve;
    });
    this.#waiting.add(resume);
    this.wants(this.#issues);
    signal.addEventListener('abort', resume, { once: true });
    await changed;
    this.#waiting.delete(resume);
    this.wants(this.#issues);
    signal.removeEventListener('abort', resume);
    signal.throwIfAborted();
  }
}
