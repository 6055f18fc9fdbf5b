// Whether an agent of a host asks, rather than a person at a terminal.

import { isBelowHost, isCutLoose } from '../adapters/host-above.ts';
import type { Teams } from '../engine/ports.ts';
import { withReadable } from '../engine/team/context.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * What a host runs says so in its environment. An agent can take that away, so the processes above this one are looked at:
 * for a host at work in the project; while a host's session leads a team of it, for any host, and for somebody at all.
 */
export async function isAskedByAgent(teams: Teams, env: Environment, main: string): Promise<boolean> {
  if (env.CLAUDECODE !== undefined || isBelowHost(process.ppid, main)) return true;
  return isAskedInTeam(teams);
}

/** Whether it may be a teammate: while a session of a host leads, nobody tells the shells of its agents apart. */
export function isAskedInTeam(teams: Teams): Promise<boolean> {
  return withReadable(teams, (logs, unread) => {
    const isLed = logs.some(({ state }) => state.lead.session !== null);
    return Promise.resolve(((isLed || unread.length > 0) && isBelowHost()) || (isLed && isCutLoose()));
  });
}
