// Recognition of commands that fail only by their own coverage threshold.

import { type CommandEnd, tellsOfTests } from './test-ends.ts';
import { plainText, readTestOutput } from './test-output.ts';
import { oneLine } from './text.ts';

/** How tools that measure coverage say that it is too low. */
const TOO_LOW: readonly RegExp[] = [
  // jest
  /^Jest: \S+ coverage threshold for \w+ \(.+\) not met: /,
  /^Jest: Uncovered count for \w+ \([\d.]+\) exceeds .*threshold \([\d.]+\)$/,
  // c8, nyc, vitest, jest, karma
  /\bCoverage for \w+ \([\d.]+%\) does not meet .*threshold \([\d.]+%\)/,
  /^ERROR: Uncovered \w+ \([\d.]+\) exceed .*threshold \([\d.]+\)/,
  // node:test
  /^(?:ℹ|#) Error: [\d.]+% \w+ coverage does not meet threshold of [\d.]+%\.$/,
  // pytest-cov, coverage.py
  /^(?:FAIL )?Required test coverage of [\d.]+% not reached\. Total coverage: [\d.]+%$/,
  /^(?:ERROR: )?Coverage failure: total of [\d.]+ is less than fail-under=[\d.]+$/,
  // cargo tarpaulin
  /\bCoverage is below the failure threshold [\d.]+%/,
];

/** Where a runner counts its tests. */
const COUNTS: readonly RegExp[] = [
  /^(?:ℹ|#) cancelled \d+$/,
  /^ *Tests:? +\d/,
  /^ {2}\d+ passing\b/,
  /^(?:=+ )?\d+ passed\b.* in [\d.]+/,
  /^Ran \d+ tests? in /,
  /^test result: ok\./,
  /^# pass +\d+$/,
  / +Passed: +\d+$/,
  /^ {2}\d+ tests? passed$/,
];

/** What else may stand behind either where nothing else failed: more counts, the table of the coverage, the way a script ends. */
const HARMLESS: readonly RegExp[] = [
  /^[-=─\s|]*$/,
  /^[^|]*(?:\|[^|]*){4,}$/,
  /^\s*(?:Statements|Branches|Functions|Lines) *:/,
  /^=+ Coverage summary =+$/,
  /^ *% Coverage report from /,
  /^(?:ℹ|#) /,
  /^(?:Test Suites|Snapshots|Time):/,
  /^Ran all test suites/,
  /^ +(?:Test Files|Type Errors|Start at|Duration|Snapshots|Total: |Skipped: )/,
  /^ {2}\d+ pending$/,
  /^OK\b/,
  /^(?:Name|TOTAL)\s.*%?/,
  /^\S+\.\w+ +\d+ +\d+.* \d+%/,
  /^> /,
  /^npm (?:warn|WARN|error|ERR!|notice)\b/,
  /^\s*ELIFECYCLE/,
  /^\(node:\d+\) \w*Warning: |^\(Use `node --trace-/,
];

/** Each part of a project of several tells so where it fails. */
const PART_FAILED = /^npm (?:error|ERR!) (?:workspace |Lifecycle script )/gm;
/** vitest, of errors outside of any test. */
const ERRORS_BESIDE = /^ *Test Files +\d.*\n *Tests .*\n(?: *Type Errors .*\n)? *Errors +[1-9]\d* errors?$/m;
const BROKEN = /\b\w*Error\b|\berror\b|\bfatal\b|\bfail/i;

function isOneOf(patterns: readonly RegExp[], line: string): boolean {
  return patterns.some((pattern) => pattern.test(line));
}

/** Whether a stream ends with what tests and their coverage come to; where it tells of neither, whether nothing in it is broken. */
function isThatAlone(stream: string): boolean {
  const lines = stream.split('\n');
  const last = lines.findLastIndex((line) => isOneOf(TOO_LOW, line) || isOneOf(COUNTS, line));
  if (last !== -1) return lines.slice(last + 1).every((line) => isOneOf(HARMLESS, line));
  return lines.every((line) => isOneOf(HARMLESS, line) || !BROKEN.test(line));
}

/** In the words of the tool; null where the command passed, or may have failed for something else. */
export function ownThreshold(end: CommandEnd): string | null {
  if (end.exitCode === 0 || end.timedOut) return null;
  const { ran, failures, failed: names } = readTestOutput(end.output);
  if (failures !== 0 || ran === null || ran === 0 || names.length > 0) return null;
  const text = plainText(end.output);
  const said = text.split('\n').find((line) => isOneOf(TOO_LOW, line));
  if (said === undefined || ERRORS_BESIDE.test(text)) return null;
  const parts = new Set((text.match(PART_FAILED) ?? []).map((words) => words.trim()));
  const isOnePart = [...parts].every((words) => text.split(words).length <= 2);
  const errors = plainText(end.errors);
  const isAlone = isOnePart && isThatAlone(text.slice(0, text.length - errors.length)) && isThatAlone(errors);
  return isAlone ? oneLine(said) : null;
}

/** Whether a command that measures coverage failed for its tests, or for what comes behind them. */
export function failsForTests(end: CommandEnd): boolean {
  return end.exitCode !== 0 && !end.timedOut && tellsOfTests(end) && ownThreshold(end) === null;
}
