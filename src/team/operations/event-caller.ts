// Caller of an event: its evidence, its team, and whether it is a teammate.

import type { TeamLog } from '../ports.ts';
import { type Caller, type EnvironmentEvidence, type Evidence, type HookCaller, identify } from '../rules/caller.ts';
import type { TeamState } from '../rules/log/state.ts';
import { mustBeReadable, type UnreadableTeam } from './context.ts';
import { type HostEvent, hookCallerOf } from './host-event.ts';

/** Evidence of the caller of an event. */
export type CallerEvidence = {
  /**
   * For hosts whose events name no agent: whose call that was, by the transcripts. `main`: the main agent's own · null: it
   * cannot be told.
   */
  readonly whoseCall: (toolUseId: string, transcript: string) => Promise<{ readonly agentId: string } | 'main' | null>;
  /** Whether this host's events name the agent that calls. */
  readonly namesCallers: boolean;
  /** The teammate that the host around was started as, by a lead that is code; null: nobody's, or a lead's. */
  readonly startedAs: EnvironmentEvidence | null;
};

/** Who an event is about, as evidence. Looks into the transcripts where the event itself cannot tell. */
export async function evidenceOf(context: CallerEvidence, event: HostEvent): Promise<Evidence> {
  if (context.startedAs !== null) return context.startedAs;
  const caller = hookCallerOf(event);
  if (event.agentId !== null || event.agentType !== null || context.namesCallers || event.toolUseId === null)
    return { kind: 'stamp', caller };
  const found =
    event.transcript === null
      ? null
      : await callerInTranscripts(context, event.toolUseId, event.session, event.transcript);
  return found === null
    ? { kind: 'nothing', why: 'this host does not name who calls, and its transcripts do not tell' }
    : { kind: 'stamp', caller: found };
}

/** Who makes a call, by the transcripts of its session; null: they do not tell. */
export async function callerInTranscripts(
  { whoseCall }: Pick<CallerEvidence, 'whoseCall'>,
  toolUseId: string,
  session: string,
  transcript: string,
): Promise<HookCaller | null> {
  const whose = await whoseCall(toolUseId, transcript);
  if (whose === null) return null;
  return whose === 'main'
    ? { session, agentId: null, agentType: null, toolUseId }
    : { session, agentId: whose.agentId, agentType: '', toolUseId };
}

export type FoundCaller = { readonly caller: Caller; readonly log: TeamLog };

/** The caller of an event with the team that it is judged by: its own, else the first that stands; undefined when none does. */
export async function findCaller(
  context: CallerEvidence,
  event: HostEvent,
  logs: readonly TeamLog[],
  unread: readonly UnreadableTeam[] = [],
): Promise<FoundCaller | undefined> {
  const [first] = logs;
  if (first === undefined) {
    mustBeReadable(unread);
    return undefined;
  }
  const callers = identify(
    await evidenceOf(context, event),
    logs.map((log) => log.state),
  );
  const [caller] = callers;
  // Who is nobody of these may be of a team that cannot be read.
  if (caller?.kind !== 'lead' && caller?.kind !== 'member') mustBeReadable(unread);
  if (caller === undefined) return undefined;
  const log = 'team' in caller ? logs.find((one) => one.state.team === caller.team) : undefined;
  return { caller, log: log ?? first };
}

/** Whether that session is the lead's, with all agents in it; one that hands keys over names no session. */
export function isOfLead({ lead }: TeamState, session: string): boolean {
  return lead.session === session || (lead.session === null && lead.keyHash !== null);
}

/** Whether it was started as a teammate, and not as one that goes by the name of one. */
export function isTeammate(
  { startedAs }: Pick<CallerEvidence, 'startedAs'>,
  { agentId }: HostEvent,
  { caller, log }: FoundCaller,
): boolean {
  if (startedAs !== null) return true;
  // Of a host that names no agents, one is known by its run alone.
  return caller.kind === 'member' && (agentId === null || log.state.bindings.get(agentId)?.epoch === caller.epoch);
}

/** Whether an event is of work that goes on without its team: of the lead, or of an agent that the lead has started. */
export function isAlone({ session }: HostEvent, { caller, log }: FoundCaller): boolean {
  const isOthers = caller.kind === 'outsider' && !isOfLead(log.state, session);
  return log.state.session === 'fallback' && log.state.purpose?.phase === 'run' && !isOthers;
}
