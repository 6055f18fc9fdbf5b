// Records in the log of a team which mechanism enforces ownership on shell commands.

import type { TeamLog } from '../ports.ts';
import type { TeamContext } from './context.ts';

/** Appends a record if the mechanism is another one than the log says. */
export async function noteHolder(log: TeamLog, { writesHeldBy }: Pick<TeamContext, 'writesHeldBy'>): Promise<void> {
  const by = await writesHeldBy();
  if (log.state.writesHeldBy !== by) await log.append({ type: 'writes_held', by });
}
