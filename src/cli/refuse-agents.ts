// What agents do not do from their shells: approve what they work by, and lead.

import { identityOf } from '../adapters/identity.ts';
import { certainIdentity } from '../compose-team.ts';
import { ToolError } from '../domain/errors.ts';
import { LEAD } from '../domain/team/message.ts';
import type { Teams } from '../engine/ports.ts';
import { isAskedByAgent, isAskedInTeam } from '../host/asked-by-agent.ts';

export async function refuseAgents(teams: Teams, main: string): Promise<void> {
  const { env } = process;
  const isTeammate = env.TOOL_TEAMMATE !== undefined || certainIdentity(main) !== undefined;
  if (isTeammate || (await isAskedByAgent(teams, env, main)))
    throw new ToolError(
      'refused',
      'only a person approves a SPEC, at a terminal of their own: this shell belongs to an agent',
    );
}

/** Neither the team that it is of, nor another one. */
export async function refuseTeammates(teams: Teams, main: string): Promise<void> {
  const { team, teammate } = certainIdentity(main) ?? identityOf(process.env);
  if (teammate !== null && teammate !== LEAD)
    throw new ToolError(
      'refused',
      `this shell belongs to ${teammate}${team === null ? '' : ` of team ${team}`}: a teammate leads no team; ask ${LEAD}`,
    );
  if (await isAskedInTeam(teams))
    throw new ToolError(
      'refused',
      'this shell belongs to an agent of the host while a session of it leads a team: nobody leads one from here; /tool:team-restart in the session goes on with it',
    );
}
