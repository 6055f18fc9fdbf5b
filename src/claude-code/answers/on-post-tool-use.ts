// PostToolUse: mail for the agent, the shell's write notes, and the outcome of a teammate's start.

import { refusal, withCode } from '../../base/rules/codes.ts';
import { oneLine } from '../../base/rules/text.ts';
import { type TeamContext, withReadable } from '../../team/operations/context.ts';
import type { PeopleLog } from '../../team/operations/context-parts.ts';
import { type CallerEvidence, findCaller, isAlone, isTeammate } from '../../team/operations/event-caller.ts';
import { contextOf, type HookAnswer, type HostEvent, SILENT } from '../../team/operations/host-event.ts';
import { takeMail } from '../../team/operations/member-operations.ts';
import type { TeamLog } from '../../team/ports.ts';
import { nextStepText } from '../../team/rules/brief.ts';
import { memberName } from '../../team/rules/caller.ts';
import { agentOfRun } from '../../team/rules/log/state.ts';
import { LEAD } from '../../team/rules/message.ts';
import { HOOK_CODES } from '../rules/hook-codes.ts';
import { kindOfTool } from '../rules/tool-kind.ts';
import { onRunsEnded } from './run-end.ts';
import { recordShellNotes, type TicketContext } from './shell-tickets.ts';

export type ToolResultContext = TicketContext & Pick<TeamContext, 'teams'> & CallerEvidence & PeopleLog;

/** A sign of life is written down once in so long. */
const SIGN_MS = 60_000;

export async function onPostToolUse(context: ToolResultContext, event: HostEvent): Promise<HookAnswer> {
  return withReadable(context.teams, async (logs, unread) => {
    const found = await findCaller(context, event, logs, unread);
    if (found === undefined) return SILENT;
    const { caller, log } = found;
    const alone = !isTeammate(context, event, found) && isAlone(event, found);
    const refused = await recordShellNotes(context, event, found, alone);
    if (caller.kind === 'member') {
      const { name, epoch, member } = caller;
      if (context.now() - member.seenAt > SIGN_MS)
        await log.append({ type: 'member_seen', name, epoch }, { flush: false });
      return contextOf([refused, await takeMail(log, name)]);
    }
    if (caller.kind !== 'lead') return contextOf([refused]);
    return contextOf([refused, await takeMail(log, LEAD), await noteSpawn(context, log, event)]);
  });
}

/** What came of the call that starts a teammate. One that could not be started: the same tasks go on, one at a time, by agents that the lead starts. */
async function noteSpawn(
  context: Pick<TeamContext, 'teams' | 'settings'> & PeopleLog,
  log: TeamLog,
  event: HostEvent,
): Promise<string | null> {
  if (kindOfTool(event.tool) !== 'spawn') return null;
  const name = memberName(String(event.input.subagent_type ?? ''));
  const member = log.state.members.get(name);
  if (member === undefined || member.phase === 'over') return null;
  if (event.failure === null) {
    // It is on its way, whether or not it has been heard of.
    const { epoch } = member;
    if (member.phase === 'registered' && log.state.session !== 'fallback')
      await log.append({ type: 'member_spawned', name, epoch, key_hash: null, pid: null }, { flush: false });
    return null;
  }
  // One that was bound has run; its end is no failed start.
  const agentId = agentOfRun(log.state, member);
  if (agentId !== undefined) {
    const answer = await onRunsEnded(context, [agentId]);
    return answer.kind === 'context' ? answer.text : null;
  }
  const said = oneLine(event.failure).replace(/\.$/, '');
  const reason = `${name} could not be started: ${said}`;
  const told = (next: string) =>
    `toolcrew: ${withCode(refusal(HOOK_CODES.agent_not_started, { member: name, said, next }))}`;
  const { epoch } = member;
  await log.append({ type: 'member_ended', name, epoch, how: 'not_started', reason });
  const { fallback } = await context.settings();
  if (!fallback.enabled) return told('workflow.team.fallback.enabled is false: stop here and tell the user.');
  await log.append({ type: 'fell_back', trigger: 'spawn_failed', reason });
  context.log(fallback.logLevel, `sub-agents in place of team ${log.state.team}: ${reason}`);
  return told(nextStepText(log.state));
}
