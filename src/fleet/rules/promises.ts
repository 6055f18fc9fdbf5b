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
export function weightOf(record: JournalRecord): 'promise' | 'end' | 'told' {
  const { type } = record;
  // Words of an operator, who gets an answer. Comments are read again.
  if (PROMISES.has(type) || (type === 'messages' && record.heard === null)) return 'promise';
  // An agent gets its prompt after that: a later coordinator knows which agents may be at work.
  if (type === 'effect_finished' && record.effect === 'agent') return 'promise';
  return type === 'attempt_ended' ? 'end' : 'told';
}
