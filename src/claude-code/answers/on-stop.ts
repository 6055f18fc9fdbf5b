// Stop hooks of teammates and of the lead: a stop is rejected while work is left to do.

import { type IdleVerdict, judgeIdle, judgeLeadStop, waitsForOthers } from '../../team/rules/idle.ts';
import { LEAD } from '../../team/rules/message.ts';
import type { TeamRecord } from '../../team/rules/log/record.ts';
import { decisionOn, MAX_REJECTIONS, type TeamState } from '../../team/rules/log/state.ts';
import type { TeamLog } from '../../base/ports.ts';
import { tellLead, withReadable } from '../../team/operations/context.ts';
import { type HookAnswer, type HostEvent, SILENT, WAIT } from '../../team/operations/host-event.ts';
import { findCaller, type HookContext } from '../../team/operations/hook-context.ts';
import { endRun } from './run-end.ts';

const IDLE = 'teammate_idle';
const LEAD_STOP = 'lead_stop';

/** Appends without a flush: after a power failure the decision is made, or the message shown, once more. */
async function note(log: TeamLog, record: TeamRecord): Promise<void> {
  await log.append(record, { flush: false });
}

type Decided = { readonly answer: HookAnswer; readonly isEscalated: boolean };

/** Records a decision. After three rejections without change it escalates once, and accepts from then on. */
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

/** Verdict with its task assigned to the member. Judges again when another member got the task first. */
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

/** Adds the last write to the fingerprint: a member that wrote between two stops has made progress. */
function withWrites(verdict: IdleVerdict, { written }: TeamState, name: string): IdleVerdict {
  if (verdict.accept) return verdict;
  const own = [...written.values()].flat().filter(({ member }) => member === name);
  const last = own.reduce((latest, { at }) => Math.max(latest, at), 0);
  return { ...verdict, fingerprint: `${verdict.fingerprint}|wrote ${last}` };
}

/**
 * Judges a teammate that stops.
 * @param stopped whether its run ends with the stop; otherwise it only waits
 */
export async function onIdle(context: HookContext, event: HostEvent, stopped: boolean): Promise<HookAnswer> {
  // A lead that is code started this teammate, and decides between its turns.
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
      // A run that waits needs no successor when the awaited work arrives.
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
