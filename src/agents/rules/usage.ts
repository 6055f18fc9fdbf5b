// Usage of an agent or a team, as the runtime reports it: tokens, cost, turns and time.

/** Usage of one attempt so far. Tokens as the runtime reports them, cost in US dollars, the agent's time in seconds. */
export type Usage = {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
  readonly turns: number;
  readonly seconds: number;
};

export const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0, cost_usd: 0, turns: 0, seconds: 0 };
