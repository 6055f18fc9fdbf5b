// What starts teammates as processes of their own: types, nothing else.

import type { RunEnd, RunHooks } from '../ports.ts';

export type MemberRun = {
  readonly team: string;
  readonly name: string;
  /** Its run: a successor of the same name has another. */
  readonly epoch: number;
  /** The role's agent, as `agents/` describes it. */
  readonly agent: string;
  readonly readOnly: boolean;
  /** `inherit`: whatever the runtime takes by itself. */
  readonly model: string;
  readonly cwd: string;
  /** Variables of the place where it works, beside the runner's own. */
  readonly env: Readonly<Record<string, string>>;
  readonly prompt: string;
  /** What this run may cost at most, US dollars; null: no limit. */
  readonly budgetUsd: number | null;
};

/** `isNetwork`: it failed since it did not reach its model, which another start alone does not mend. */
export type MemberEnd = RunEnd & { readonly isNetwork?: boolean };

/** Runs teammates; each reaches the team through its own team server alone. */
export interface Members {
  /** One conversation, a turn for each prompt that `nextTurn` gives. */
  run(run: MemberRun, hooks: RunHooks): Promise<MemberEnd>;
}
