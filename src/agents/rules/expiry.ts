// Time limits of an agent: silence, and the length of a turn. The watchdog tells when one passes; the agent's owner ends it.

/** The limit that has passed, with its length. */
export type Expiry =
  | { readonly kind: 'stalled'; readonly afterMs: number }
  | { readonly kind: 'turn_timeout'; readonly afterMs: number };
