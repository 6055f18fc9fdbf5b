// Folds a team's log into its state. The fold is the judge: a record that is not valid where it stands changes nothing,
// and the reason comes back for its author.

import { type Refusal, refusal } from '../../../base/rules/codes.ts';
import { assertNever } from '../../../base/rules/errors.ts';
import type { Stored } from '../../../base/rules/stored-record.ts';
import { LOG_CODES } from '../codes/log-codes.ts';
import { OPERATIONS_CODES } from '../codes/operations-codes.ts';
import { LEAD } from '../message.ts';
import type { Task } from '../task.ts';
import type { TaskDraft } from '../task-draft.ts';
import { TaskIndex } from '../task-index.ts';
import { takeBase, takeMeasurement } from './fold-gate.ts';
import { takeDecision, takeLease, takeLeaseRelease } from './fold-leases.ts';
import {
  NOT_SEEN,
  NOT_STARTED,
  takeBinding,
  takeEnding,
  takeIdle,
  takeRegistration,
  takeSign,
  takeSpawn,
  takeUse,
} from './fold-members.ts';
import { takeMessage, takeReceipt } from './fold-messages.ts';
import { applySessionEvent, type Draft, endMember, isLeaseOver, isUnstarted, returnClaims } from './fold-state.ts';
import { takeAssignment, takeTask, takeUpdate, withoutLeaveCount } from './fold-tasks.ts';
import type { Ending, TeamRecord } from './record.ts';
import { isActive, type Member, SHUTDOWN_DEADLINE_MS, type TeamState } from './state.ts';

function emptyDraft(): Draft {
  return {
    team: '',
    session: 'none',
    proposal: null,
    purpose: null,
    lead: { session: null, keyHash: null },
    approval: true,
    writesHeldBy: null,
    base: null,
    commit: null,
    createdAt: 0,
    shutdownAt: null,
    fallback: null,
    members: new Map(),
    bindings: new Map(),
    tasks: new TaskIndex(),
    messages: [],
    unread: new Map(),
    leases: new Map(),
    decisions: [],
    rejections: new Map(),
    writers: new Map(),
    written: new Map(),
    gate: null,
    before: null,
    costs: new Map(),
    continuedIn: null,
  };
}

/** One team's state, brought on record by record. */
export class TeamFold {
  #draft: Draft;
  #isHeadless = false;

  /** @param state what a snapshot held */
  constructor(state?: TeamState) {
    this.#draft = state === undefined ? emptyDraft() : thaw(state);
  }

  /** As it is now; it changes with the next record. */
  get state(): TeamState {
    return this.#draft;
  }

  /** Whether it began as every team does. Otherwise the beginning of its log is lost, and what the rest would mean with it. */
  get hasBegun(): boolean {
    const { session, proposal } = this.#draft;
    return !this.#isHeadless && (session !== 'none' || proposal !== null);
  }

  /** Takes the next record of the log. Gives why it does not count; null when it does. */
  take(record: Stored<TeamRecord>): Refusal | null {
    const draft = this.#draft;
    if (draft.continuedIn !== null) return refusal(LOG_CODES.log_continued, { file: draft.continuedIn });
    if (draft.session === 'deleted') return refusal(LOG_CODES.team_deleted, { team: draft.team });
    if (
      draft.session === 'none' &&
      record.type !== 'proposed' &&
      record.type !== 'created' &&
      record.type !== 'continued'
    ) {
      this.#isHeadless = true;
      return refusal(LOG_CODES.team_not_created, {});
    }
    return takeRecord(draft, record);
  }
}

function thaw(state: TeamState): Draft {
  return {
    ...state,
    members: new Map(state.members),
    bindings: new Map(state.bindings),
    tasks: new TaskIndex(state.tasks),
    messages: [...state.messages],
    unread: new Map([...state.unread].map(([name, seqs]) => [name, [...seqs]])),
    leases: new Map(state.leases),
    decisions: [...state.decisions],
    rejections: new Map(state.rejections),
    writers: new Map(state.writers),
    written: new Map(state.written),
    costs: new Map(state.costs),
  };
}

function takeRecord(draft: Draft, record: Stored<TeamRecord>): Refusal | null {
  switch (record.type) {
    case 'proposed':
      return takeProposal(draft, record);
    case 'created':
      return takeCreation(draft, record);
    case 'task_created':
      return takeTask(draft, record);
    case 'task_updated':
      return takeUpdate(draft, record);
    case 'task_assigned':
      return takeAssignment(draft, record);
    case 'member_registered':
      return takeRegistration(draft, record);
    case 'member_spawned':
      return takeSpawn(draft, record);
    case 'member_bound':
      return takeBinding(draft, record);
    case 'member_seen':
      return takeSign(draft, record);
    case 'member_used':
      return takeUse(draft, record);
    case 'member_idle':
      return takeIdle(draft, record);
    case 'member_ended':
      return takeEnding(draft, record);
    case 'message_sent':
      return takeMessage(draft, record);
    case 'mail_seen':
      return takeReceipt(draft, record);
    case 'lease_taken':
      return takeLease(draft, record);
    case 'lease_released':
      return takeLeaseRelease(draft, record);
    case 'decision':
      return takeDecision(draft, record);
    case 'base_measured':
      return takeBase(draft, record);
    case 'gate_measured':
      return takeMeasurement(draft, record);
    case 'moved':
      return takeMove(draft, record);
    case 'fell_back':
      return takeFallback(draft, record);
    case 'restarted':
      return takeRestart(draft, record);
    case 'lead_moved':
      if (draft.lead.session === null)
        return refusal(LOG_CODES.record_not_valid, { type: record.type, why: 'no session of a host leads the team' });
      draft.lead = {
        ...draft.lead,
        session: record.session,
        ...(record.host === undefined ? {} : { host: record.host }),
      };
      return null;
    case 'writes_held':
      draft.writesHeldBy = record.by;
      return null;
    case 'deleted':
      return takeDeletion(draft, record);
    case 'snapshot':
      return refusal(LOG_CODES.record_not_valid, {
        ...{ type: record.type, why: 'a snapshot stands at the beginning of a file only' },
      });
    case 'continued':
      draft.continuedIn = record.next;
      return null;
    default:
      return assertNever(record);
  }
}

type Of<T extends TeamRecord['type']> = Extract<Stored<TeamRecord>, { type: T }>;

function takeProposal(draft: Draft, record: Of<'proposed'>): Refusal | null {
  if (draft.session !== 'none') return refusal(LOG_CODES.team_exists, { team: draft.team });
  const { phase, pattern, roles, subject, reasons, drafts, alone, forced, words_hash: wordsHash } = record;
  draft.proposal = {
    ...{ phase, pattern, roles, subject, reasons, drafts },
    ...(alone === undefined ? {} : { alone }),
    ...(forced === undefined ? {} : { forced }),
    ...(wordsHash === undefined ? {} : { wordsHash }),
  };
  return null;
}

function takeCreation(draft: Draft, record: Of<'created'>): Refusal | null {
  if (isActive(draft)) return refusal(LOG_CODES.team_exists, { team: draft.team });
  const { team, phase, pattern, roles, subject, session, key_hash: keyHash, approval, base } = record;
  draft.team = team;
  draft.purpose = { phase, pattern, roles, subject };
  draft.lead = { session, keyHash, ...(record.host === undefined ? {} : { host: record.host }) };
  draft.approval = approval;
  draft.writesHeldBy = record.writes_held_by ?? null;
  draft.base = base;
  draft.commit = record.commit ?? null;
  draft.createdAt = record.at;
  const fault = applySessionEvent(draft, 'team_created');
  if (fault !== null || record.tasks === undefined) return fault;
  takeTasks(draft, record.tasks, record);
  if (record.tasks.length > 0) applySessionEvent(draft, 'ownership_assigned');
  return null;
}

function takeMove(draft: Draft, record: Of<'moved'>): Refusal | null {
  const fault = applySessionEvent(draft, record.event);
  if (fault === null) takeTasks(draft, record.tasks ?? [], record);
  return fault;
}

/** A step and the tasks that come with it stand by one record: neither is ever there without the other. */
function takeTasks(draft: Draft, tasks: readonly TaskDraft[], { id, v, at }: Stored<object>): void {
  const ids = new Map<string, string>();
  for (const { key, subject, description, owner, files, blockedBy, early } of tasks) {
    const before = blockedBy.flatMap((other) => ids.get(other) ?? []);
    const isEarly = early === true ? { early } : {};
    const words = { subject, description, owner, files, blocked_by: before, by: LEAD, ...isEarly };
    takeTask(draft, { type: 'task_created', ...words, id, v, at });
    ids.set(key, String(draft.tasks.size));
  }
}

function takeFallback(draft: Draft, record: Of<'fell_back'>): Refusal | null {
  const fault = applySessionEvent(draft, 'fell_back');
  if (fault === null) draft.fallback = { trigger: record.trigger, reason: record.reason };
  return fault;
}

function reopened({ changedNothing: _, ...task }: Task): Task {
  return { ...withoutLeaveCount(task), status: 'pending', claim: null, result: null, startedAt: null, endedAt: null };
}

/** What it is made for stays; what goes on as a team is one, however it was proposed. */
function proposedAgain(
  { alone, ...proposal }: NonNullable<TeamState['proposal']>,
  record: Of<'restarted'>,
): NonNullable<TeamState['proposal']> {
  const { words_hash: nextWordsHash } = record;
  return {
    ...proposal,
    ...(nextWordsHash === undefined ? {} : { nextWordsHash }),
    ...(record.alone === true && alone !== undefined ? { alone } : {}),
    ...(record.forced === true ? { forced: true } : {}),
  };
}

/** Whoever was there is gone; what was done stays, unless `keep` says otherwise. What has failed gets a new chance. */
function takeRestart(draft: Draft, record: Of<'restarted'>): Refusal | null {
  const { fallback, session } = draft;
  const fault = applySessionEvent(draft, 'restarted');
  if (fault !== null) return fault;
  const isAlone = record.alone === true && session === 'fallback';
  if (isAlone) applySessionEvent(draft, 'fell_back');
  for (const member of draft.members.values())
    if (member.phase !== 'over') endMember(draft, member, record.at, 'replaced', 'the team was restarted');
  returnClaims(draft, LEAD);
  const { session: leader, key_hash: keyHash, host } = record;
  draft.lead = { session: leader, keyHash, tasksBefore: draft.tasks.size, ...(host === undefined ? {} : { host }) };
  draft.shutdownAt = null;
  draft.fallback = isAlone ? fallback : null;
  if (draft.proposal !== null) draft.proposal = proposedAgain(draft.proposal, record);
  draft.rejections.clear();
  for (const [id, task] of draft.tasks)
    if (!record.keep || task.status === 'failed') draft.tasks.set(id, reopened(task));
    else if (task.left !== undefined) draft.tasks.set(id, withoutLeaveCount(task));
  // What the gate has rejected counts no more: whoever goes on has its rounds again.
  if (draft.gate !== null) {
    const { rejected: _, ...gate } = draft.gate;
    draft.gate = record.keep ? gate : null;
  }
  if (draft.before?.why !== undefined) draft.before = null;
  return null;
}

/** How each that is left would end with the team; undefined: it may still be at work. */
function endingOf(member: Member, at: number, isForced: boolean): readonly [Ending, string] | undefined {
  if (isUnstarted(member)) return ['not_started', NOT_STARTED];
  if (isLeaseOver(member, at)) return ['lease', NOT_SEEN];
  return isForced ? ['forced', 'did not confirm its end in time'] : undefined;
}

function takeDeletion(draft: Draft, record: Of<'deleted'>): Refusal | null {
  const { at, forced } = record;
  const isLate = draft.shutdownAt !== null && at - draft.shutdownAt >= SHUTDOWN_DEADLINE_MS;
  const left = [...draft.members.values()].filter((member) => member.phase !== 'over');
  const endings = left.map((member) => ({ member, ending: endingOf(member, at, forced && isLate) }));
  const missing = endings.flatMap(({ member, ending }) => (ending === undefined ? [member.name] : []));
  if (missing.length > 0) {
    const next =
      !forced || isLate
        ? 'Ask all to end, and wait.'
        : `It can be forced ${SHUTDOWN_DEADLINE_MS / 1000} s after all were asked to end.`;
    return refusal(OPERATIONS_CODES.team_has_live_members, { team: draft.team, members: missing, next });
  }
  for (const { member, ending } of endings) if (ending !== undefined) endMember(draft, member, at, ...ending);
  // With nobody left the steps before it need nobody's word.
  applySessionEvent(draft, 'shutdown_requested');
  return applySessionEvent(draft, 'team_deleted');
}
