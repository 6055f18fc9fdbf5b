// How members come, are seen and end.

import type { Stored } from '../log.ts';
import { authorFault, type Draft, endMember, move, sign } from './fold-state.ts';
import type { TeamRecord } from './record.ts';
import type { SessionState } from './session.ts';
import { isLive, isLost } from './state.ts';

type Of<T extends TeamRecord['type']> = Extract<Stored<TeamRecord>, { type: T }>;

/** States in which nobody joins any more. */
const LEAVING: readonly SessionState[] = ['shutting_down', 'shut_down'];

export function takeRegistration(draft: Draft, record: Of<'member_registered'>): string | null {
  const { name, agent, read_only: readOnly, model, prompt, max, at } = record;
  if (LEAVING.includes(draft.session)) return `team ${draft.team} is shutting down`;
  const before = draft.members.get(name);
  if (before !== undefined && before.phase === 'working' && !isLost(before, at))
    return `${name} is at work: end it with a shutdown_request before another takes its place`;
  const others = [...draft.members.values()].filter((member) => member.name !== name && member.phase !== 'over');
  if (others.length >= max)
    return `team ${draft.team} has ${others.length} teammates, and max_teammates is ${max}: ${others.map((one) => one.name).join(', ')}`;
  if (before !== undefined && before.phase !== 'over')
    endMember(draft, before, at, isLost(before, at) ? 'lease' : 'replaced', 'another took its place');
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
  });
  return null;
}

export function takeSpawn(draft: Draft, record: Of<'member_spawned'>): string | null {
  const fault = authorFault(draft, record.name, record.epoch);
  const member = draft.members.get(record.name);
  if (fault !== null || member === undefined) return fault;
  if (member.phase !== 'registered') return `${member.name} has been started already`;
  draft.members.set(member.name, {
    ...member,
    phase: 'working',
    keyHash: record.key_hash,
    pid: record.pid,
    seenAt: record.at,
  });
  move(draft, 'member_spawned');
  return null;
}

export function takeBinding(draft: Draft, record: Of<'member_bound'>): string | null {
  const fault = authorFault(draft, record.name, record.epoch);
  if (fault !== null) return fault;
  const bound = draft.bindings.get(record.agent_id);
  if (bound !== undefined && (bound.name !== record.name || bound.epoch !== record.epoch))
    return `agent ${record.agent_id} is ${bound.name} already`;
  draft.bindings.set(record.agent_id, { name: record.name, epoch: record.epoch });
  sign(draft, record.name, record.at);
  return null;
}

export function takeIdle(draft: Draft, record: Of<'member_idle'>): string | null {
  const fault = authorFault(draft, record.name, record.epoch);
  const member = draft.members.get(record.name);
  if (fault !== null || member === undefined) return fault;
  const idle = { ...member, phase: record.stopped ? ('stopped' as const) : ('idle' as const), seenAt: record.at };
  draft.members.set(member.name, idle);
  if (record.stopped && member.shutdown !== null)
    endMember(draft, idle, record.at, 'confirmed', 'it stopped after it was asked to');
  return null;
}

export function takeEnding(draft: Draft, record: Of<'member_ended'>): string | null {
  const fault = authorFault(draft, record.name, record.epoch);
  const member = draft.members.get(record.name);
  if (fault !== null || member === undefined) return fault;
  if (record.how === 'lease' && !isLost(member, record.at)) return `${member.name} has been seen since`;
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
    if (member.phase === 'registered') endMember(draft, asked, at, 'not_started', 'the host never started it');
    else if (member.phase === 'stopped') endMember(draft, asked, at, 'confirmed', 'its run was over');
    else if (isLost(member, at)) endMember(draft, asked, at, 'lease', 'not seen for too long');
  }
  const left = [...draft.members.values()].filter((member) => member.phase !== 'over');
  if (left.some((member) => member.shutdown === null)) return;
  draft.shutdownAt ??= at;
  move(draft, 'shutdown_requested');
}

/** Names of those who may be at work. */
export function liveNames(draft: Draft): readonly string[] {
  return [...draft.members.values()].filter(isLive).map((member) => member.name);
}
