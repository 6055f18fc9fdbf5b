// Outputs of a command that failed: a line for people, and an object for programs.

import { BASE_CODES } from '../base/rules/base-codes.ts';
import {
  asData,
  type Code,
  lineWithCode,
  type RefusalData,
  refusal,
  type ValuesOf,
  withCode,
} from '../base/rules/codes.ts';
import { messageOf, ToolError } from '../base/rules/errors.ts';
import { oneLine } from '../base/rules/text.ts';
import { jsonText } from './json-text.ts';

let answered = false;

/** An object is on standard output already, such as the report of a team that failed: no second one follows. */
export function noteAnswered(): void {
  answered = true;
}

export function isAnswered(): boolean {
  return answered;
}

/** Causes below an error that are looked at. */
const MOST_CAUSES = 10;

type Cause = { readonly code: string | null; readonly message: string };

/** The text for standard error, without a line break at its end. */
export function failedText(error: unknown): string {
  return `tool: ${error instanceof ToolError ? withCode(error.refusal) : messageOf(error).replace(/$/m, ` (${BASE_CODES.unexpected_error.code})`)}`;
}

/** An error in one line with its code, for outputs of a command that goes on. */
export function errorLine(error: unknown): string {
  return error instanceof ToolError
    ? lineWithCode(error.refusal)
    : `${oneLine(messageOf(error))} (${BASE_CODES.unexpected_error.code})`;
}

/** Prints a warning on standard error. */
export function warn<C extends Code>(of: C, values: ValuesOf<C>): void {
  process.stderr.write(`tool: warning: ${lineWithCode(refusal(of, values))}\n`);
}

function dataOf(error: unknown): RefusalData {
  return asData(
    error instanceof ToolError ? error.refusal : refusal(BASE_CODES.unexpected_error, { said: messageOf(error) }),
  );
}

function causesOf(error: unknown): readonly Cause[] {
  const causes: Cause[] = [];
  for (let one = error; one instanceof Error && one.cause !== undefined && causes.length < MOST_CAUSES; one = one.cause)
    causes.push({ code: one.cause instanceof ToolError ? one.cause.code : null, message: messageOf(one.cause) });
  return causes;
}

/** The object for standard output, of a command that was called with `--json`. */
export function failedJson(error: unknown): string {
  return jsonText({ error: { ...dataOf(error), causes: causesOf(error) } });
}
