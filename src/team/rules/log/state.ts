// The state of a team, folded from its log.

import type { Baseline } from '../../../gate/rules/old-failures.ts';
import type { CheckResult } from '../../../gate/rules/quality.ts';
import type { Trust5Summary } from '../../../gate/rules/trust5.ts';
import type { Lease } from '../../../guard/rules/lease.ts';
import type { WriteHolder } from '../../../guard/rules/writes.ts';
import { BUDGET, type Spent } from '../cost.ts';
import type { Content, MessageType } from '../message.ts';
import { isSpecId } from '../spec-documents/spec.ts';
import type { Task } from '../task.ts';
import type { TaskDraft } from '../task-draft.ts';
import type { DecisionKind, Ending, Purpose } from './record.ts';
import type { SessionState } from './session.ts';

/** A teammate that has not been seen for so long counts as gone. */
export const MEMBER_LEASE_MS = 15 * 60_000;
/** So long after a shutdown was asked for, a team may be deleted without the word of all. */
export const SHUTDOWN_DEADLINE_MS = 60_000;
/** After so many rejections of the same work without change, it is let through, which the lead is told once. */
export const MAX_REJECTIONS = 3;

/** `registered`: the host has not started it yet · `idle`: it has nothing to do · `stopped`: so has its run. */
export type MemberPhase = 'registered' | 'working' | 'idle' | 'stopped' | 'over';

export type Member = {
  readonly name: string;
  readonly epoch: number;
  readonly agent: string;
  readonly readOnly: boolean;
  readonly model: string;
  readonly prompt: string;
  readonly phase: MemberPhase;
  readonly keyHash: string | null;
  readonly pid: number | null;
  readonly registeredAt: number;
  readonly seenAt: number;
  /** So many of its registrations in a row ended with the host having been let start it, and not having done so; missing: none. */
  readonly denied?: number;
  /** When it was asked to end, and when it read that. */
  readonly shutdown: { readonly askedAt: number; readonly readAt: number | null } | null;
  readonly ended: { readonly at: number; readonly how: Ending; readonly reason: string } | null;
};

export type Receipt = { readonly deliveredAt: number | null; readonly readAt: number | null };

export type Message = {
  /** Counted from 1 within the team: the order in which all were sent. */
  readonly seq: number;
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly type: MessageType;
  readonly content: Content;
  readonly inReplyTo: number | null;
  readonly sentAt: number;
  /** By each who gets it. */
  readonly receipts: ReadonlyMap<string, Receipt>;
  /** What it claims could be held against nothing: nothing was measured when it was sent. */
  readonly isUnmeasured?: true;
};

export type Decision = {
  readonly at: number;
  readonly hook: string;
  readonly decision: DecisionKind;
  readonly member: string | null;
  readonly about: string;
  readonly reason: string;
};

/** The hook that stands in the log for an operation that was refused at once, before any work. */
export const OPERATION_HOOK = 'operation';

/** The hook that stands in the log for a call that was let start a member. */
export const START_HOOK = 'start';

/** Whether work was refused. A teammate that is given its next work when it stops has done nothing wrong; costs are told apart. */
export function isRefusal({ hook, decision }: Pick<Decision, 'hook' | 'decision'>): boolean {
  if (hook === OPERATION_HOOK) return false;
  // A lead that stops too early has handed in no work.
  if (hook === BUDGET || hook === 'lead_stop') return false;
  return decision !== 'accept' && !(hook === 'teammate_idle' && decision === 'reject');
}

/**
 * How often the same work was rejected in a row; one more when it was let through for that.
 * `total`: how often in a row, changed or not; missing: as often as that.
 */
export type Rejections = { readonly fingerprint: string; readonly count: number; readonly total?: number };

/** The hook that judges completions. */
export const COMPLETION_HOOK = 'task_completed';

/** Where rejections are kept. Those of a completion count for its task: several may be tried by turns. */
export function rejectionKey(hook: string, member: string | null, about: string): string {
  return `${hook}:${member ?? ''}${hook === COMPLETION_HOOK ? `:${about}` : ''}`;
}

/** What becomes of work that is not accepted: after so many rejections the lead is told once, and then nobody any more. */
export function decisionOn(before: Rejections | undefined, fingerprint: string): 'reject' | 'escalated' | 'accept' {
  if (before?.fingerprint !== fingerprint || before.count < MAX_REJECTIONS) return 'reject';
  return before.count === MAX_REJECTIONS ? 'escalated' : 'accept';
}

export type Gate = {
  readonly at: number;
  readonly task: string | null;
  readonly tree: string;
  readonly ok: boolean;
  readonly checks: readonly CheckResult[];
  readonly coverage: number | null;
  /** Missing where it was not measured. */
  readonly trust5?: Trust5Summary;
  /** The commit of the team's branch that was measured; missing: none was. */
  readonly head?: string;
  /** How often in a row the work of all was measured and not found good; missing: never. */
  readonly rejected?: number;
};

/** A member that may have changed a path: by a write that was allowed, or by a lease for it. */
export type Writing = {
  readonly member: string;
  /** What it was at; null: it had begun nothing. */
  readonly task: string | null;
  readonly at: number;
};

export type TeamState = {
  readonly team: string;
  readonly session: SessionState;
  readonly proposal:
    | (Purpose & {
        readonly reasons: readonly string[];
        readonly drafts: readonly TaskDraft[];
        readonly alone?: string;
        readonly forced?: boolean;
        /** SHA-256 of what people wrote and members are told. */
        readonly wordsHash?: string;
        /** The same of a later text, until a member starts that is told it. */
        readonly nextWordsHash?: string;
      })
    | null;
  readonly purpose: Purpose | null;
  /** Of the lead: its session in the host, and the hash of its key. */
  readonly lead: {
    readonly session: string | null;
    readonly keyHash: string | null;
    /** The host's process, its id and its begin; missing: not known. */
    readonly host?: string;
    /** How many tasks there were when it took the team up; missing: it has made the team. */
    readonly tasksBefore?: number;
  };
  readonly approval: boolean;
  /** null: not noted. */
  readonly writesHeldBy: WriteHolder | null;
  /** The work tree at its creation, a Git tree id. */
  readonly base: string | null;
  /** The commit that was checked out at its creation; null: there was none, or it was not noted. */
  readonly commit: string | null;
  readonly createdAt: number;
  readonly shutdownAt: number | null;
  readonly fallback: { readonly trigger: string; readonly reason: string } | null;
  /** By name, the latest of that name. */
  readonly members: ReadonlyMap<string, Member>;
  /** The member's name and epoch by the host's id of a run. */
  readonly bindings: ReadonlyMap<string, { readonly name: string; readonly epoch: number }>;
  readonly tasks: ReadonlyMap<string, Task>;
  readonly messages: readonly Message[];
  /** Sequence numbers of what each has not read, in order. */
  readonly unread: ReadonlyMap<string, readonly number[]>;
  readonly leases: ReadonlyMap<string, Lease>;
  /** The last of them. */
  readonly decisions: readonly Decision[];
  readonly rejections: ReadonlyMap<string, Rejections>;
  /** Who was allowed to write a path. */
  readonly writers: ReadonlyMap<string, readonly string[]>;
  /** By path, who may have changed it for which task; the latest last. */
  readonly written: ReadonlyMap<string, readonly Writing[]>;
  readonly gate: Gate | null;
  /** What the checks found where the team began; null: not measured so far. */
  readonly before: Baseline | null;
  /** By teammate and task, what their runtimes have reported so far. */
  readonly costs: ReadonlyMap<string, Spent>;
  /** The file in which the log goes on. */
  readonly continuedIn: string | null;
};

/** Whether it may be at work: started, and not known to have ended. */
export function isLive(member: Member): boolean {
  return member.phase !== 'over' && member.phase !== 'registered';
}

/** Whether it has not given a sign for so long that it counts as gone. */
export function isLost(member: Member, now: number): boolean {
  return isLive(member) && now - member.seenAt > MEMBER_LEASE_MS;
}

/** The agent of the host that was seen to run as that member, the latest; undefined: none was. */
export function agentOfRun({ bindings }: TeamState, { name, epoch }: Member): string | undefined {
  return [...bindings].findLast(([, one]) => one.name === name && one.epoch === epoch)?.[0];
}

/** How often the host was let start that member in its present run, which it has not been seen to do. */
export function startsOf({ decisions }: Pick<TeamState, 'decisions'>, member: Member): number {
  const { name, registeredAt, phase } = member;
  if (phase !== 'registered') return 0;
  return decisions.filter((one) => one.hook === START_HOOK && one.about === name && one.at >= registeredAt).length;
}

/** Whether the team still stands. */
export function isActive(state: TeamState): boolean {
  return state.session !== 'none' && state.session !== 'deleted';
}

/** Whether the lead is a model; one that is code takes the next steps itself, and a person at a terminal by hand. */
export function isModelLed({ lead }: TeamState): boolean {
  return lead.session !== null || lead.keyHash !== null;
}

/** The SPEC that it builds; null: something else is its purpose. */
export function specOf({ purpose }: TeamState): string | null {
  return purpose !== null && isSpecId(purpose.subject) ? purpose.subject : null;
}
