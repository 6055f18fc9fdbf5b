// The time limits of an agent. One that passes ends the agent.

/** The limit that has passed. */
export type Expiry =
  | { readonly kind: 'stalled'; readonly afterMs: number }
  | { readonly kind: 'turn_timeout'; readonly afterMs: number };
