// Settings of the gate of the daemon: whether work is measured, and whether a failure goes back.

/** `report`: the pull request shows what was measured · `required`: it is opened when nothing failed. */
export const GATE_MODES = ['off', 'report', 'required'] as const;
export type GateMode = (typeof GATE_MODES)[number];

export type GateSettings = {
  readonly mode: GateMode;
  /** All commands together, ms. */
  readonly timeoutMs: number;
  /** So often failures go back to the agent. */
  readonly maxRounds: number;
};
