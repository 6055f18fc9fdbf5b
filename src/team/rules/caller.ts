// Identity of a caller, from the environment it was started in, the host's hook on the call, or its key.
// What the caller says about itself never counts.

import { agentOfRun, isActive, type Member, type TeamState } from './log/state.ts';
import { LEAD } from './message.ts';
import { agentOf } from './role.ts';

/** What the host says of one call, as its hook reported it. */
export type HookCaller = {
  readonly session: string;
  /** Both null: the main agent of the session. */
  readonly agentId: string | null;
  readonly agentType: string | null;
  readonly toolUseId: string | null;
};

export type EnvironmentEvidence = {
  readonly kind: 'environment';
  readonly team: string | null;
  readonly teammate: string | null;
  /** The teammate's run that was started with it; absent: whichever is the latest. */
  readonly epoch?: number;
  /**
   * Whether a team server, or a hook, says it of itself. An agent can start one with whatever environment it likes: it counts
   * for no team that a host's session leads, whose members are all known by hooks.
   */
  readonly isServer?: boolean;
};

export type Evidence =
  | EnvironmentEvidence
  | { readonly kind: 'stamp'; readonly caller: HookCaller }
  | { readonly kind: 'key'; readonly hash: string }
  /** Nothing tells; `why` in words. `takesKey`: the call itself may hold a key that does. */
  | { readonly kind: 'nothing'; readonly why: string; readonly takesKey?: boolean };

export type Caller =
  | { readonly kind: 'lead'; readonly team: string; readonly name: typeof LEAD; readonly epoch: 0 }
  | {
      readonly kind: 'member';
      readonly team: string;
      readonly name: string;
      readonly epoch: number;
      readonly member: Member;
    }
  /** Somebody, but nobody of a team that stands. */
  /** `replaced`: the member whose place another run has taken. */
  | { readonly kind: 'outsider'; readonly who: string; readonly replaced?: string }
  | { readonly kind: 'unknown'; readonly why: string; readonly takesKey: boolean };

const PLUGIN = 'tool:';
const PREFIX = 'team-';

/** The member's name that an agent type of the host stands for: `tool:team-tester`, `team-tester` and `tester` are one. */
export function memberName(agentType: string): string {
  const plain = agentType.startsWith(PLUGIN) ? agentType.slice(PLUGIN.length) : agentType;
  return plain.startsWith(PREFIX) ? plain.slice(PREFIX.length) : plain;
}

function lead(state: TeamState): Caller {
  return { kind: 'lead', team: state.team, name: LEAD, epoch: 0 };
}

function asMember(state: TeamState, member: Member): Caller {
  return { kind: 'member', team: state.team, name: member.name, epoch: member.epoch, member };
}

/** A member by its role alone. */
export function asRole(name: string, team: string, readOnly: boolean): Caller {
  const whom = { name, epoch: 0, agent: agentOf(name), readOnly, model: 'inherit', prompt: '' } as const;
  const when = { registeredAt: 0, seenAt: 0, shutdown: null, ended: null } as const;
  const member: Member = { ...whom, ...when, phase: 'working', keyHash: null, pid: null };
  return { kind: 'member', team, name, epoch: 0, member };
}

/** A member that is over is nobody any more. */
function ofMember(state: TeamState, member: Member, epoch: number): Caller {
  if (member.epoch !== epoch)
    return { kind: 'outsider', who: `${member.name}, which was replaced`, replaced: member.name };
  if (member.phase === 'over')
    return { kind: 'outsider', who: `${member.name}, who has ended (${member.ended?.reason ?? 'no reason known'})` };
  return asMember(state, member);
}

/** Whether that session's main agent leads the team; a team made at a terminal is led by whoever comes first. */
function isLedBy(state: TeamState, session: string): boolean {
  return state.lead.session === null || state.lead.session === session;
}

function ofHookCaller({ session, agentId, agentType }: HookCaller, active: readonly TeamState[]): readonly Caller[] {
  if (agentId === null && agentType === null) return active.filter((state) => isLedBy(state, session)).map(lead);
  for (const state of active) {
    const bound = agentId === null ? undefined : state.bindings.get(agentId);
    const member = bound === undefined ? undefined : state.members.get(bound.name);
    if (bound !== undefined && member !== undefined) return [ofMember(state, member, bound.epoch)];
  }
  const name = memberName(agentType ?? '');
  for (const state of active) {
    const member = isLedBy(state, session) ? state.members.get(name) : undefined;
    if (member === undefined) continue;
    const running = agentId === null ? undefined : agentOfRun(state, member);
    return running === undefined || member.phase === 'over'
      ? [ofMember(state, member, member.epoch)]
      : [{ kind: 'outsider', who: `a second agent of ${name}` }];
  }
  return [];
}

function ofEnvironment(
  { team, teammate, isServer, epoch }: EnvironmentEvidence,
  active: readonly TeamState[],
): readonly Caller[] {
  const meant = active.filter(
    (state) => (team === null || state.team === team) && (isServer !== true || state.lead.session === null),
  );
  if (teammate === null || teammate === LEAD) return meant.map(lead);
  return meant.flatMap((state) => {
    const member = state.members.get(teammate);
    return member === undefined ? [] : [ofMember(state, member, epoch ?? member.epoch)];
  });
}

function ofKey(hash: string, active: readonly TeamState[]): readonly Caller[] {
  return active.flatMap((state) => {
    if (state.lead.keyHash === hash) return [lead(state)];
    const member = [...state.members.values()].find((one) => one.keyHash === hash);
    return member === undefined ? [] : [ofMember(state, member, member.epoch)];
  });
}

function whoOf(evidence: Evidence): string {
  switch (evidence.kind) {
    case 'stamp': {
      const { agentType, agentId, session } = evidence.caller;
      return agentType === null && agentId === null
        ? `the main agent of session ${session}`
        : `${agentType === null || agentType === '' ? 'an agent' : agentType} (${agentId ?? 'no id'})`;
    }
    case 'environment':
      return evidence.teammate === null ? 'a terminal' : `${evidence.teammate} of ${evidence.team ?? 'no team'}`;
    case 'key':
      return 'a caller with a key that no team knows';
    case 'nothing':
      return 'somebody unknown';
  }
}

/**
 * Who that is among the teams that stand: more than one only for a lead of several.
 * @param states of any teams; those that do not stand are left out
 */
export function identify(evidence: Evidence, states: readonly TeamState[]): readonly Caller[] {
  const active = states.filter(isActive);
  if (evidence.kind === 'nothing')
    return [{ kind: 'unknown', why: evidence.why, takesKey: evidence.takesKey === true }];
  const found =
    evidence.kind === 'stamp'
      ? ofHookCaller(evidence.caller, active)
      : evidence.kind === 'key'
        ? ofKey(evidence.hash, active)
        : ofEnvironment(evidence, active);
  return found.length === 0 ? [{ kind: 'outsider', who: whoOf(evidence) }] : found;
}
