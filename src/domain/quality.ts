// What finished work has to meet, and what was measured of it.

export type Check = 'tests' | 'coverage' | 'lint' | 'security' | 'performance';

/** A command with the time it may take. */
export type Budget = { readonly name: string; readonly command: string; readonly budgetMs: number };

export type QualitySettings = {
  /** Lines that the tests have to reach, percent. */
  readonly coverageTarget: number;
  /** Shell commands; null: found from the project's own files. */
  readonly commands: Readonly<Record<Exclude<Check, 'performance'>, string | null>>;
  /** The coverage report, from the project's root; null: found. */
  readonly coverageReport: string | null;
  readonly performance: readonly Budget[];
  /** All checks together, ms; when it is over, what has not ended has failed. */
  readonly timeoutMs: number;
};

/** Below the 600 s after which the host lets an unanswered hook's action go on. */
export const DEFAULT_QUALITY: QualitySettings = {
  coverageTarget: 80,
  commands: { tests: null, coverage: null, lint: null, security: null },
  coverageReport: null,
  performance: [],
  timeoutMs: 540_000,
};

/** `not_measured`: there is nothing to measure it with; it passes nothing by itself. */
export type CheckOutcome = 'passed' | 'failed' | 'not_measured';

export type CheckResult = {
  readonly check: Check;
  readonly outcome: CheckOutcome;
  /** One line: what was found, or why nothing was. */
  readonly reason: string;
  /** The failing tests, the uncovered files, the findings: one line each, the worst first. */
  readonly details: readonly string[];
  /** The command that measured it, and the figure with its unit where there is one: `87.5 %`. */
  readonly command: string | null;
  readonly figure: string | null;
};

export type GateResult = {
  /** The work tree that was measured: a Git tree id, untracked files included. */
  readonly tree: string;
  readonly ok: boolean;
  readonly checks: readonly CheckResult[];
  /** Covered lines, percent; null when it was not measured. */
  readonly coverage: number | null;
  readonly uncoveredFiles: readonly string[];
};
