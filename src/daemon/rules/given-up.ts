// The state of an issue whose work is given up.

import type { Entry } from './state.ts';

/** Where an issue stands whose work is given up. A round on an open pull request fails nothing: that stays, and is told. */
export function givenUp({ follow }: Entry, why: string): Pick<Entry, 'phase' | 'follow'> {
  if (follow === null) return { phase: 'giving_up', follow };
  return { phase: 'following', follow: { ...follow, stopped: why } };
}
