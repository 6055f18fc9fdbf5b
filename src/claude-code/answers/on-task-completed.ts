// TaskCompleted: the completion of a task of the host's own list.

import { withCode } from '../../base/rules/codes.ts';
import { type CompletionContext, judgeCompletion } from '../../team/operations/completion-gate.ts';
import { type TeamCaller, type TeamContext, type UnreadableTeam, withReadable } from '../../team/operations/context.ts';
import { type CallerEvidence, findCaller, isOfLead } from '../../team/operations/event-caller.ts';
import { type HookAnswer, type HostEvent, SILENT } from '../../team/operations/host-event.ts';
import type { TeamLog } from '../../team/ports.ts';
import { LEAD } from '../../team/rules/message.ts';

/** By whom, and of which team; undefined: what a session does that has no team is its own affair. */
async function completerOf(
  context: CallerEvidence,
  event: HostEvent,
  logs: readonly TeamLog[],
  unread: readonly UnreadableTeam[],
): Promise<{ readonly log: TeamLog; readonly caller: TeamCaller } | undefined> {
  const found = await findCaller(context, { ...event, agentType: event.agentType ?? event.teammate }, logs, unread);
  if (found === undefined) return undefined;
  const { caller, log } = found;
  if (caller.kind === 'member' || caller.kind === 'lead') return { log, caller };
  // Where team mode has failed, the agents that its lead has started do the work.
  const alone = logs.find(({ state }) => state.session === 'fallback' && isOfLead(state, event.session));
  return alone && { log: alone, caller: { kind: 'lead', team: alone.state.team, name: LEAD, epoch: 0 } };
}

/** Judges the completion of a task of the host's own list. */
export async function onTaskCompleted(
  context: CompletionContext & Pick<TeamContext, 'teams'> & CallerEvidence,
  event: HostEvent,
): Promise<HookAnswer> {
  return withReadable(context.teams, async (logs, unread) => {
    const by = await completerOf(context, event, logs, unread);
    if (by === undefined) return SILENT;
    const task = { id: `${event.task?.id ?? ''} of the host's list`, subject: event.task?.subject ?? '' };
    const { refusal: rejected, tired } = await judgeCompletion(context, by.log, task, by.caller);
    if (rejected !== null) return { kind: 'reject', reason: withCode(rejected) };
    return tired === null ? SILENT : { kind: 'note', text: withCode(tired) };
  });
}
