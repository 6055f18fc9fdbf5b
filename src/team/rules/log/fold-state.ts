// The state while it is folded, and what the parts of the fold share.

import { type Refusal, refusal } from '../../../base/rules/codes.ts';
import { LOG_CODES } from '../codes/log-codes.ts';
import { LEAD } from '../message.ts';
import { givenBack } from '../task.ts';
import { taskIndexOf } from '../task-index.ts';
import type { Ending } from './record.ts';
import { type EdgeCondition, type SessionEvent, sessionStep } from './session.ts';
import { MEMBER_LEASE_MS, type Member, type TeamState } from './state.ts';

/** A team's state that may be changed; nobody but the fold holds one. */
export type Draft = {
  -readonly [K in Exclude<keyof TeamState, 'unread'>]: TeamState[K] extends ReadonlyMap<infer Key, infer Value>
    ? Map<Key, Value>
    : TeamState[K] extends readonly (infer Item)[]
      ? Item[]
      : TeamState[K];
} & { readonly unread: Map<string, number[]> };

function holds(draft: Draft, condition: EdgeCondition): boolean {
  switch (condition) {
    case 'plan phase':
      return draft.purpose?.phase === 'plan';
    case 'run phase':
      return draft.purpose?.phase === 'run';
    case 'debug phase':
      return draft.purpose?.phase === 'debug';
    case 'every task completed':
      return taskIndexOf(draft.tasks).isDone;
    case 'every teammate ended':
      return [...draft.members.values()].every((member) => member.phase === 'over');
    case 'approval required':
      return draft.approval;
    case 'approval not required':
      return !draft.approval;
  }
}

/** Applies an event to the session. Returns the refusal if the state has no such step. */
export function applySessionEvent(draft: Draft, event: SessionEvent): Refusal | null {
  const step = sessionStep(draft.session, event, (condition) => holds(draft, condition));
  if (!step.ok) {
    const { missing } = step;
    return refusal(LOG_CODES.step_not_possible, {
      ...{ event, state: draft.session },
      ...(missing.length === 0 ? {} : { missing }),
    });
  }
  draft.session = step.to;
  // The last one may have ended before.
  if (draft.session === 'shutting_down') applySessionEvent(draft, 'all_ended');
  return null;
}

/** The member that a record is about, or why that is nobody any more. */
export function findMember(draft: Draft, name: string, epoch: number): Member | Refusal {
  const member = draft.members.get(name);
  if (member === undefined) return refusal(LOG_CODES.member_unknown, { member: name, team: draft.team });
  if (member.epoch !== epoch)
    return refusal(LOG_CODES.member_run_over, { member: name, run: epoch, latest: member.epoch });
  if (member.phase !== 'over') return member;
  return refusal(LOG_CODES.member_ended, { member: name, reason: member.ended?.reason ?? 'no reason known' });
}

/** Whether `findMember` found nobody. */
export function isRefused(found: Member | Refusal): found is Refusal {
  return 'of' in found;
}

/** Whether a record's author was somebody when it was written; the reason when not. The lead has no runs. */
export function authorFault(draft: Draft, name: string, epoch: number): Refusal | null {
  if (name === LEAD) return null;
  const member = findMember(draft, name, epoch);
  return isRefused(member) ? member : null;
}

/**
 * Notes a sign of life. Who is only registered stays so: its start may be recorded later than its first act, and tells its
 * process.
 */
export function noteLifeSign(draft: Draft, name: string, at: number): void {
  const member = draft.members.get(name);
  if (member === undefined || member.phase === 'over') return;
  const phase = member.phase === 'registered' ? member.phase : 'working';
  draft.members.set(name, { ...member, phase, seenAt: Math.max(member.seenAt, at) });
}

/** Whether it has not been seen for so long that it counts as gone, started or not. */
export function isLeaseOver(member: Member, at: number): boolean {
  return member.phase !== 'over' && at - member.seenAt > MEMBER_LEASE_MS;
}

/** Whether there is no trace of it but its registration: its host never started it. */
export function isUnstarted(member: Member): boolean {
  return member.phase === 'registered' && member.seenAt === member.registeredAt;
}

/** Puts tasks back that somebody had claimed. */
export function returnClaims(draft: Draft, name: string): void {
  for (const task of taskIndexOf(draft.tasks).open())
    if (task.status === 'in_progress' && task.claim?.member === name)
      draft.tasks.set(task.id, givenBack(task, draft.tasks));
}

/** Ends a member: its claims and leases are free again. */
export function endMember(draft: Draft, member: Member, at: number, how: Ending, reason: string): void {
  draft.members.set(member.name, { ...member, phase: 'over', ended: { at, how, reason } });
  returnClaims(draft, member.name);
  for (const [path, lease] of draft.leases) if (lease.member === member.name) draft.leases.delete(path);
  if (draft.session === 'shutting_down') applySessionEvent(draft, 'all_ended');
}
