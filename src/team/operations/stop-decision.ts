// Records the decision on a member that stops. `rules/idle.ts` makes the decision.

import type { Refusal } from '../../base/rules/codes.ts';
import type { TeamLog } from '../ports.ts';
import type { IdleVerdict } from '../rules/idle.ts';
import type { TeamRecord } from '../rules/log/record.ts';
import { decisionOn } from '../rules/log/state.ts';

/** Hook name of a stop of a teammate in the log. */
export const IDLE_HOOK = 'teammate_idle';

/** Appends without a flush: after a power failure the decision is made, or the message shown, once more. */
export async function appendUnflushed(log: TeamLog, record: TeamRecord): Promise<void> {
  await log.append(record, { flush: false });
}

/** `refusal` tells what to do next; null: the stop is accepted. */
type Decided = { readonly refusal: Refusal | null; readonly isEscalated: boolean };

/** Records a decision. After three rejections without change it escalates once, and accepts from then on. */
export async function recordDecision(log: TeamLog, hook: string, name: string, verdict: IdleVerdict): Promise<Decided> {
  const before = log.state.rejections.get(`${hook}:${name}`);
  const decision = verdict.accept ? 'accept' : decisionOn(before, verdict.fingerprint);
  await appendUnflushed(log, {
    type: 'decision',
    hook,
    decision,
    member: name,
    about: name,
    reason: verdict.reason,
    fingerprint: verdict.accept ? '' : verdict.fingerprint,
    paths: [],
  });
  if (verdict.accept || decision !== 'reject') return { refusal: null, isEscalated: decision === 'escalated' };
  const { refusal, shown } = verdict;
  if (shown.length > 0)
    await appendUnflushed(log, { type: 'mail_seen', member: name, seqs: shown.map(({ seq }) => seq), how: 'read' });
  return { refusal, isEscalated: false };
}

/** Verdict with its task assigned to the member. Judges again when another member got the task first. */
export async function assignNextTask(log: TeamLog, name: string, judge: () => IdleVerdict): Promise<IdleVerdict> {
  for (;;) {
    const verdict = judge();
    if (verdict.accept || verdict.assign === null) return verdict;
    const { refused } = await log.append({
      type: 'task_assigned',
      task: verdict.assign.id,
      owner: name,
      by: IDLE_HOOK,
    });
    if (refused === null) return verdict;
  }
}
