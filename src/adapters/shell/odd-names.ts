// Names at which a list of paths would be cut in other places.

import type { Reader } from './reader.ts';
import { listing } from './sink.ts';
import type { Shell } from './state.ts';
import type { Places } from './values.ts';

/** Whether names below the directories hold signs that a shell or xargs takes for more than a name. */
export function hasOddNames({ directories }: Places, shell: Shell, reader: Reader): boolean {
  const { context } = reader;
  if (context.glob === undefined || reader.stirredBy(shell, null) !== 'nothing') return true;
  let count = 0;
  const waiting = [...directories];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (/[\s'"\\]/.test(next)) return true;
    if (context.linkTo(next) !== null || context.kindOf(next) !== 'directory') continue;
    count += 1;
    if (count > 2_000) return true;
    for (const path of listing(next, context)) waiting.push(path);
  }
  return false;
}
