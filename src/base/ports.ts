// Ports that every room may use: clock, logger and keys (types only).

import type { Refusal } from './rules/codes.ts';

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since some moment; never set, never backwards. For everything that measures how long something takes. */
  elapsed(): number;
  /** Resolves after `ms`, or at once when the signal is aborted; never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export type LogSource =
  | 'serve'
  | 'poller'
  | 'workspace'
  | 'hook'
  | 'agent'
  | 'publish'
  | 'workflow'
  | 'http'
  | 'socket';
export type LogLevel = 'info' | 'warn' | 'error';
export type LogFields = Readonly<Record<string, string | number | boolean | null>>;

export interface Logger {
  /** A refusal is written with its code. */
  log(level: LogLevel, source: LogSource, message: string | Refusal, fields?: LogFields): void;
}

/** Keys that tell who asks where nothing else does. */
export interface Keys {
  create(): { readonly key: string; readonly hash: string };
  hash(key: string): string;
}
