// Identity of the caller at a shell: an agent of a host, a teammate in its own process, or a person at a terminal.

import { type Identity, identityOf } from '../agents/member-environment.ts';
import type { Environment } from '../base/rules/environment.ts';
import { withReadable } from '../team/operations/context.ts';
import type { Teams } from '../team/ports.ts';
import { certainIdentity } from './certain-identity.ts';
import { isBelowHost, isDetached } from './host-above.ts';

/**
 * Whether the caller is an agent of a host. A host marks the environment of its children, but an agent can remove the
 * mark. So the parent processes are searched for a host that works in the project. While a host's session leads a
 * team, any host counts, and so does a detached process.
 */
export async function isCalledByAgent(teams: Teams, env: Environment, main: string): Promise<boolean> {
  if (env.CLAUDECODE !== undefined || isBelowHost(process.ppid, main)) return true;
  return isCalledInTeam(teams);
}

/** Whether the caller may be a teammate: the shells of the agents in a host's session cannot be told apart. */
export function isCalledInTeam(teams: Teams): Promise<boolean> {
  return withReadable(teams, (logs, unread) => {
    const isLed = logs.some(({ state }) => state.lead.session !== null);
    return Promise.resolve(((isLed || unread.length > 0) && isBelowHost()) || (isLed && isDetached()));
  });
}

/** Whether a host's session leads the team, or any team when `team` is null. An unreadable team counts as led. */
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
 * Identity of the caller; null: an unknown agent of a host. The parent processes prove nothing about a team that a
 * host's session leads: it starts no teammate as a process, but each of its agents can do so under any name.
 */
export async function callerAtShell(teams: Teams, env: Environment, main: string): Promise<Identity | null> {
  const certain = certainIdentity(main);
  if (certain !== undefined && !(await isLedByHost(teams, certain.team))) return certain;
  return (await isCalledByAgent(teams, env, main)) ? null : (certain ?? identityOf(env));
}
