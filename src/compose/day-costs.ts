// Cost of this day of repositories whose journals are on this machine: one that cannot be opened now has spent it all the same.

import { statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { systemClock } from '../base/clock.ts';
import type { Logger } from '../base/ports.ts';
import { refusal } from '../base/rules/codes.ts';
import { messageOf } from '../base/rules/errors.ts';
import { FileJournal } from '../daemon/journal/journal.ts';
import { spentOn, utcDay } from '../daemon/rules/state.ts';
import type { SlotShares } from '../daemon/slot-shares.ts';
import { placesBelow } from './places.ts';
import { COMPOSE_CODES } from './rules/compose-codes.ts';

/** Has the shares count what was spent today; a repository that is opened later counts by itself. */
export function rememberCosts(shares: Pick<SlotShares, 'remember'>, stateDir: string, log: Logger): void {
  const day = utcDay(systemClock.now());
  for (const place of placesBelow(stateDir)) {
    const path = join(place, 'journal.jsonl');
    const writtenAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (utcDay(writtenAt) < day) continue;
    try {
      const journal = new FileJournal({ directory: place, now: systemClock.now });
      const spent = spentOn(journal.state, day);
      void journal.close();
      shares.remember(relative(stateDir, place).toLowerCase(), (asked) => (asked === day ? spent : 0));
    } catch (error) {
      log.log('warn', 'serve', refusal(COMPOSE_CODES.day_cost_unread, { path, said: messageOf(error) }));
    }
  }
}
