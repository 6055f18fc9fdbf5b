// The age of refs of saved work: it counts from when they were first seen, since their commits may be older.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Mirror } from './mirror.ts';

export const SAVED = 'refs/toolcrew/saved/';
const DAY_MS = 24 * 60 * 60_000;

/** When the last sweep was, ms since the epoch, and how old the refs were then, ms. */
const agesFile = z.object({ at: z.number(), ages: z.record(z.string(), z.number()) });
type Ages = z.infer<typeof agesFile>;

function readAges(path: string, now: number): Ages {
  try {
    return agesFile.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    // Without it all of them are seen for the first time, and kept for longer.
    return { at: now, ages: {} };
  }
}

/**
 * Drops the refs of saved work that are older than so many days; gives how many. Their age counts from when they were
 * first seen. A sweep adds the time since the last one, a day at most. So a clock that is set back or ahead takes no more
 * than a day from a ref. Refs that nobody looks at for long are kept for longer.
 * @param directory where the ages are kept, in a file of that name
 * @param now ms since the epoch
 */
export async function expireSaved(mirror: Mirror, directory: string, days: number, now: number): Promise<number> {
  const path = join(directory, 'saved-refs.json');
  const known = readAges(path, now);
  const passed = Math.min(Math.max(now - known.at, 0), DAY_MS);
  const ages: Record<string, number> = {};
  let dropped = 0;
  await mirror.forget((ref) => {
    if (!ref.startsWith(SAVED)) return false;
    const before = known.ages[ref];
    const age = before === undefined ? 0 : before + passed;
    if (days > 0 && age > days * DAY_MS) {
      dropped += 1;
      return true;
    }
    ages[ref] = age;
    return false;
  });
  writeFileSync(`${path}.new`, `${JSON.stringify({ at: now, ages })}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return dropped;
}
