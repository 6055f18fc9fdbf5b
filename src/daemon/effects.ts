// The one way a side effect happens: a record before it, a record after it.

import { messageOf } from '../base/rules/errors.ts';
import type { Journal } from './ports.ts';
import type { Effect } from './rules/effect-names.ts';
import type { JournalRecord } from './rules/record.ts';

export type EffectResult = Readonly<Record<string, string | number | null>>;

/** Whether this effect was begun and nobody knows how it ended. */
export function wasCutOff(journal: Journal, issue: number, key: string): boolean {
  return journal.state.entries.get(issue)?.effects[key] === 'started';
}

/** Performs an effect between its two records. What `act` throws is recorded and thrown on. */
export async function perform<T>(
  journal: Journal,
  issue: number,
  effect: Effect,
  key: string,
  act: () => Promise<T>,
  resultOf: (value: T) => EffectResult = () => ({}),
): Promise<T> {
  await journal.append({ type: 'effect_started', issue, effect, key });
  let value: T;
  try {
    value = await act();
  } catch (error) {
    const failed: JournalRecord = { type: 'effect_failed', issue, effect, key, error: messageOf(error).slice(0, 2000) };
    await journal.append(failed);
    throw error;
  }
  await journal.append({ type: 'effect_finished', issue, effect, key, result: resultOf(value) });
  return value;
}
