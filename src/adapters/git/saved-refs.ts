// How long refs of saved work are kept: from when they were first seen, since their commits may be older.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Mirror } from './mirror.ts';

export const SAVED = 'refs/toolcrew/saved/';
const DAY_MS = 24 * 60 * 60_000;

/** First seen, ms since the epoch, by ref. */
const seenTimes = z.record(z.string(), z.number());

function readTimes(path: string): Readonly<Record<string, number>> {
  try {
    return seenTimes.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    // Without it all of them are seen for the first time, and kept for longer.
    return {};
  }
}

/**
 * Drops the refs of saved work that were first seen more than so many days ago; gives how many.
 * @param directory where the times are kept, in a file of that name
 * @param now ms since the epoch
 */
export async function expireSaved(mirror: Mirror, directory: string, days: number, now: number): Promise<number> {
  const path = join(directory, 'saved-refs.json');
  const known = readTimes(path);
  const times: Record<string, number> = {};
  let dropped = 0;
  await mirror.forget((ref) => {
    if (!ref.startsWith(SAVED)) return false;
    const since = Math.min(known[ref] ?? now, now);
    if (days > 0 && now - since > days * DAY_MS) {
      dropped += 1;
      return true;
    }
    times[ref] = since;
    return false;
  });
  writeFileSync(`${path}.new`, `${JSON.stringify(times)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return dropped;
}
