// Stop: rejects the stop of a lead while its team has work left.

import { type TeamContext, withReadable } from '../../team/operations/context.ts';
import { type CallerEvidence, findCaller } from '../../team/operations/event-caller.ts';
import { type HookAnswer, type HostEvent, SILENT } from '../../team/operations/host-event.ts';
import { recordDecision } from '../../team/operations/stop-decision.ts';
import { judgeLeadStop } from '../../team/rules/idle.ts';
import { LEAD } from '../../team/rules/message.ts';
import { reject } from './rejection.ts';

type StopContext = Pick<TeamContext, 'teams' | 'settings'> & CallerEvidence;

const LEAD_STOP = 'lead_stop';

/** Judges the lead that ends its turn. */
export async function onStop(context: StopContext, event: HostEvent): Promise<HookAnswer> {
  return withReadable(context.teams, async (logs, unread) => {
    const found = await findCaller(context, event, logs, unread);
    if (found === undefined || found.caller.kind !== 'lead') return SILENT;
    const verdict = judgeLeadStop(found.log.state, await context.settings());
    const { refusal } = await recordDecision(found.log, LEAD_STOP, LEAD, verdict);
    return refusal === null ? SILENT : reject(refusal);
  });
}
