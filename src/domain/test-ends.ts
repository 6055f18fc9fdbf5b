// Test outcomes, told from the output and the end of a command.

import { NONE_FOUND, plainText, readTestOutput } from './test-output.ts';

/** How a command went. */
export type CommandEnd = {
  readonly command: string;
  /** What the shell was given for it. */
  readonly script: string;
  readonly exitCode: number | null;
  /** The end came from the deadline. */
  readonly timedOut: boolean;
  readonly durationMs: number;
  /** What it printed, and behind that what it printed as its errors, without what a tool says before each line of a script. */
  readonly output: string;
  /** The latter alone. */
  readonly errors: string;
};

/** Python's say the same where they broke down; with these codes they have found none. */
const NONE_RAN = /^(?:=+ )?(?:no tests ran|NO TESTS RAN)\b/m;
const NONE_RAN_CODES = [0, 5];

/** Node's runner, of what it was told to run, and of any directory that went away while it looked around. */
const NOT_THERE = /^Could not find '([^'\n]+)'$/m;
/** uvu, of the folder that it was told of. */
const NO_FOLDER = /^Error: ENOENT: no such file or directory, scandir '([^'\n]+)'$/m;

/** It never came to the tests; run again, it may. */
export function wasLost({ exitCode, output }: CommandEnd): boolean {
  return exitCode !== 0 && NOT_THERE.test(plainText(output)) && readTestOutput(output).ran === null;
}

function plainPath(path: string): string {
  return path.replace(/^(?:\.\/)+|\/+$/g, '');
}

/** The script, as package managers print it before they run it. */
const PRINTED = /^[>$] .*$/gm;

/** What was run, itself or in a script of the package. */
function wordsOf(script: string, text: string): readonly string[] {
  return [script, ...(text.match(PRINTED) ?? [])]
    .join('\n')
    .split(/[\s'"]+/)
    .map(plainPath);
}

/** What is not there is what the command names. */
function isNamedMissing({ exitCode, output, script }: CommandEnd): boolean {
  if (exitCode === 0 || readTestOutput(output).ran !== null) return false;
  const text = plainText(output);
  const words = wordsOf(script, text);
  const isUvu = words.some((word) => /(?:^|\/)uvu$/.test(word));
  const missing = (NOT_THERE.exec(text) ?? (isUvu ? NO_FOLDER.exec(text) : null))?.[1];
  return missing !== undefined && words.includes(plainPath(missing));
}

/** Said where that is no error: what failed then comes behind it. */
const NONE_WANTED = /^No tests? (?:files )?found, exiting with code 0/m;

/** The line that says why something broke, of programs that say more behind it. */
export const SAYS_WHY =
  /^\s*(?:(?:Exception during run: )?[\w.]*(?:Error|Exception)(?: \[\w+\])?: \S|\S+[(:]\d+[,:]\d+\)?: error\b)/;

/** Something else broke than a runner that has nothing to run. */
function breaks(line: string): boolean {
  return SAYS_WHY.test(line) && line.search(NONE_FOUND) === -1;
}

/** Whether a runner says that there is no test to run. */
export function hasFoundNone(end: CommandEnd): boolean {
  const { exitCode, output } = end;
  const text = plainText(output);
  if (isNamedMissing(end)) return true;
  if (exitCode !== 0 && (NONE_WANTED.test(text) || text.split('\n').some(breaks))) return false;
  return text.search(NONE_FOUND) !== -1 || (NONE_RAN.test(text) && NONE_RAN_CODES.includes(exitCode ?? 1));
}

/** How many tests ran; null when nothing of its output tells. */
export function ranBy(end: CommandEnd): number | null {
  return isNamedMissing(end) ? 0 : readTestOutput(end.output).ran;
}

/** It ended as it should where there is no test to run, and ran none. */
export function hasNoTests(end: CommandEnd): boolean {
  return ranBy(end) === 0 && !end.timedOut && (end.exitCode === 0 || hasFoundNone(end));
}

/** Whether a command's output tells what became of tests. */
export function tellsOfTests({ output }: CommandEnd): boolean {
  const { ran, failed: names } = readTestOutput(output);
  return ran !== null || names.length > 0;
}
