// Records that promise something: the store has them before anything else happens.

import type { JournalRecord } from '../../daemon/rules/record.ts';

const PROMISES: ReadonlySet<JournalRecord['type']> = new Set<JournalRecord['type']>([
  'claimed',
  'attempt_started',
  'effect_started',
  'asked_pull_request',
  'asked_done',
  'asked_question',
  'steered',
]);

/** `end`: waits for the store like a promise, but nothing begins with it. `told`: others may know it a moment later. */
export function weightOf({ type }: JournalRecord): 'promise' | 'end' | 'told' {
  if (PROMISES.has(type)) return 'promise';
  return type === 'attempt_ended' ? 'end' : 'told';
}
