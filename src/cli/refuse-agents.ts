// Refusals for shells of agents: no SPEC approval, no leading of a team, no installation while a team is active.

import { identityOf } from '../agents/member-environment.ts';
import { failure } from '../base/rules/errors.ts';
import { certainIdentity } from '../claude-code/certain-identity.ts';
import { isCalledByAgent, isCalledInTeam } from '../claude-code/shell-caller.ts';
import type { InstallTarget } from '../install/install-target.ts';
import { FileTeams } from '../team/log/teams.ts';
import type { Teams } from '../team/ports.ts';
import { LEAD } from '../team/rules/message.ts';
import { activeTeams } from './active-teams.ts';
import { CLI_CODES } from './rules/cli-codes.ts';

async function isAgent(teams: Teams, main: string): Promise<boolean> {
  const { env } = process;
  const isTeammate = env.TOOL_TEAMMATE !== undefined || certainIdentity(main) !== undefined;
  return isTeammate || (await isCalledByAgent(teams, env, main));
}

export async function refuseAgents(teams: Teams, main: string): Promise<void> {
  if (await isAgent(teams, main)) throw failure(CLI_CODES.person_only, { does: 'approve a SPEC' });
}

/** A teammate may lead neither its own team nor another one. */
export async function refuseTeammates(teams: Teams, main: string): Promise<void> {
  const { team, teammate } = certainIdentity(main) ?? identityOf(process.env);
  if (teammate !== null && teammate !== LEAD)
    throw failure(CLI_CODES.teammate_cannot_lead, { member: teammate, ...(team === null ? {} : { team }) });
  if (await isCalledInTeam(teams)) throw failure(CLI_CODES.host_leads_team, {});
}

/** Only a person may install or uninstall while a team is active. */
export async function refuseAgentsWhileTeamsActive({ root, main }: InstallTarget): Promise<void> {
  for (const place of new Set([main, root])) {
    const teams = new FileTeams({ root: place, now: Date.now });
    const standing = activeTeams(teams);
    if (standing.length > 0 && (await isAgent(teams, place)))
      throw failure(CLI_CODES.person_only, { does: 'install or uninstall', teams: standing, path: place });
  }
}
