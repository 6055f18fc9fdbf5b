// Whether an agent of a host asks, rather than a person at a terminal.

import { isBelowHost } from '../adapters/host-above.ts';
import type { Teams } from '../engine/ports.ts';
import { withStanding } from '../engine/team/context.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * What a host runs says so in its environment. An agent can take that away: while a host's session leads a team, the
 * processes above this one are looked at as well.
 */
export async function isAskedByAgent(teams: Teams, env: Environment): Promise<boolean> {
  if (env.CLAUDECODE !== undefined) return true;
  const isLedInHost = await withStanding(teams, (logs) =>
    Promise.resolve(logs.some(({ state }) => state.lead.session !== null)),
  );
  return isLedInHost && isBelowHost();
}
