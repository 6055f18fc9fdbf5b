// From what commands did to what a check found: one function per check.

import { type Refusal, refusal, textOf } from '../../base/rules/codes.ts';
import { clip, lastLines, oneLine, visible } from '../../base/rules/text.ts';
import { type Coverage, fileLine, percentText, uncovered } from './coverage.ts';
import { GATE_CODES } from './gate-codes.ts';
import { type Check, type CheckResult, type Failure, NO_TESTS, type QualitySettings } from './quality.ts';
import { type CommandEnd, hasNoTests, SAYS_WHY } from './test-ends.ts';
import { MAX_NAMED, plainText, readTestOutput } from './test-output.ts';
import { withPlaces } from './tool-output.ts';

export type Measured = {
  readonly result: CheckResult;
  /** It speaks of the tree alone; where it does not, the same tree is worth another look. */
  readonly lasts: boolean;
};

export const ALL_CHECKS: readonly Check[] = ['tests', 'coverage', 'lint', 'security', 'performance'];

const MAX_DETAILS = 20;

function failed(
  check: Check,
  reason: string,
  command: string | null,
  details: readonly string[],
  lasts: boolean,
): Measured {
  const result = {
    check,
    outcome: 'failed' as const,
    reason,
    details: details.slice(0, MAX_DETAILS),
    command,
    figure: null,
  };
  return { result, lasts };
}

function passed(check: Check, reason: string, command: string, figure: string | null): Measured {
  return { result: { check, outcome: 'passed', reason, details: [], command, figure }, lasts: true };
}

function commandsOf(all: readonly Pick<BudgetEnd, 'end'>[]): string {
  return [...new Set(all.map(({ end }) => end.command))].join(' && ');
}

/** A command that failed, of which single failures are not told apart. */
function wholeFailure(
  { command, timedOut }: Pick<CommandEnd, 'command' | 'timedOut'>,
  reason: string,
  details: readonly string[] = [],
): Failure {
  return { command, how: timedOut ? 'timed_out' : 'ended', names: null, count: null, reason, details };
}

function whole(end: CommandEnd, { result }: Measured): Failure {
  return wholeFailure(end, result.reason, result.details);
}

function withFailures({ result, lasts }: Measured, failures: readonly Failure[]): Measured {
  return { result: { ...result, failures }, lasts };
}

/** What the package manager says of itself and of the script's end. */
const NOISE = /^npm (warn|error|notice|WARN|ERR!)|^\s*ELIFECYCLE/;
const HEADER = /^> (?:\S+@\S+ .*|\S+)\n> .*\n/m;

/** The lines of its output, without the package manager's own. */
export function linesOf(end: Pick<CommandEnd, 'output'>): readonly string[] {
  const lines = plainText(end.output)
    .replace(HEADER, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const own = lines.filter((line) => !NOISE.test(line));
  return own.length > 0 ? own : lines;
}

const MAX_LINES = 15;

function lastOf(lines: readonly string[]): readonly string[] {
  return lastLines(lines.join('\n'), MAX_LINES, 300)
    .split('\n')
    .filter((line) => line !== '');
}

function tailOf(end: CommandEnd): readonly string[] {
  return lastOf(linesOf(end));
}

const FINDING = /:\d+(:\d+)?[:\s]|\b(error|warning|critical|high|moderate|vulnerabilit)/i;

/** What a linter or an audit found: the beginning, where the findings stand, and the last line, which may count them. */
function findingsOf(end: CommandEnd): { readonly first: string; readonly lines: readonly string[] } {
  const lines = withPlaces(linesOf(end)).map((line) => clip(visible(line.trimEnd()), 300));
  const shown = lines.length > MAX_DETAILS ? [...lines.slice(0, MAX_DETAILS - 1), ...lines.slice(-1)] : lines;
  return { first: lines.find((line) => FINDING.test(line)) ?? lines[0] ?? 'it said nothing', lines: shown };
}

/** There is something to measure it with, or there should be, and nothing was measured. */
export function noData(check: Check, reason: string, command: string | null = null): Measured {
  return failed(check, reason, command, [], false);
}

export function notMeasured(check: Check, reason: string): Measured {
  return { result: { check, outcome: 'not_measured', reason, details: [], command: null, figure: null }, lasts: true };
}

/**
 * Nothing has measured the coverage. That fails where a command was run for it.
 * @param isAsked whether the settings ask for any
 * @param command ran and left no report; null: there is no command
 */
export function unmeasuredCoverage(why: string, isAsked: boolean, command: string | null): Measured {
  if (isAsked && command !== null) {
    const missed = noData('coverage', textOf(refusal(GATE_CODES.coverage_not_measured, { why })), command);
    return withFailures(missed, [wholeFailure({ command, timedOut: false }, missed.result.reason)]);
  }
  // With the tool installed the same tree is worth another look.
  return { ...notMeasured('coverage', why), lasts: !isAsked };
}

/** Whether coverage has to be measured. */
export function asksForCoverage({ coverageTarget, required }: QualitySettings): boolean {
  return coverageTarget > 0 && required.includes('coverage');
}

export function notEnded(
  check: Check,
  timeoutMs: number,
  command: string | null,
  details: readonly string[] = [],
): Measured {
  const reason = textOf(refusal(GATE_CODES.check_timed_out, { seconds: Math.round(timeoutMs / 100) / 10 }));
  const measured = failed(check, reason, command, details, false);
  return command === null
    ? measured
    : withFailures(measured, [wholeFailure({ command, timedOut: true }, reason, details)]);
}

/** The shell's own codes, and the words of programs that have others in them. */
export function couldNotRun(end: CommandEnd): boolean {
  if (end.exitCode === 126 || end.exitCode === 127) return true;
  if (end.exitCode === 0) return false;
  return /No module named \S+$|no such (sub)?command|command not found/m.test(lastLines(end.output, 6));
}

function cannotRun(check: Check, end: CommandEnd): Measured {
  return failed(check, notRunnable(end), end.command, tailOf(end), false);
}

function notRunnable(end: CommandEnd): string {
  const said = oneLine(tailOf(end)[0] ?? 'it said nothing');
  return textOf(refusal(GATE_CODES.check_not_runnable, { command: end.command, said }));
}

/** A command that failed, with a line that it said. */
function commandFailed(end: CommandEnd, said: string | undefined): string {
  const values = { command: end.command, how: howItEnded(end), said: oneLine(said ?? 'it said nothing') };
  return textOf(
    refusal(GATE_CODES.check_failed, { ...values, ...(end.exitCode === null ? {} : { exit: end.exitCode }) }),
  );
}

export function howItEnded(end: CommandEnd): string {
  return end.exitCode === null ? 'was ended by a signal' : `ended with ${end.exitCode}`;
}

/** The exit code decides; names are read of a command that failed. */
export function testsResult(end: CommandEnd, timeoutMs: number): Measured {
  if (end.exitCode === 0 && !hasNoTests(end)) return testsPassed(end);
  const { failures, failed: names } = readTestOutput(end.output);
  const all = (measured: Measured) => withFailures(measured, [whole(end, measured)]);
  if (end.timedOut) return all(notEnded('tests', timeoutMs, end.command, names.length > 0 ? names : tailOf(end)));
  if (couldNotRun(end) && names.length === 0) return all(cannotRun('tests', end));
  if (hasNoTests(end)) return failed('tests', NO_TESTS, end.command, [], true);
  const measured = failing(end, names, failures);
  // A list that was cut tells none apart.
  const isTold = names.length > 0 && names.length < MAX_NAMED;
  const failure = whole(end, measured);
  return withFailures(measured, [isTold ? { ...failure, names, count: failures } : failure]);
}

function testsPassed(end: CommandEnd): Measured {
  const { ran, failures, skipped } = readTestOutput(end.output);
  const total = ran === null ? null : ran - (failures ?? 0);
  const figure = total === null ? null : `${total} ${total === 1 ? 'test' : 'tests'}`;
  const left = skipped === null || skipped === 0 ? '' : `, ${skipped} skipped`;
  const words = figure === null ? 'the tests pass' : `${figure} ${total === 1 ? 'passes' : 'pass'}`;
  return passed('tests', `${words}${left}`, end.command, figure === null ? null : `${figure}${left}`);
}

/** Lines of a stack that are in no file of the project. */
const OUTSIDE = /^\s+at (?:.*\()?(?:node:|(?:\S*\/)?node_modules\/)[^\s()]*\)?(?: \{)?$/;

/** The end of what it said; before it why it broke and where in the project, when that stands further up. */
function whyOf(end: CommandEnd): readonly string[] {
  const lines = linesOf(end).filter((line) => !OUTSIDE.test(line));
  const why = lines.findIndex((line) => SAYS_WHY.test(line));
  if (why === -1 || why >= lines.length - MAX_LINES) return lastOf(lines);
  const rest = lines.slice(why + 1, 2 - MAX_LINES);
  const place = rest.slice(0, 1 + rest.findIndex((line) => /^\s+at /.test(line))).slice(-1);
  return lastOf([lines[why] ?? '', ...place, ...lines.slice(2 - MAX_LINES)]);
}

function failing(end: CommandEnd, names: readonly string[], failures: number | null): Measured {
  const [first = ''] = names;
  if (names.length === 0) {
    const said = linesOf(end).find((line) => SAYS_WHY.test(line)) ?? tailOf(end).at(-1);
    return failed('tests', commandFailed(end, said), end.command, whyOf(end), failures !== null);
  }
  const count = Math.max(names.length, failures ?? 0);
  const amount = count === 1 ? '1 test fails:' : `${count} tests fail, the first is`;
  const reason = textOf(refusal(GATE_CODES.tests_failed, { amount, count, first }));
  return failed('tests', reason, end.command, names, true);
}

export function coverageResult(
  coverage: Coverage,
  { coverageTarget: target }: QualitySettings,
  { command }: Pick<CommandEnd, 'command'>,
): Measured {
  const figure = percentText(coverage.percent);
  const isMet = coverage.percent >= target;
  const result: CheckResult = {
    check: 'coverage',
    outcome: isMet ? 'passed' : 'failed',
    reason: isMet
      ? `the tests reach ${figure} of the lines (expected ${target} %)`
      : textOf(refusal(GATE_CODES.coverage_below_target, { reached: figure, target })),
    details: uncovered(coverage, target).map(fileLine),
    command,
    figure,
  };
  return { result, lasts: true };
}

/** Lint and security: the command has to end with 0. */
export function commandsResult(check: 'lint' | 'security', end: CommandEnd, timeoutMs: number): Measured {
  if (end.timedOut) return notEnded(check, timeoutMs, end.command, tailOf(end));
  if (end.exitCode === 0)
    return passed(check, check === 'lint' ? 'no lint errors' : 'no security findings', end.command, null);
  const all = (measured: Measured, names: readonly string[] | null = null) =>
    withFailures(measured, [{ ...whole(end, measured), names }]);
  if (couldNotRun(end)) return all(cannotRun(check, end));
  const isAudit = check === 'security';
  const unreached = isAudit ? unreachedRegistry(end) : null;
  if (unreached !== null) return { ...notMeasured(check, `${end.command}: ${unreached}`), lasts: false };
  const audit = isAudit ? auditFindings(end.output) : null;
  if (audit?.length === 0) {
    const values = { command: end.command, how: howItEnded(end) };
    const reason = textOf(refusal(GATE_CODES.findings_unreadable, values));
    return all(failed(check, reason, end.command, tailOf(end), false));
  }
  const { first, lines } = audit === null ? findingsOf(end) : { first: audit[0] ?? '', lines: audit };
  return all(failed(check, commandFailed(end, first), end.command, lines, true), audit);
}

/** Why `npm audit` has looked at nothing; null when it has, or when something else stands in the output as well. */
function unreachedRegistry(end: CommandEnd): string | null {
  const text = plainText(end.output);
  if (!/^npm (?:error|ERR!) audit endpoint returned an error$/m.test(text)) return null;
  const own = text.replace(HEADER, '').split('\n');
  const said = own
    .filter((line) => !NOISE.test(line))
    .join('\n')
    .trim();
  // What npm prints for the answer that it has not got: as text, and as JSON.
  if (!/^(?:undefined)?$|^\{\s*"message": .*,\s*"error": \{\s*"summary": .*,\s*"detail": .*\s*\}\s*\}$/.test(said))
    return null;
  const why = /^npm (?:warn|WARN) audit (.+)$/m.exec(text)?.[1] ?? 'the audit endpoint returned an error';
  return oneLine(why);
}

const SEVERITIES = ['critical', 'high', 'moderate', 'low', 'info'];

/** The findings of `npm audit --json`, the worst first; null when the output is something else. */
function auditFindings(output: string): readonly string[] | null {
  const start = output.indexOf('{');
  if (start === -1 || !output.includes('"auditReportVersion"')) return null;
  const rows = [...output.matchAll(/"name": *"([^"]+)",\s*"severity": *"(\w+)"/g)].map(
    ([, name = '', severity = '']) => ({ name, severity }),
  );
  return [
    ...new Set(
      rows
        .sort((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity))
        .map(({ name, severity }) => `${severity}: ${name}`),
    ),
  ];
}

export type BudgetEnd = { readonly name: string; readonly budgetMs: number; readonly end: CommandEnd };

function budgetProblem({ name, budgetMs, end }: BudgetEnd): Refusal | null {
  const values = { name, ms: end.durationMs, budget: budgetMs };
  if (end.timedOut && end.durationMs <= budgetMs) return refusal(GATE_CODES.performance_not_ended, { name });
  if (end.timedOut) return refusal(GATE_CODES.performance_ended, values);
  if (couldNotRun(end)) {
    const failure = `cannot be run: ${oneLine(tailOf(end)[0] ?? 'it said nothing')}`;
    return refusal(GATE_CODES.performance_failed, { name, failure });
  }
  if (end.exitCode !== 0)
    return refusal(GATE_CODES.performance_failed, { name, failure: commandFailed(end, tailOf(end).at(-1)) });
  return end.durationMs > budgetMs ? refusal(GATE_CODES.performance_over_budget, values) : null;
}

/** Each command within its budget. Time is of the machine as well as of the tree: what took too long is measured again. */
export function performanceResult(budgets: readonly BudgetEnd[]): Measured {
  const over = budgets.flatMap((budget) => {
    const problem = budgetProblem(budget);
    return problem === null ? [] : [{ line: textOf(problem), end: budget.end }];
  });
  const [first] = over;
  const figure = budgets.map(({ name, end }) => `${name} ${end.durationMs} ms`).join(', ');
  if (first === undefined) return passed('performance', `within budget: ${figure}`, commandsOf(budgets), figure);
  const { result } = failed(
    'performance',
    first.line,
    commandsOf(over),
    over.map(({ line }) => line),
    false,
  );
  const failures = over.map(({ line, end }) => wholeFailure(end, line, [line]));
  return { result: { ...result, figure, failures }, lasts: false };
}
