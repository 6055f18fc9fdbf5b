// Who asks at a shell: an agent of a host, a teammate that was started by itself, or a person at a terminal.

import { isBelowHost, isCutLoose } from '../adapters/host-above.ts';
import { type Identity, identityOf } from '../adapters/identity.ts';
import { certainIdentity } from '../compose-team.ts';
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

/** Whether a host's session leads that team, or, with none named, any. Of one that cannot be read nobody knows. */
function isLedByHost(teams: Teams, team: string | null): Promise<boolean> {
  const isMeant = (name: string) => team === null || team === name;
  return withReadable(teams, (logs, unread) =>
    Promise.resolve(
      logs.some(({ state }) => isMeant(state.team) && state.lead.session !== null) ||
        unread.some((one) => isMeant(one.team)),
    ),
  );
}

/**
 * Whom a shell belongs to; null: to an agent of a host, and nothing tells which. What stands above it tells of no team that a
 * host's session leads: that one starts no teammate as a program, while each of its agents can start one as whom it likes.
 */
export async function askerAtShell(teams: Teams, env: Environment, main: string): Promise<Identity | null> {
  const certain = certainIdentity(main);
  if (certain !== undefined && !(await isLedByHost(teams, certain.team))) return certain;
  return (await isAskedByAgent(teams, env, main)) ? null : (certain ?? identityOf(env));
}
