// When somebody stops: a teammate or the lead goes on while something is left to do.

import { type IdleVerdict, judgeIdle, judgeLeadStop, waitsForOthers } from '../../domain/team/idle.ts';
import { LEAD } from '../../domain/team/message.ts';
import type { TeamRecord } from '../../domain/team/record.ts';
import { decisionOn, MAX_REJECTIONS, type TeamState } from '../../domain/team/state.ts';
import type { TeamLog } from '../ports.ts';
import { tellLead, withReadable } from './context.ts';
import { type HookAnswer, type HostEvent, SILENT, WAIT } from './event.ts';
import { findCaller, type HookContext } from './hook-context.ts';
import { endRun } from './run-over.ts';

const IDLE = 'teammate_idle';
const LEAD_STOP = 'lead_stop';

/** Writes down what the whole machine may forget with its power: then it is decided, or shown, once more. */
async function note(log: TeamLog, record: TeamRecord): Promise<void> {
  await log.append(record, { flush: false });
}

type Decided = { readonly answer: HookAnswer; readonly isEscalated: boolean };

/** Writes down what was decided; after three rejections without change it is an escalation once, and lets go. */
export async function decide(log: TeamLog, hook: string, name: string, verdict: IdleVerdict): Promise<Decided> {
  const before = log.state.rejections.get(`${hook}:${name}`);
  const decision = verdict.accept ? 'accept' : decisionOn(before, verdict.fingerprint);
  await note(log, {
    type: 'decision',
    hook,
    decision,
    member: name,
    about: name,
    reason: verdict.reason,
    fingerprint: verdict.accept ? '' : verdict.fingerprint,
    paths: [],
  });
  if (verdict.accept || decision !== 'reject') return { answer: SILENT, isEscalated: decision === 'escalated' };
  const { shown } = verdict;
  if (shown.length > 0)
    await note(log, { type: 'mail_seen', member: name, seqs: shown.map(({ seq }) => seq), how: 'read' });
  return { answer: { kind: 'reject', reason: `toolcrew: ${verdict.reason}` }, isEscalated: false };
}

/** The verdict whose task is the member's: where another got it first, the next verdict. */
export async function assigned(log: TeamLog, name: string, judge: () => IdleVerdict): Promise<IdleVerdict> {
  for (;;) {
    const verdict = judge();
    if (verdict.accept || verdict.assign === null) return verdict;
    const { refusal } = await log.append({
      type: 'task_assigned',
      task: verdict.assign.id,
      owner: name,
      by: IDLE,
    });
    if (refusal === null) return verdict;
  }
}

/** Whoever has written since has not stopped at the same place. */
function withWrites(verdict: IdleVerdict, { written }: TeamState, name: string): IdleVerdict {
  if (verdict.accept) return verdict;
  const own = [...written.values()].flat().filter(({ member }) => member === name);
  const last = own.reduce((latest, { at }) => Math.max(latest, at), 0);
  return { ...verdict, fingerprint: `${verdict.fingerprint}|wrote ${last}` };
}

/**
 * Judges a teammate that stops.
 * @param stopped its run is over with that; otherwise it only waits
 */
export async function onIdle(context: HookContext, event: HostEvent, stopped: boolean): Promise<HookAnswer> {
  // Its lead decides between turns.
  if (context.startedAs !== null) return SILENT;
  return withReadable(context.teams, async (logs, unread) => {
    const found = await findCaller(context, { ...event, agentType: event.agentType ?? event.teammate }, logs, unread);
    if (found === undefined || found.caller.kind !== 'member') return SILENT;
    const { caller, log } = found;
    const { name, epoch } = caller;
    // Its end was judged already, by the call that ended it.
    if (stopped && caller.member.phase === 'stopped') return SILENT;
    const settings = await context.settings();
    if (settings.hooks.teammateIdle.enabled) {
      // Its run goes on where it is: nobody has to take its place when what it waits for is there.
      const waits = () => stopped && context.mayWait && waitsForOthers(log.state, caller.member);
      const judge = () => withWrites(judgeIdle(log.state, caller.member, settings, waits()), log.state, name);
      const verdict = await assigned(log, name, judge);
      if (verdict.accept && waits()) return WAIT;
      const { answer, isEscalated } = await decide(log, IDLE, name, verdict);
      if (answer.kind === 'reject') return answer;
      if (isEscalated)
        await tellLead(
          log,
          `escalated by ${IDLE}: ${name} stopped after ${MAX_REJECTIONS} rejections without change: ${verdict.reason}`,
        );
    }
    const member = log.state.members.get(name);
    if (stopped && member !== undefined) await endRun(log, member, false);
    else await note(log, { type: 'member_idle', name, epoch, stopped });
    return SILENT;
  });
}

/** Judges the lead that ends its turn. */
export async function onLeadStop(context: HookContext, event: HostEvent): Promise<HookAnswer> {
  return withReadable(context.teams, async (logs, unread) => {
    const found = await findCaller(context, event, logs, unread);
    if (found === undefined || found.caller.kind !== 'lead') return SILENT;
    const verdict = judgeLeadStop(found.log.state, await context.settings());
    return (await decide(found.log, LEAD_STOP, LEAD, verdict)).answer;
  });
}
