// TeammateIdle and SubagentStop: rejects the stop of a teammate while it has work left.

import { refusal, withCode } from '../../base/rules/codes.ts';
import { type TeamContext, tellLead, withReadable } from '../../team/operations/context.ts';
import type { EventOrigin } from '../../team/operations/context-parts.ts';
import { type CallerEvidence, findCaller } from '../../team/operations/event-caller.ts';
import { type HookAnswer, type HostEvent, SILENT, WAIT } from '../../team/operations/host-event.ts';
import { appendUnflushed, assignNextTask, IDLE_HOOK, recordDecision } from '../../team/operations/stop-decision.ts';
import { WORK_CODES } from '../../team/rules/codes/work-codes.ts';
import { type IdleVerdict, judgeIdle, waitsForOthers } from '../../team/rules/idle.ts';
import { MAX_REJECTIONS, type TeamState } from '../../team/rules/log/state.ts';
import { reject } from './rejection.ts';
import { recordRunEnd } from './run-end.ts';

type IdleContext = Pick<TeamContext, 'teams' | 'settings'> & CallerEvidence & Pick<EventOrigin, 'mayWait'>;

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
export async function onTeammateIdle(context: IdleContext, event: HostEvent, stopped: boolean): Promise<HookAnswer> {
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
      const verdict = await assignNextTask(log, name, judge);
      if (verdict.accept && waits()) return WAIT;
      const { refusal: rejection, isEscalated } = await recordDecision(log, IDLE_HOOK, name, verdict);
      if (rejection !== null) return reject(rejection);
      if (isEscalated)
        await tellLead(
          log,
          withCode(
            refusal(WORK_CODES.stop_escalated, {
              ...{ hook: IDLE_HOOK, member: name, count: MAX_REJECTIONS, reason: verdict.reason },
            }),
          ),
        );
    }
    const member = log.state.members.get(name);
    if (stopped && member !== undefined) await recordRunEnd(log, member, false);
    else await appendUnflushed(log, { type: 'member_idle', name, epoch, stopped });
    return SILENT;
  });
}
