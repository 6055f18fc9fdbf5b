// Result of a hook's process as data, which another process may have computed.

import type { Environment } from '../../base/rules/environment.ts';
import type { Teams } from '../../team/ports.ts';
import type { ParsedEvent } from './parse-event.ts';

export type Reply = {
  /** Lines for standard error. */
  readonly said: readonly string[];
  /** A line for standard output; null: none. */
  readonly printed: string | null;
  readonly code: 0 | 2;
  /** Ask again after a while: the awaited result is not there yet. */
  readonly wait?: true;
};

/** Parses a reply; undefined when the value is none. */
export function readReply(value: unknown): Reply | undefined {
  if (typeof value !== 'object' || value === null || !('said' in value && 'printed' in value && 'code' in value))
    return undefined;
  const { said, printed, code } = value;
  if (!Array.isArray(said) || !said.every((line) => typeof line === 'string')) return undefined;
  if (printed !== null && typeof printed !== 'string') return undefined;
  const wait = 'wait' in value && value.wait === true ? { wait: true as const } : {};
  return code === 0 || code === 2 ? { said, printed, code, ...wait } : undefined;
}

/**
 * Answers one event; throws where it cannot.
 * @param teams undefined: opened for this event alone
 */
export type Respond = (raised: ParsedEvent, env: Environment, teams?: Teams) => Promise<Reply>;
