// SubagentStart: binds the run of an agent to its member.

import { refusal, withCode } from '../../base/rules/codes.ts';
import { mustBeReadable, type TeamContext, withReadable } from '../../team/operations/context.ts';
import type { ProjectFiles } from '../../team/operations/context-parts.ts';
import type { CallerEvidence } from '../../team/operations/event-caller.ts';
import { type HookAnswer, type HostEvent, SILENT } from '../../team/operations/host-event.ts';
import { noteDelivered } from '../../team/operations/member-operations.ts';
import { hostAgent, loadWords } from '../../team/operations/spawn.ts';
import { memberBrief } from '../../team/rules/brief.ts';
import { identify, memberName } from '../../team/rules/caller.ts';
import { agentOfRun, type Member } from '../../team/rules/log/state.ts';
import { HOOK_CODES } from '../rules/hook-codes.ts';

type AgentStartContext = Pick<TeamContext, 'teams' | 'settings' | 'host'> &
  Pick<CallerEvidence, 'startedAs'> & { readonly project: Pick<ProjectFiles, 'agentTools'> };

/** An agent that lists no tools gets those of the team's server as the session does: by name alone, where the host defers them. */
function loadLines(context: AgentStartContext, { name, agent }: Member): readonly string[] {
  const isListed = hostAgent(name, context.host()) !== agent || context.project.agentTools(agent) !== null;
  return isListed ? [] : [loadWords('member', context.host())];
}

/** Binds the run of an agent to its member, and tells it who it is. */
export async function onSubagentStart(context: AgentStartContext, event: HostEvent): Promise<HookAnswer> {
  const { agentId, agentType } = event;
  // What a teammate's host starts by itself is that teammate.
  if (agentId === null || agentType === null || context.startedAs !== null) return SILENT;
  return withReadable(context.teams, async (logs, unread) => {
    const name = memberName(agentType);
    const log = logs.find(({ state }) => {
      const led = identify(
        { kind: 'stamp', caller: { session: event.session, agentId: null, agentType: null, toolUseId: null } },
        [state],
      );
      return led.some(({ kind }) => kind === 'lead') && state.members.has(name);
    });
    const member = log?.state.members.get(name);
    if (log === undefined || member === undefined) {
      mustBeReadable(unread);
      return SILENT;
    }
    if (member.phase === 'over') return SILENT;
    const { state } = log;
    const running = agentOfRun(state, member);
    // Once team mode has failed, the agents that the lead starts are its own; one that it had started before may be late.
    const isLate = member.phase !== 'registered' && running === undefined;
    if (state.session === 'fallback' && !isLate) return SILENT;
    if (running !== undefined && running !== agentId && member.phase === 'working')
      return {
        kind: 'context',
        text: `toolcrew: ${withCode(refusal(HOOK_CODES.member_run_by_other, { member: name, team: state.team }))}`,
      };
    const { epoch } = member;
    if (member.phase === 'registered')
      await log.append({ type: 'member_spawned', name, epoch, key_hash: null, pid: null }, { flush: false });
    await log.append({ type: 'member_bound', name, epoch, agent_id: agentId }, { flush: false });
    await noteDelivered(log, name);
    const brief = memberBrief(log.state, member, await context.settings(), null);
    return { kind: 'context', text: [brief, ...loadLines(context, member)].join('\n') };
  });
}
