// A team that was left is taken up again: the same by a command of the host and at a terminal.

import type { TeamLog } from '../../ports.ts';

/**
 * Makes somebody else its lead; gives why that cannot be.
 * @param session of the host; null: a terminal
 * @param keep whether what was completed stays so
 */
export async function restartTeam(log: TeamLog, session: string | null, keep: boolean): Promise<string | null> {
  // Whoever worked one at a time goes on so.
  const { refusal } = await log.append({ type: 'restarted', session, key_hash: null, keep, alone: true });
  return refusal;
}
