// Slots of agents. An attempt holds one, and so does a review; a review that waits for one comes before any new attempt.

import type { Workflow } from './rules/workflow.ts';
import type { Workers } from './workers.ts';

export type SlotsOptions = {
  readonly workflow: () => Workflow;
  readonly workers: Pick<Workers, 'attempting'>;
  /** Issues with an attempt about to start. */
  readonly starting: () => ReadonlySet<number>;
};

export class Slots {
  readonly #options: SlotsOptions;
  #reviews = 0;
  readonly #waiting = new Set<() => void>();

  constructor(options: SlotsOptions) {
    this.#options = options;
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

  get #unheld(): number {
    const held = this.#options.workers.attempting.filter(({ attempt }) => attempt.holdsSlot).length;
    return this.#most - held - this.#options.starting().size - this.#reviews;
  }

  /** Waits for a slot and takes it; gives the way to free it. Rejects when it is aborted. */
  async take(signal: AbortSignal): Promise<() => void> {
    while (this.#unheld <= 0) await this.#change(signal);
    signal.throwIfAborted();
    this.#reviews += 1;
    return () => {
      this.#reviews -= 1;
      this.look();
    };
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
    signal.addEventListener('abort', resume, { once: true });
    await changed;
    this.#waiting.delete(resume);
    signal.removeEventListener('abort', resume);
    signal.throwIfAborted();
  }
}
