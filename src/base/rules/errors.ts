// The one table of error codes, and the error class that carries one of them to an entry point.

/** Every code a user can meet, with the exit code of the command it ends: 1 failed, 2 usage or configuration. */
export const ERROR_CODES = {
  usage: 2,
  config: 2,
  credential: 2,
  port_in_use: 2,
  state_in_use: 2,
  state_unusable: 2,
  workspace_root: 2,
  prerequisite: 2,
  tracker: 1,
  git: 1,
  hook: 1,
  agent: 1,
  daemon_unreachable: 1,
  refused: 1,
  internal: 1,
} as const satisfies Record<string, 1 | 2>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** An error whose message is meant for the person at the terminal: it names the thing, what was expected, what came. */
export class ToolError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'ToolError';
    this.code = code;
  }

  get exitCode(): 1 | 2 {
    return ERROR_CODES[this.code];
  }
}

/** Others were at it for longer than could be waited: nothing was done, and it can be asked again. */
export class BusyError extends ToolError {
  constructor(message: string) {
    super('refused', message);
    this.name = 'BusyError';
  }
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

/** For the end of a `switch` over a union: a new case fails the type check here. */
export function assertNever(value: never): never {
  throw new Error(`unexpected case: ${JSON.stringify(value)}`);
}
