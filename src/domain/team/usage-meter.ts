// What a run reports of itself as a sum, shared out among the tasks that it was used for.

import { addCost, type Cost } from './cost.ts';

export type Use = Cost & { readonly task: string | null };

const NOTHING: Cost = { cost_usd: 0, input_tokens: 0, output_tokens: 0, turns: 0 };

/**
 * A runtime tells its tokens as they come, and what they cost once for a whole turn. So tokens are the task's that is
 * worked on by then, and the cost is shared out by them.
 */
export class UsageMeter {
  #last = NOTHING;
  readonly #tokens = new Map<string | null, Cost>();

  /**
   * @param usage all of the run so far
   * @param task what is worked on now
   * @returns what is known by now to be for which task; nothing as long as the turn goes on
   */
  hear(usage: Cost, task: string | null): readonly Use[] {
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

  /** The rest, when the run is over: nobody has said what it cost. */
  rest(): readonly Use[] {
    return this.#shared(0, 0);
  }

  #shared(usd: number, turns: number): readonly Use[] {
    const rows = [...this.#tokens];
    this.#tokens.clear();
    const all = rows.reduce((sum, [, one]) => sum + one.input_tokens + one.output_tokens, 0);
    return rows.map(([task, one], index) => ({
      ...one,
      task,
      cost_usd: usd * (all === 0 ? 1 / rows.length : (one.input_tokens + one.output_tokens) / all),
      // A turn is one, however many tasks it was for.
      turns: index === rows.length - 1 ? turns : 0,
    }));
  }
}
