// Notes in the log of a team who holds a write.

import type { TeamLog } from '../ports.ts';
import type { TeamContext } from './context.ts';

/** Puts on record what holds shell commands of a team, where that is new. */
export async function noteHolder(log: TeamLog, { writesHeldBy }: TeamContext): Promise<void> {
  const by = await writesHeldBy();
  if (log.state.writesHeldBy !== by) await log.append({ type: 'writes_held', by });
}
