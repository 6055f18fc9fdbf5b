// Registration, signs of life and ends of members in the fold.

import { type Refusal, refusal } from '../../../base/rules/codes.ts';
import type { Stored } from '../../../base/rules/stored-record.ts';
import { LOG_CODES } from '../codes/log-codes.ts';
import { TASK_CODES } from '../codes/tasks-codes.ts';
import { addCost } from '../cost.ts';
import { EVERYBODY, LEAD, TOOLCREW } from '../message.ts';
import {
  applySessionEvent,
  type Draft,
  endMember,
  findMember,
  isLeaseOver,
  isRefused,
  isUnstarted,
  noteLifeSign,
  returnClaims,
} from './fold-state.ts';
import type { TeamRecord } from './record.ts';
import type { SessionState } from './session.ts';
import { type Member, startsOf } from './state.ts';

type Of<T extends TeamRecord['type']> = Extract<Stored<TeamRecord>, { type: T }>;

export const NOT_STARTED = 'the host never started it';
export const NOT_SEEN = 'not seen for too long';

/** States in which nobody joins any more. */
const LEAVING: readonly SessionState[] = ['shutting_down', 'shut_down'];

/** Names that mean others than one teammate. */
const RESERVED: readonly string[] = [LEAD, EVERYBODY, TOOLCREW];

function isAtWork(member: Member, at: number): boolean {
  const isStarted = member.phase === 'working' || (member.phase === 'registered' && !isUnstarted(member));
  return isStarted && !isLeaseOver(member, at);
}

export function takeRegistration(draft: Draft, record: Of<'member_registered'>): Refusal | null {
  const { name, agent, read_only: readOnly, model, prompt, max, at } = record;
  if (RESERVED.includes(name)) return refusal(LOG_CODES.member_name_reserved, { name });
  if (LEAVING.includes(draft.session)) return refusal(LOG_CODES.team_shutting_down, { team: draft.team });
  const before = draft.members.get(name);
  if (before !== undefined && isAtWork(before, at)) return refusal(LOG_CODES.member_already_working, { member: name });
  const others = [...draft.members.values()].filter((member) => member.name !== name && member.phase !== 'over');
  const there = others.filter((member) => !isLeaseOver(member, at));
  if (there.length >= max)
    return refusal(LOG_CODES.too_many_members, {
      ...{ team: draft.team, count: there.length, limit: max },
      members: there.map((one) => one.name),
    });
  const denied = deniedWith(draft, before);
  // Those whose place is needed; they could come back otherwise, and be too many.
  if (others.length >= max)
    for (const member of others) if (isLeaseOver(member, at)) endMember(draft, member, at, 'lease', NOT_SEEN);
  if (before !== undefined && before.phase !== 'over')
    endMember(draft, before, at, isLeaseOver(before, at) ? 'lease' : 'replaced', 'another took its place');
  draft.members.set(name, {
    name,
    epoch: (before?.epoch ?? 0) + 1,
    agent,
    readOnly,
    model,
    prompt,
    phase: 'registered',
    keyHash: null,
    pid: null,
    registeredAt: at,
    seenAt: at,
    shutdown: null,
    ended: null,
    ...(denied === 0 ? {} : { denied }),
  });
  return null;
}

/** How many registrations in a row have led to no start, with this one, although the host was let make it. */
function deniedWith(draft: Draft, before: Member | undefined): number {
  if (before === undefined || !isUnstarted(before)) return 0;
  return (before.denied ?? 0) + (startsOf(draft, before) > 0 ? 1 : 0);
}

export function takeSpawn(draft: Draft, record: Of<'member_spawned'>): Refusal | null {
  const member = findMember(draft, record.name, record.epoch);
  if (isRefused(member)) return member;
  if (member.phase !== 'registered')
    return refusal(LOG_CODES.record_not_valid, {
      ...{ type: 'member_spawned', why: `${member.name} has been started already` },
    });
  draft.members.set(member.name, {
    ...member,
    phase: 'working',
    keyHash: record.key_hash,
    pid: record.pid,
    seenAt: Math.max(member.seenAt, record.at),
  });
  applySessionEvent(draft, 'member_spawned');
  if (draft.proposal?.nextWordsHash !== undefined) {
    const { nextWordsHash: wordsHash, ...proposal } = draft.proposal;
    draft.proposal = { ...proposal, wordsHash };
  }
  return null;
}

export function takeBinding(draft: Draft, record: Of<'member_bound'>): Refusal | null {
  const member = findMember(draft, record.name, record.epoch);
  if (isRefused(member)) return member;
  const bound = draft.bindings.get(record.agent_id);
  if (bound !== undefined && (bound.name !== record.name || bound.epoch !== record.epoch))
    return refusal(LOG_CODES.record_not_valid, {
      type: 'member_bound',
      why: `agent ${record.agent_id} is ${bound.name} already, its run ${bound.epoch}`,
    });
  draft.bindings.set(record.agent_id, { name: record.name, epoch: record.epoch });
  noteLifeSign(draft, record.name, record.at);
  return null;
}

export function takeSign(draft: Draft, record: Of<'member_seen'>): Refusal | null {
  const member = findMember(draft, record.name, record.epoch);
  if (isRefused(member)) return member;
  noteLifeSign(draft, record.name, record.at);
  return null;
}

/** What was used was used, though its run has ended since. */
export function takeUse(draft: Draft, record: Of<'member_used'>): Refusal | null {
  const { name, task, cost_usd, input_tokens, output_tokens, turns } = record;
  if (!draft.members.has(name)) return refusal(LOG_CODES.member_unknown, { member: name, team: draft.team });
  if (task !== null && !draft.tasks.has(task))
    return refusal(TASK_CODES.task_not_found, { field: 'task', task, count: draft.tasks.size });
  const used = { cost_usd, input_tokens, output_tokens, turns };
  if (Object.values(used).some((one) => one < 0))
    return refusal(LOG_CODES.record_not_valid, { type: 'member_used', why: `a number of ${name} is below 0` });
  const key = `${name} ${task ?? ''}`;
  const before = draft.costs.get(key);
  draft.costs.set(key, { member: name, task, ...(before === undefined ? used : addCost(before, used)) });
  return null;
}

export function takeIdle(draft: Draft, record: Of<'member_idle'>): Refusal | null {
  const member = findMember(draft, record.name, record.epoch);
  if (isRefused(member)) return member;
  const phase = record.stopped ? 'stopped' : 'idle';
  const idle: Member = { ...member, phase, seenAt: Math.max(member.seenAt, record.at) };
  draft.members.set(member.name, idle);
  // Whose run is over works on nothing any more.
  if (record.stopped) returnClaims(draft, member.name);
  for (const id of record.left ?? []) {
    const task = draft.tasks.get(id);
    if (task !== undefined) draft.tasks.set(id, { ...task, left: (task.left ?? 0) + 1 });
  }
  if (record.stopped && member.shutdown !== null)
    endMember(draft, idle, record.at, 'confirmed', 'it stopped after it was asked to');
  return null;
}

export function takeEnding(draft: Draft, record: Of<'member_ended'>): Refusal | null {
  const member = findMember(draft, record.name, record.epoch);
  if (isRefused(member)) return member;
  if (record.how === 'lease' && !isLeaseOver(member, record.at))
    return refusal(LOG_CODES.record_not_valid, {
      ...{ type: 'member_ended', why: `${member.name} has been seen since` },
    });
  endMember(draft, member, record.at, record.how, record.reason);
  return null;
}

/** Asks members to end. Whoever's run is over, or never began, has ended with that. */
export function askToEnd(draft: Draft, names: readonly string[], at: number): void {
  for (const name of names) {
    const member = draft.members.get(name);
    if (member === undefined || member.phase === 'over') continue;
    const asked = { ...member, shutdown: member.shutdown ?? { askedAt: at, readAt: null } };
    draft.members.set(name, asked);
    if (isUnstarted(member)) endMember(draft, asked, at, 'not_started', NOT_STARTED);
    else if (member.phase === 'stopped') endMember(draft, asked, at, 'confirmed', 'its run was over');
    else if (isLeaseOver(member, at)) endMember(draft, asked, at, 'lease', NOT_SEEN);
  }
  const left = [...draft.members.values()].filter((member) => member.phase !== 'over');
  if (left.some((member) => member.shutdown === null)) return;
  draft.shutdownAt ??= at;
  applySessionEvent(draft, 'shutdown_requested');
}
