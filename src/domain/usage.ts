// What an agent, or a team, used.

/** What one attempt used so far. Tokens as the runtime reports them; cost in US dollars; time of the agent in seconds. */
export type Usage = {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
  readonly turns: number;
  readonly seconds: number;
};

export const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0, cost_usd: 0, turns: 0, seconds: 0 };
