// The round of an attempt: what came since work was handed in; pure.

import type { Round } from '../../agents/rules/round.ts';
import { fence, visibleLines } from '../../base/rules/text.ts';
import type { Entry } from './state.ts';

/** What an attempt is told of its pull request or its base; null: nothing. */
export function toldOf({ follow, serial }: Pick<Entry, 'follow' | 'serial'>): string | null {
  return follow?.told ?? serial?.told ?? null;
}

function isMerge({ follow, serial }: Pick<Entry, 'follow' | 'serial'>): boolean {
  if (follow !== null && follow.told !== null) return follow.failure?.split('\n').includes('conflict') === true;
  return serial !== null && serial.told !== null;
}

/**
 * The same for each attempt of a round. Without anything new, it is the last round that is done again.
 * @param told what the attempt is told beside its task; null: nothing
 */
export function roundOf(entry: Pick<Entry, 'handedIn' | 'sentBack' | 'follow' | 'serial'>, told: string | null): Round {
  const { handedIn, sentBack } = entry;
  const back =
    sentBack === null ? null : `The work was handed in and is not published:\n\n${fence(visibleLines(sentBack))}`;
  const parts = [back, told].filter((part) => part !== null);
  const words = parts.length === 0 ? null : parts.join('\n\n');
  return { number: Math.max(1, words === null ? handedIn : handedIn + 1), words, isMerge: isMerge(entry) };
}
