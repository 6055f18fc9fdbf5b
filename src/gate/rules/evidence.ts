// Evidence of a commit: results of the project’s own commands; pure.

import type { Check, CheckOutcome } from './quality.ts';

/** One run of a command. `exit` null: it was ended, by the deadline or a signal. */
export type CommandRun = {
  readonly command: string;
  readonly exit: number | null;
  readonly timed_out: boolean;
  readonly seconds: number;
};

export type EvidenceCheck = {
  readonly check: Check;
  readonly outcome: CheckOutcome;
  readonly reason: string;
  readonly figure: string | null;
};

export type Evidence = {
  readonly commit: string;
  /** The commit whose settings name the commands. */
  readonly base: string;
  readonly ok: boolean;
  readonly checks: readonly EvidenceCheck[];
  readonly commands: readonly CommandRun[];
  /** Covered lines, percent; null: not measured. */
  readonly coverage: { readonly before: number | null; readonly after: number | null };
  /** What failed, as the agent is told; empty when nothing did. */
  readonly rejection: string;
  /** Why nothing was measured; null: it was. */
  readonly unmeasured: string | null;
};

/** Evidence of a commit that could not be measured: it neither passes nor fails. */
export function noEvidence(commit: string, base: string, why: string): Evidence {
  const coverage = { before: null, after: null };
  return { commit, base, ok: true, checks: [], commands: [], coverage, rejection: '', unmeasured: why };
}
