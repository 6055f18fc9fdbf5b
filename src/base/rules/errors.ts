// The error of this program: one refusal of the error table, thrown, with the kind that decides the exit code.

import { type Code, KINDS, type Kind, type Refusal, refusal, textOf, type Values, type ValuesOf } from './codes.ts';

/** Kinds that end a command. */
export type ErrorKind = Exclude<Kind, 'problem' | 'warning'>;

/** An error whose message is meant for the person at the terminal: it names the thing, what was expected, what came. */
export class ToolError extends Error {
  readonly kind: ErrorKind;
  readonly refusal: Refusal;

  constructor(refusal: Refusal, options?: { cause?: unknown }) {
    super(textOf(refusal), options);
    this.name = 'ToolError';
    this.refusal = refusal;
    this.kind = kindOf(refusal);
  }

  get code(): string {
    return this.refusal.of.code;
  }

  get values(): Values {
    return this.refusal.values;
  }

  get exitCode(): 1 | 2 {
    return KINDS[this.kind];
  }
}

/** A problem or a warning that is thrown all the same ends a command as a refusal does. */
function kindOf({ of }: Refusal): ErrorKind {
  if (of.kind === 'problem') return 'config';
  return of.kind === 'warning' ? 'refused' : of.kind;
}

/** An error of the table, to throw. */
export function failure<C extends Code>(of: C, values: ValuesOf<C>, options?: { cause?: unknown }): ToolError {
  return new ToolError(refusal(of, values), options);
}

/** Whether an error is of that entry of the table. */
export function isFailure(error: unknown, of: Code): error is ToolError {
  return error instanceof ToolError && error.refusal.of === of;
}

function wordsOf(thrown: unknown): string {
  // What Node throws when a host has several addresses and none answers: its own message is empty.
  if (thrown instanceof AggregateError && thrown.message === '')
    return [...new Set(thrown.errors.map(messageOf))].join('; ');
  if (thrown instanceof Error) return thrown.message || thrown.name;
  if (typeof thrown !== 'object' || thrown === null) return String(thrown);
  try {
    return JSON.stringify(thrown);
  } catch {
    return '';
  }
}

/** The words of anything thrown, in one line or more, never empty. */
export function messageOf(error: unknown): string {
  return wordsOf(error) || 'an error without words';
}

/** The code of an error, such as ENOENT; undefined: it has none. */
export function errorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** For the end of a `switch` over a union: a new case fails the type check here. */
export function assertNever(value: never): never {
  throw new Error(`unexpected case: ${JSON.stringify(value)}`);
}
