// The round of an attempt: what came since work was handed in; pure.

import type { Round } from '../../agents/rules/round.ts';
import { fence, visibleLines } from '../../base/rules/text.ts';
import type { Entry } from './state.ts';

/** Failures of a pull request that its base has to be merged for. */
const MERGE_FAILURES = ['conflict', 'behind'];

/** What an attempt is told of its base or its pull request; null: nothing. A conflict with the base is the later one. */
export function toldOf({ follow, serial }: Pick<Entry, 'follow' | 'serial'>): string | null {
  return serial?.told ?? follow?.told ?? null;
}

function isMerge({ follow, serial, sentBack }: Pick<Entry, 'follow' | 'serial' | 'sentBack'>): boolean {
  if (serial !== null && serial.told !== null) return true;
  if (follow === null) return false;
  // A commit of others may conflict with the one that was handed in.
  if (follow.tip !== null && sentBack !== null) return true;
  return follow.told !== null && follow.failure?.split('\n').some((name) => MERGE_FAILURES.includes(name)) === true;
}

/** Why work that was handed in is not published; null: nothing came back. */
export function sentBackText({ sentBack }: Pick<Entry, 'sentBack'>): string | null {
  return sentBack === null ? null : `The work was handed in and is not published:\n\n${fence(visibleLines(sentBack))}`;
}

/**
 * The same for each attempt of a round. Without anything new, it is the last round that is done again.
 * @param told what the attempt is told beside its task; null: nothing
 */
export function roundOf(entry: Pick<Entry, 'handedIn' | 'sentBack' | 'follow' | 'serial'>, told: string | null): Round {
  const { handedIn } = entry;
  const parts = [sentBackText(entry), told].filter((part) => part !== null);
  const words = parts.length === 0 ? null : parts.join('\n\n');
  return { number: Math.max(1, words === null ? handedIn : handedIn + 1), words, isMerge: isMerge(entry) };
}
