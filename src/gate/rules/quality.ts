// Requirements for finished work, the measurements of it, and the text of a rejection.

import { refusal, textOf } from '../../base/rules/codes.ts';
import { clip } from '../../base/rules/text.ts';
import type { Reach } from './coverage.ts';
import { GATE_CODES } from './gate-codes.ts';
import { installedRemedy } from './installed-files.ts';

export type Check = 'tests' | 'coverage' | 'lint' | 'security' | 'performance';

/** The five parts of the quality gate: TRUST 5. */
export type Dimension = 'tested' | 'readable' | 'unified' | 'secured' | 'trackable';

export const DIMENSIONS: readonly Dimension[] = ['tested', 'readable', 'unified', 'secured', 'trackable'];

/** What may be measured by a command of the project's own. */
export type Commanded = Exclude<Check, 'performance'> | 'format' | 'complexity';

export const COMMANDED: readonly Commanded[] = ['tests', 'coverage', 'lint', 'security', 'format', 'complexity'];

export type Trust5Settings = {
  /** What each dimension has to reach, of 5. */
  readonly minScore: number;
};

/** A command with the time it may take. */
export type Budget = { readonly name: string; readonly command: string; readonly budgetMs: number };

export type QualitySettings = {
  /** Lines that the tests have to reach, percent. */
  readonly coverageTarget: number;
  /** What has to be measured; anything else that nothing can measure neither passes nor fails. */
  readonly required: readonly Commanded[];
  /** Shell commands; null: the detector's proposal. */
  readonly commands: Readonly<Record<Commanded, string | null>>;
  /** The coverage report, from the project's root, `*` for any directory; null: $TOOL_REPORTS or a usual place. */
  readonly coverageReport: string | null;
  readonly performance: readonly Budget[];
  /** What looks like a secret and is none. */
  readonly secrets: {
    /** Globs over paths from the project's root. */
    readonly allowedPaths: readonly string[];
    readonly allowedValues: readonly string[];
  };
  readonly trust5: Trust5Settings;
  /** All checks together, ms; when it is over, what has not ended has failed. */
  readonly timeoutMs: number;
};

/** Below the 600 s after which the host lets an unanswered hook's action go on. */
export const DEFAULT_QUALITY: QualitySettings = {
  coverageTarget: 80,
  required: ['tests', 'coverage'],
  commands: { tests: null, coverage: null, lint: null, security: null, format: null, complexity: null },
  coverageReport: null,
  performance: [],
  secrets: { allowedPaths: [], allowedValues: [] },
  trust5: { minScore: 5 },
  timeoutMs: 540_000,
};

/**
 * `not_measured`: there is nothing to measure it with; it neither passes nor fails.
 * `old_failure`: it fails as it did where the team began; the work is not charged with it.
 */
export type CheckOutcome = 'passed' | 'failed' | 'not_measured' | 'old_failure';

export const OUTCOMES: readonly CheckOutcome[] = ['passed', 'failed', 'not_measured', 'old_failure'];

/** A command that failed, as it is compared with how it failed at another time. */
export type Failure = {
  readonly command: string;
  /** By its end, or by the deadline. */
  readonly how: 'ended' | 'timed_out';
  /** The tests or findings that failed; null: they are not told apart. */
  readonly names: readonly string[] | null;
  /** How many there are, named or not; null: not known. */
  readonly count: number | null;
  readonly reason: string;
  /** What it said, where there are no names. */
  readonly details: readonly string[];
};

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
  /** Of each command that failed; missing: none did, or what failed is no command. */
  readonly failures?: readonly Failure[];
};

export type GateResult = {
  /** The work tree that was measured: a Git tree id, untracked files included. */
  readonly tree: string;
  readonly ok: boolean;
  readonly checks: readonly CheckResult[];
  /** Covered lines, percent; null when it was not measured. */
  readonly coverage: number | null;
  readonly uncoveredFiles: readonly string[];
  /** What a change is held against; undefined: the coverage was not measured. */
  readonly reach?: Reach;
};

/** The checks as one result: what is not measured neither passes nor fails. */
export function gateResult(measured: Omit<GateResult, 'ok'>): GateResult {
  return { ...measured, ok: measured.checks.every((check) => check.outcome !== 'failed') };
}

/** Why the tests failed, where there is none. */
export const NO_TESTS = GATE_CODES.no_tests_ran.message;

/** Whether a check failed since there is no test, or no way to run any, and not since one fails; whatever is said behind that. */
export function isForLackOfTests({ check, outcome, command, reason }: CheckResult): boolean {
  return check === 'tests' && outcome === 'failed' && (command === null || reason.startsWith(NO_TESTS));
}

/** Whether the coverage failed since too little is tested, and not for something else that a command did. */
export function isForLackOfCoverage(coverage: number | null, target: number): boolean {
  return coverage === null || coverage < target;
}

const GIVE = 'quality in .tool/config/workflow.yaml';

/** An agent reads it in one go. */
const MAX_REJECTION = 2_000;
/** A command that is cut cannot be run again: it is whole where there is room. */
const MAX_COMMAND = 400;

/** What the agent is to do about a check that failed. */
function nextStep(result: CheckResult, coverage: number | null, settings: QualitySettings): string {
  const { check, figure, command, details, reason, failures = [] } = result;
  if (check !== 'performance' && failures.some(({ how }) => how === 'timed_out'))
    return 'Find out why the command does not end, and fix it.';
  switch (check) {
    case 'tests':
      if (command === null) return `Add tests, or name their command: ${GIVE}.`;
      return isForLackOfTests(result)
        ? 'Write tests, or correct the setting that says where the command finds them.'
        : 'Make the tests pass.';
    case 'coverage':
      if (figure === null) return `Make the command write a report, or name the command or its report: ${GIVE}.`;
      if (coverage !== null && coverage >= settings.coverageTarget)
        return 'Find out why the command fails, and fix it.';
      return `Add tests until they reach at least ${settings.coverageTarget} % of the lines, beginning with the files named.`;
    case 'lint':
      return ['Fix the linter errors.', installedRemedy([...details, reason])].filter(Boolean).join(' ');
    case 'security':
      return 'Remove the findings.';
    case 'performance':
      return 'Bring these commands within their budgets.';
  }
}

/** What failed, with its tests or files, and what to run; empty when nothing failed. */
export function rejection(result: GateResult, settings: QualitySettings): string {
  const bad = result.checks.filter((check) => check.outcome === 'failed');
  if (bad.length === 0) return '';
  const text = (maxDetails: number, width: number, ofCommand = width) => {
    const parts = bad.map((one) => {
      const { check, reason, details, command } = one;
      const shown = details.slice(0, maxDetails).map((line) => `  - ${clip(line, width)}`);
      const more = details.length > maxDetails ? [`  - … and ${details.length - maxDetails} more`] : [];
      const again = command === null ? [] : [`  run again: ${clip(command, ofCommand)}`];
      return [
        `${check}: ${clip(reason, 2 * width)}`,
        ...shown,
        ...more,
        `  ${nextStep(one, result.coverage, settings)}`,
        ...again,
      ].join('\n');
    });
    const checks = bad.map(({ check }) => check);
    return textOf(refusal(GATE_CODES.gate_rejected, { checks, report: parts.join('\n') }));
  };
  // Fewer lines of each check before shorter ones: every check keeps its reason and its command.
  for (const maxDetails of [20, 12, 8, 5, 3, 1]) {
    const whole = text(maxDetails, 160, MAX_COMMAND);
    if (whole.length <= MAX_REJECTION) return whole;
  }
  return clip(text(1, 60), MAX_REJECTION);
}
