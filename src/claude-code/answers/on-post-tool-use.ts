// Delivery to agents at the next boundary: mail after a tool, and the team's state after a new beginning.

import { refusal, withCode } from '../../base/rules/codes.ts';
import { oneLine } from '../../base/rules/text.ts';
import { unreadWords, withReadable } from '../../team/operations/context.ts';
import { findCaller, type HookContext, isAlone, isTeammate } from '../../team/operations/hook-context.ts';
import { type HookAnswer, type HostEvent, SILENT } from '../../team/operations/host-event.ts';
import { noteDelivered, takeMail } from '../../team/operations/member-operations.ts';
import { loadWords } from '../../team/operations/spawn.ts';
import type { TeamLog } from '../../team/ports.ts';
import { leadBrief, nextStep } from '../../team/rules/brief.ts';
import { memberName } from '../../team/rules/caller.ts';
import { FALLBACK_TRIGGERS } from '../../team/rules/fallback.ts';
import { agentOfRun, isLive, type TeamState } from '../../team/rules/log/state.ts';
import { LEAD } from '../../team/rules/message.ts';
import { HOOK_CODES } from '../rules/hook-codes.ts';
import { kindOfTool } from '../rules/tool-kind.ts';
import { onRunsOver, releaseMembers, startAgain } from './run-end.ts';
import { recordShellNotes } from './shell-tickets.ts';

/** A sign of life is written down once in so long. */
const SIGN_MS = 60_000;

export async function onPostToolUse(context: HookContext, event: HostEvent): Promise<HookAnswer> {
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

function contextOf(texts: readonly (string | null)[]): HookAnswer {
  const text = texts.filter((one) => one !== null).join('\n');
  return text === '' ? SILENT : { kind: 'context', text };
}

/** What came of the call that starts a teammate. One that could not be started: the same tasks go on, one at a time, by agents that the lead starts. */
async function noteSpawn(context: HookContext, log: TeamLog, event: HostEvent): Promise<string | null> {
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
    const answer = await onRunsOver(context, [agentId]);
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
  await log.append({ type: 'fell_back', trigger: FALLBACK_TRIGGERS.spawn_failed, reason });
  context.log(fallback.logLevel, `sub-agents in place of team ${log.state.team}: ${reason}`);
  return told(nextStep(log.state));
}

function isLed({ lead }: TeamState, session: string): boolean {
  return lead.session === null || lead.session === session;
}

/**
 * /clear begins a new session in the same host: whoever led before leads on, and its teammates are still there. A session that
 * is resumed goes on in another process, whose next /clear is then told by that.
 */
async function moveLead({ hostProcess }: HookContext, log: TeamLog, { session, source }: HostEvent): Promise<void> {
  const { lead } = log.state;
  if (lead.session === null || lead.host === undefined) return;
  const isOwn = lead.session === session;
  if (isOwn === (source === 'clear')) return;
  const host = hostProcess() ?? undefined;
  if (isOwn && host !== undefined && host !== lead.host) await log.append({ type: 'lead_moved', session, host });
  if (!isOwn && host === lead.host) await log.append({ type: 'lead_moved', session });
}

/** A session that begins again has none of the agents that it had before: they ended with the process. */
async function endWithSession(log: TeamLog, { session, source }: HostEvent): Promise<readonly string[]> {
  if (log.state.lead.session !== session || (source !== 'startup' && source !== 'resume')) return [];
  // That their process ended says nothing of their work.
  const released = await releaseMembers([...log.state.members.values()].filter(isLive), ({ name, epoch }) =>
    log.append({ type: 'member_idle', name, epoch, stopped: true }),
  );
  if (released.length === 0) return [];
  const ended = `toolcrew: this session started again. ${released.join(', ')} ended with its previous process, and their unfinished tasks are open again.`;
  return [[ended, ...startAgain(log.state)].join('\n')];
}

/** After a beginning, a compaction or a resumption: where the team stands. */
export async function onSessionStart(context: HookContext, event: HostEvent): Promise<HookAnswer> {
  // A teammate has its brief in its first prompt.
  if (context.startedAs !== null) return SILENT;
  return withReadable(context.teams, async (logs, unread) => {
    for (const log of logs) await moveLead(context, log, event);
    // What another session does one at a time keeps nobody from writing.
    const told = logs.filter(({ state }) => state.session !== 'fallback' || isLed(state, event.session));
    const gone: string[] = [];
    for (const log of told) gone.push(...(await endWithSession(log, event)));
    const foreign = told.filter(({ state }) => !isLed(state, event.session)).map(({ state }) => foreignWords(state));
    const own = told
      .filter(({ state }) => isLed(state, event.session))
      .map(({ state }) => `${leadBrief(state)}\n${loadWords('lead', context.host())}`);
    for (const log of told) if (isLed(log.state, event.session)) await noteDelivered(log, LEAD);
    const lost = unread.map((one) => `toolcrew: ${unreadWords(one)}`);
    const answer = contextOf([...gone, ...own, ...foreign, ...lost]);
    // The session that led may have been killed: its user sees how to go on.
    return answer.kind === 'context' && foreign.length > 0 ? { ...answer, user: foreign.join('\n') } : answer;
  });
}

function foreignWords({ team, session }: TeamState): string {
  return `toolcrew: ${withCode(refusal(HOOK_CODES.team_of_other_session, { team, state: session }))}`;
}
