// Split of a run's reported usage among the tasks that it worked on.

import { addCost, type Cost } from './cost.ts';

export type TaskUsage = Cost & { readonly task: string | null };

const NOTHING: Cost = { cost_usd: 0, input_tokens: 0, output_tokens: 0, turns: 0 };

/**
 * A runtime reports tokens as they are used, but their cost once for a whole turn. So tokens count for the task in work
 * at that time, and the cost is split in proportion to them.
 */
export class UsageMeter {
  #last = NOTHING;
  readonly #tokens = new Map<string | null, Cost>();

  /**
   * @param usage total of the run so far
   * @param task id of the task in work now; null: none
   * @returns usage by task since the last reported cost; empty while the turn goes on
   */
  hear(usage: Cost, task: string | null): readonly TaskUsage[] {
    const last = this.#last;
    this.#last = usage;
    const tokens: Cost = {
      ...NOTHING,
      input_tokens: Math.max(0, usage.input_tokens - last.input_tokens),
      output_tokens: Math.max(0, usage.output_tokens - last.output_tokens),
    };
    const usd = Math.max(0, usage.cost_usd - last.cost_usd);
    const turns = Math.max(0, usage.turns - last.turns);
    const isSilent = this.#tokens.size === 0 && usd + turns > 0;
    if (isSilent || tokens.input_tokens + tokens.output_tokens > 0)
      this.#tokens.set(task, addCost(this.#tokens.get(task) ?? NOTHING, tokens));
    return usd + turns > 0 ? this.#shared(usd, turns) : [];
  }

  /** Remaining tokens of a run that is over; their cost was never reported. */
  rest(): readonly TaskUsage[] {
    return this.#shared(0, 0);
  }

  #shared(usd: number, turns: number): readonly TaskUsage[] {
    const rows = [...this.#tokens];
    this.#tokens.clear();
    const all = rows.reduce((sum, [, one]) => sum + one.input_tokens + one.output_tokens, 0);
    return rows.map(([task, one], index) => ({
      ...one,
      task,
      cost_usd: usd * (all === 0 ? 1 / rows.length : (one.input_tokens + one.output_tokens) / all),
      // Each turn counts once, whatever the number of its tasks.
      turns: index === rows.length - 1 ? turns : 0,
    }));
  }
}
