// Evidence of a commit: results of the project’s own commands; pure.

import type { Check, CheckOutcome, GateResult } from './quality.ts';

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

/** Evidence of a commit that could not be measured: whoever requires that it passes does not accept it. */
export function noEvidence(commit: string, base: string, why: string): Evidence {
  const coverage = { before: null, after: null };
  const unmeasured = withoutPlaces(why);
  return { ...{ commit, base, ok: false, checks: [], commands: [], coverage, unmeasured }, rejection: unmeasured };
}

/** Paths of a machine are nobody's business on a hosting service: their last names are enough. */
function withoutPlaces(words: string): string {
  return words.replaceAll(/(?<![\w:/.])\/(?:[^\s/:'"]+\/)+/g, '…/');
}

/** A lack of coverage that the base had as well: the work is not charged with it while it is no less than before. */
export function withoutOldCoverageGap(gate: GateResult, before: number | null): GateResult {
  const { coverage } = gate;
  if (before === null || coverage === null || coverage < before) return gate;
  const checks = gate.checks.map((one) =>
    one.check === 'coverage' && one.outcome === 'failed' && one.failures === undefined
      ? { ...one, outcome: 'old_failure' as const }
      : one,
  );
  return { ...gate, checks, ok: checks.every(({ outcome }) => outcome !== 'failed') };
}
