// Creation, claims and ends of tasks in the fold.

import { type Refusal, refusal } from '../../../base/rules/codes.ts';
import type { Stored } from '../../../base/rules/stored-record.ts';
import { TASK_CODES } from '../codes/tasks-codes.ts';
import { LEAD } from '../message.ts';
import { beginsAfter, type Claim, givenBack, type Task, waitsFor } from '../task.ts';
import { taskIndexOf } from '../task-index.ts';
import { applySessionEvent, authorFault, type Draft, isLeaseOver, noteLifeSign } from './fold-state.ts';
import type { TeamRecord } from './record.ts';

type Of<T extends TeamRecord['type']> = Extract<Stored<TeamRecord>, { type: T }>;

function taskMissing({ tasks }: Draft, field: string, task: string): Refusal {
  return refusal(TASK_CODES.task_not_found, { field, task, count: tasks.size });
}

function claimed({ id }: Task, holder: string): Refusal {
  return refusal(TASK_CODES.task_claimed, { task: id, holder });
}

export function takeTask(draft: Draft, record: Of<'task_created'>): Refusal | null {
  const id = String(draft.tasks.size + 1);
  const held = record.holds_up === undefined ? undefined : draft.tasks.get(record.holds_up);
  if (record.holds_up !== undefined && held === undefined) return taskMissing(draft, 'holds_up', record.holds_up);
  // A task that waits could be among those that the held one waits for: a circle would close.
  if (held !== undefined && record.blocked_by.length > 0) return refusal(TASK_CODES.task_holds_up_none, {});
  for (const other of record.blocked_by) if (!draft.tasks.has(other)) return taskMissing(draft, 'blocked_by', other);
  draft.tasks.set(id, {
    id,
    record: record.id,
    subject: record.subject,
    description: record.description,
    owner: record.owner,
    files: record.files,
    blockedBy: record.blocked_by,
    status: 'pending',
    claim: null,
    result: null,
    createdBy: record.by,
    createdAt: record.at,
    startedAt: null,
    endedAt: null,
    ...(held === undefined ? {} : { holdsUp: held.id }),
    ...(record.early === true ? { isEarly: true } : {}),
  });
  if (held !== undefined) draft.tasks.set(held.id, { ...held, blockedBy: [...held.blockedBy, id] });
  return null;
}

export function takeAssignment(draft: Draft, record: Of<'task_assigned'>): Refusal | null {
  const task = draft.tasks.get(record.task);
  if (task === undefined) return taskMissing(draft, 'task', record.task);
  const refused = assignmentRefusal(task, record.owner, record.by);
  if (refused === null) draft.tasks.set(task.id, { ...task, owner: record.owner });
  return refused;
}

function assignmentRefusal(task: Task, owner: string, by: string): Refusal | null {
  // After its end the claim only tells who did it.
  if (task.status === 'in_progress' && task.claim !== null && task.claim.member !== owner)
    return claimed(task, task.claim.member);
  // Two may stop at once: the first of them gets it. Only the lead takes a task from somebody.
  return by !== LEAD && task.owner !== null && task.owner !== owner
    ? refusal(TASK_CODES.task_meant_for_other, { task: task.id, owner: task.owner })
    : null;
}

export function takeUpdate(draft: Draft, record: Of<'task_updated'>): Refusal | null {
  const fault = authorFault(draft, record.by, record.epoch);
  if (fault !== null) return fault;
  const before = draft.tasks.get(record.task);
  if (before === undefined) return taskMissing(draft, 'taskId', record.task);
  const { owner = before.owner } = record;
  const task = { ...before, owner };
  const assigning = owner === null || owner === before.owner ? null : assignmentRefusal(before, owner, record.by);
  const refused = assigning ?? refusalOf(draft, task, record);
  if (refused !== null) return refused;
  draft.tasks.set(task.id, updated(draft, task, record));
  noteLifeSign(draft, record.by, record.at);
  if (record.by !== LEAD) applySessionEvent(draft, 'work_began');
  return null;
}

/** Whether a claim is of this author, in this run; the lead has none. */
function isOf(claim: Claim | null, by: string, epoch: number): boolean {
  return claim !== null && claim.member === by && (by === LEAD || claim.epoch === epoch);
}

/** Why this author may not set that task to this status. */
function refusalOf(draft: Draft, task: Task, record: Of<'task_updated'>): Refusal | null {
  const { by, epoch, status } = record;
  if (status === 'in_progress') return claimRefusal(draft, task, record);
  if (isOf(task.claim, by, epoch)) return status === 'completed' ? blockRefusal(draft, task) : null;
  const holder = task.status === 'in_progress' ? task.claim : null;
  if (by === LEAD) {
    if (status !== 'completed' || holder === null) return null;
    const member = draft.members.get(holder.member);
    return member === undefined || isLeaseOver(member, record.at)
      ? null
      : refusal(TASK_CODES.task_held_by_worker, { task: task.id, holder: holder.member });
  }
  if (holder !== null) return claimed(task, holder.member);
  if (status === 'completed' && task.owner === by && task.status === 'pending') return blockRefusal(draft, task);
  return refusal(TASK_CODES.task_not_claimed, { task: task.id, member: by });
}

/** Why this author may not begin that task. Work that is done is begun again by who did it, or by the lead. */
function claimRefusal(draft: Draft, task: Task, { by, epoch }: Of<'task_updated'>): Refusal | null {
  if (task.status === 'in_progress' && task.claim !== null)
    return isOf(task.claim, by, epoch) ? null : claimed(task, task.claim.member);
  if (task.owner !== null && task.owner !== by)
    return refusal(TASK_CODES.task_meant_for_other, { task: task.id, owner: task.owner });
  if (task.status === 'completed' && by !== LEAD && task.owner !== by && !isOf(task.claim, by, epoch))
    return refusal(TASK_CODES.task_completed_already, {
      task: task.id,
      ...(task.claim === null ? {} : { holder: task.claim.member }),
    });
  return blockRefusal(draft, task, beginsAfter(task, draft.tasks, by));
}

function blockRefusal(draft: Draft, task: Task, before = waitsFor(task, draft.tasks)): Refusal | null {
  if (before.length === 0) return null;
  return refusal(TASK_CODES.task_blocked, { task: task.id, before: before.map((id) => `task ${id}`) });
}

/** What a member has in hand is ready for who begins on that. */
export function announceReady(draft: Draft, { member, epoch }: Omit<Claim, 'at'>, readyFor: string): void {
  for (const task of taskIndexOf(draft.tasks).open())
    if (task.status === 'in_progress' && task.claim?.member === member && task.claim.epoch === epoch)
      draft.tasks.set(task.id, { ...task, readyFor });
}

/** Resets the count of runs that left the task, so that its owner is started for it again. */
export function withoutLeaveCount({ left: _, ...task }: Task): Task {
  return task;
}

/** Whose result is accepted needs no earlier one. */
function withoutReturned({ returned: _, ...task }: Task): Task {
  return task;
}

function updated(draft: Draft, { readyFor, changedNothing: _, ...unready }: Task, record: Of<'task_updated'>): Task {
  const { at, by, epoch, status, result } = record;
  const isSame = unready.status === status;
  // Who takes it up anew has announced nothing.
  const task = isSame && readyFor !== undefined ? { ...unready, readyFor } : unready;
  switch (status) {
    case 'pending':
      return by === LEAD ? withoutLeaveCount(givenBack(task, draft.tasks)) : givenBack(task, draft.tasks);
    case 'in_progress':
      return isSame ? task : { ...task, status, claim: { member: by, epoch, at }, startedAt: at, endedAt: null };
    case 'completed':
    case 'failed':
      return {
        ...(status === 'completed' ? withoutReturned(task) : task),
        status,
        // Whoever completes what is meant for it without a claim has done it all the same.
        claim: task.claim ?? (by === LEAD ? null : { member: by, epoch, at }),
        result: result ?? task.result,
        startedAt: task.startedAt ?? at,
        endedAt: isSame ? task.endedAt : at,
        ...(status === 'completed' && record.changed_nothing === true ? { changedNothing: true as const } : {}),
      };
  }
}
