// SessionStart: the state of the team after a start, a resumption, /clear or a compaction.

import { refusal, withCode } from '../../base/rules/codes.ts';
import { type TeamContext, unreadWords, withReadable } from '../../team/operations/context.ts';
import type { CallerEvidence } from '../../team/operations/event-caller.ts';
import { contextOf, type HookAnswer, type HostEvent, SILENT } from '../../team/operations/host-event.ts';
import { noteDelivered } from '../../team/operations/member-operations.ts';
import { loadWords } from '../../team/operations/spawn.ts';
import type { TeamLog } from '../../team/ports.ts';
import { leadBrief } from '../../team/rules/brief.ts';
import { isLive, type TeamState } from '../../team/rules/log/state.ts';
import { LEAD } from '../../team/rules/message.ts';
import { HOOK_CODES } from '../rules/hook-codes.ts';
import { releaseMembers, startAgain } from './run-end.ts';

type SessionContext = Pick<TeamContext, 'teams' | 'host' | 'hostProcess'> & Pick<CallerEvidence, 'startedAs'>;

function isLed({ lead }: TeamState, session: string): boolean {
  return lead.session === null || lead.session === session;
}

/**
 * /clear begins a new session in the same host: whoever led before leads on, and its teammates are still there. A session that
 * is resumed goes on in another process, whose next /clear is then told by that.
 */
async function moveLead(
  { hostProcess }: Pick<TeamContext, 'hostProcess'>,
  log: TeamLog,
  { session, source }: HostEvent,
): Promise<void> {
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
export async function onSessionStart(context: SessionContext, event: HostEvent): Promise<HookAnswer> {
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
