// Port for teammates that run as separate processes (types only).

import type { RunEnd, RunHooks } from '../../agents/ports.ts';

export type MemberRequest = {
  readonly team: string;
  readonly name: string;
  /** Number of the run; a successor of the same name has another. */
  readonly epoch: number;
  /** The role's agent, as `agents/` describes it. */
  readonly agent: string;
  readonly readOnly: boolean;
  /** `inherit`: the default of the runtime. */
  readonly model: string;
  readonly cwd: string;
  /** Environment variables for its worktree, beside the runner's own. */
  readonly env: Readonly<Record<string, string>>;
  readonly prompt: string;
  /** Maximum cost of this run, US dollars; null: no limit. */
  readonly budgetUsd: number | null;
};

/** `isNetwork`: the run failed since its model was unreachable; another start alone does not help. */
export type MemberEnd = RunEnd & { readonly isNetwork?: boolean };

/** Runs teammates; each reaches the team through its own team server alone. */
export interface Members {
  /** One conversation, a turn for each prompt that `nextTurn` gives. */
  run(run: MemberRequest, hooks: RunHooks): Promise<MemberEnd>;
}
