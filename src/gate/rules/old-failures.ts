// Failures that are older than the work: the checks at the start of the team, compared with the checks now.

import { refusal, textOf } from '../../base/rules/codes.ts';
import { clip } from '../../base/rules/text.ts';
import { GATE_CODES } from './gate-codes.ts';
import type { Check, CheckResult, Failure, GateResult } from './quality.ts';

export type OldFailure = Failure & { readonly check: Check };

/** What the checks found where the team began. */
export type Baseline = {
  readonly at: number;
  readonly checks: readonly CheckResult[];
  /** Covered lines, percent; null: not measured. */
  readonly coverage: number | null;
  /** Failures that the work has not mended so far: what has passed once is old no more. */
  readonly old: readonly OldFailure[];
  /** Why nothing was measured; missing: it was. */
  readonly why?: string;
};

/** All failures of a gate, each with its check. Too little that is tested is what the work is there to mend. */
export function failuresOf(checks: readonly CheckResult[]): readonly OldFailure[] {
  return checks.flatMap((one) => (one.failures ?? []).map((failure) => ({ ...failure, check: one.check })));
}

/** A check with only its named failures. */
export function withNamedFailures({ failures = [], ...one }: CheckResult): CheckResult {
  const named = failures.filter(({ names }) => names !== null);
  return named.length === 0 ? one : { ...one, failures: named };
}

/** A name without what moves with the lines around it. */
function bare(name: string): string {
  return name.replace(/:\d+/g, '');
}

/** The names that the others do not account for, each of them for one. */
function without(names: readonly string[], others: readonly string[]): readonly string[] {
  const left = new Map<string, number>();
  for (const name of others) left.set(bare(name), (left.get(bare(name)) ?? 0) + 1);
  return names.filter((name) => {
    const count = left.get(bare(name)) ?? 0;
    left.set(bare(name), count - 1);
    return count <= 0;
  });
}

function unnamed({ names, count }: Failure): number {
  return Math.max(0, (count ?? 0) - (names?.length ?? 0));
}

function isLike(one: Failure, other: Failure): boolean {
  return one.command === other.command && one.how === other.how;
}

function newWords(count: number, first: string | undefined): string {
  if (count === 1) return `1 newly fails${first === undefined ? '' : `: ${first}`}`;
  return `${count} newly fail${first === undefined ? '' : `, the first is ${first}`}`;
}

/** What of a failure is new; null: nothing. */
function newOf(now: Failure, old: readonly Failure[]): Failure | null {
  const before = old.find((one) => isLike(one, now));
  if (before === undefined) return now;
  if (before.names === null) return null;
  if (now.names === null) return now;
  const names = without(now.names, before.names);
  const more = unnamed(now) - unnamed(before);
  if (names.length === 0 && more <= 0) return null;
  const count = names.length + Math.max(0, more);
  return { ...now, names, count, reason: newWords(count, names[0]) };
}

/** Old failures as they are said beside new ones. */
function oldWords(count: number): string {
  const amount = `${count} ${count === 1 ? 'failure is' : 'failures are'}`;
  return `; ${textOf(refusal(GATE_CODES.base_failures_ignored, { amount, count }))}`;
}

function asOld(one: CheckResult, words: string): CheckResult {
  return { ...one, outcome: 'old_failure', reason: `${one.reason}; ${words}` };
}

const SAME = GATE_CODES.check_failed_before.message;
const AS_A_WHOLE = GATE_CODES.tests_failed_before.message;

function heldCheck(one: CheckResult, old: readonly OldFailure[]): CheckResult {
  if (one.outcome !== 'failed' || one.failures === undefined) return one;
  const own = old.filter(({ check }) => check === one.check);
  const found = one.failures.map((failure) => newOf(failure, own));
  const left = found.filter((failure) => failure !== null);
  const [first] = left;
  if (first === undefined) {
    const isWhole = one.failures.some((failure) =>
      own.some((before) => isLike(before, failure) && before.names === null),
    );
    return asOld(one, isWhole && one.check === 'tests' ? AS_A_WHOLE : SAME);
  }
  const count = one.failures.reduce((sum, failure, index) => {
    const fresh = found[index] ?? null;
    if (fresh === failure) return sum;
    return sum + (failure.names?.length ?? 1) - (fresh?.names?.length ?? 0);
  }, 0);
  if (count === 0) return one;
  const details = left.flatMap(({ names, details: said }) => names ?? said);
  return { ...one, reason: `${first.reason}${oldWords(count)}`, details, command: first.command };
}

/**
 * Too little coverage, while old failures keep tests from running: none of it where they are not told apart; else what was
 * reached before is enough.
 */
function heldCoverage(
  one: CheckResult,
  tests: CheckResult | undefined,
  now: number | null,
  before: Baseline,
): CheckResult {
  if (one.outcome !== 'failed' || one.failures !== undefined) return one;
  const remaining = before.old.filter(({ check }) => check === 'tests');
  if (remaining.length === 0 || tests?.failures === undefined) return one;
  if (tests.outcome === 'old_failure' && remaining.every(({ names }) => names === null))
    return asOld(one, 'tests fail as they did before the work began, so nothing reaches more');
  if (now === null || before.coverage === null || now < before.coverage) return one;
  return asOld(one, 'no less than before, while old failures keep tests from reaching more');
}

/** @param before null: what failed before is not known, and all counts */
export function withoutOldFailures(gate: GateResult, before: Baseline | null): GateResult {
  if (before === null || before.old.length === 0) return gate;
  const held = gate.checks.map((one) => heldCheck(one, before.old));
  const tests = held.find(({ check }) => check === 'tests');
  const checks = held.map((one) => (one.check === 'coverage' ? heldCoverage(one, tests, gate.coverage, before) : one));
  return { ...gate, checks, ok: checks.every(({ outcome }) => outcome !== 'failed') };
}

/** What is old still after a measurement: what it did not find any more was mended, and is the work's from there on. */
export function remainingOldFailures(
  old: readonly OldFailure[],
  checks: readonly CheckResult[],
): readonly OldFailure[] {
  return old.flatMap((one) => {
    const found = checks.find(({ check }) => check === one.check);
    if (found === undefined || found.outcome === 'not_measured') return [one];
    if (found.outcome === 'passed') return [];
    // It failed for something else, which may have kept it from coming so far.
    const now = found.failures?.find((failure) => isLike(failure, one));
    if (now === undefined || now.names === null || one.names === null) return [one];
    const mended = without(one.names, now.names);
    const names = without(one.names, mended);
    return names.length === 0 && unnamed(now) === 0 ? [] : [{ ...one, names, count: names.length + unnamed(now) }];
  });
}

/** Failures before any work, one line for each check. */
export function oldFailureLines({ checks }: Pick<Baseline, 'checks'>): readonly string[] {
  return checks
    .filter((one) => one.outcome === 'failed' && one.failures !== undefined)
    .map(({ check, reason }) => `${check}: ${reason}`);
}

/** `failed: 2 tests fail, the first is adds`. */
function outcomeWords({ outcome, figure, reason }: Shown): string {
  const words = outcome === 'passed' ? (figure ?? reason) : clip(reason, 160);
  return outcome === 'passed' ? `passed (${words})` : `${outcome.replace('_', ' ')}: ${words}`;
}

type Shown = Pick<CheckResult, 'check' | 'outcome' | 'figure' | 'reason'>;

/** `tests before / after`, and the same of each other check that failed before: a name and its words. */
export function beforeAndAfter(
  before: { readonly checks: readonly Shown[]; readonly why?: string | null } | null,
  after: readonly Shown[],
): readonly (readonly [string, string])[] {
  if (before === null) return [];
  if (typeof before.why === 'string') return [['tests before', `not measured: ${before.why}`]];
  return before.checks
    .filter(({ check, outcome }) => check === 'tests' || (outcome === 'failed' && check !== 'coverage'))
    .map((one) => {
      const now = after.find(({ check }) => check === one.check);
      const words = now === undefined ? 'not measured yet' : outcomeWords(now);
      return [`${one.check} before / after`, `${outcomeWords(one)} / ${words}`] as const;
    });
}
