// Test outcomes, told from the output and the end of a command.

import { readTestOutput } from './test-output.ts';

/** How a command went. */
export type CommandEnd = {
  readonly command: string;
  readonly exitCode: number | null;
  /** The end came from the deadline. */
  readonly timedOut: boolean;
  readonly durationMs: number;
  /** Standard output, then standard error, without the prefixes that a tool puts before each line of a script. */
  readonly output: string;
};

/** The line that says why something broke, of programs that say more behind it. */
export const SAYS_WHY =
  /^\s*(?:(?:Exception during run: )?[\w.]*(?:Error|Exception)(?: \[\w+\])?: \S|\S+[(:]\d+[,:]\d+\)?: error\b)/;

/** Exit codes of runners that find no test; pytest's is 5. */
const NONE_RAN = [0, 1, 5];

/** Whether a runner says that it ran no test, and none failed. */
export function hasNoTests({ exitCode, timedOut, output }: CommandEnd): boolean {
  if (timedOut || exitCode === null || !NONE_RAN.includes(exitCode)) return false;
  const { ran, failed } = readTestOutput(output);
  return ran === 0 && failed.length === 0;
}
