// The call by which a host starts a registered teammate.

import { roleNamed } from '../rules/brief.ts';
import type { Member, TeamState } from '../rules/log/state.ts';
import { agentOf } from '../rules/role.ts';
import type { Host } from './context.ts';

/** Whether that version calls its tool for sub-agents `Agent`; before, it was `Task`. */
function isAgentTool(version: string | null): boolean {
  const [major = 0, minor = 0, patch = 0] = (version ?? '').split('.').map(Number);
  return version === null || major > 2 || (major === 2 && (minor > 1 || (minor === 1 && patch >= 100)));
}

/** What the host calls a tool of the team's server. */
export function serverTool(tool: string, host: Host | null): string {
  return `mcp__${host?.form === 'plugin' ? 'plugin_tool_' : ''}team__${tool}`;
}

const OF_LEAD = ['TeamCreate', 'Task', 'SendMessage', 'TaskCreate', 'TaskUpdate', 'TaskList', 'TaskGet', 'TeamDelete'];
const OF_MEMBER = ['SendMessage', 'TaskUpdate', 'TaskList', 'TaskGet', 'Inbox', 'FileLease'];

/** How a model gets tools that the host lists by name alone, so that sessions without a team do not pay for them. */
export function loadWords(who: 'lead' | 'member', host: Host | null): string {
  const tools = who === 'lead' ? [...OF_LEAD, 'Inbox'] : OF_MEMBER;
  const names = tools.map((tool) => serverTool(tool, host));
  const search = { query: `select:${names.join(',')}`, max_results: names.length };
  return `If the host has not loaded these tools, call ToolSearch ${JSON.stringify(search)} first. If there is no ToolSearch, their server is still starting: wait two seconds and try again.`;
}

/** What the host calls the agent of a role: a plugin's own have its name before theirs, those of the project have not. */
export function hostAgent(role: string, host: Host | null): string {
  return `${host?.form === 'plugin' && roleNamed(role) !== undefined ? 'tool:' : ''}${agentOf(role)}`;
}

export function hostCall(
  member: Member,
  state: TeamState,
  host: Host | null,
  key: string | null,
): Readonly<Record<string, unknown>> {
  const handed =
    key === null ? '' : ` Your key is ${key}: pass it as "key" with each call of the team's tools. Keep it secret.`;
  if (host === null)
    return {
      program: 'any',
      environment: { TOOL_TEAM: state.team, TOOL_TEAMMATE: member.name, TOOL_TEAMMATE_RUN: String(member.epoch) },
      prompt: `${member.prompt}${handed}`,
      note: 'No host was seen: start the agent with this environment.',
    };
  return {
    tool: isAgentTool(host.version) ? 'Agent' : 'Task',
    input: {
      subagent_type: hostAgent(member.name, host),
      description: `${member.name} of ${state.team}`,
      prompt: `${member.prompt}${handed}`,
      // Before, a session without a screen ends agents in the background with the lead's turn.
      ...(isAgentTool(host.version) ? { run_in_background: true } : {}),
      ...(member.model === 'inherit' || member.model === 'haiku' ? {} : { model: member.model }),
    },
  };
}
