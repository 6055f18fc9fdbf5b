// How tasks come about, are claimed and end.

import type { Stored } from '../log.ts';
import { authorFault, type Draft, move, sign } from './fold-state.ts';
import { LEAD } from './message.ts';
import type { TeamRecord } from './record.ts';
import { type Task, waitsFor } from './task.ts';

type Of<T extends TeamRecord['type']> = Extract<Stored<TeamRecord>, { type: T }>;

export function takeTask(draft: Draft, record: Of<'task_created'>): string | null {
  const id = String(draft.tasks.size + 1);
  const unknown = record.blocked_by.find((other) => !draft.tasks.has(other));
  if (unknown !== undefined) return `blocked_by: there is no task ${unknown}`;
  draft.tasks.set(id, {
    id,
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
  });
  return null;
}

export function takeAssignment(draft: Draft, record: Of<'task_assigned'>): string | null {
  const task = draft.tasks.get(record.task);
  if (task === undefined) return `there is no task ${record.task}`;
  if (task.claim !== null && task.claim.member !== record.owner)
    return `task ${task.id} is claimed by ${task.claim.member}`;
  draft.tasks.set(task.id, { ...task, owner: record.owner });
  return null;
}

export function takeUpdate(draft: Draft, record: Of<'task_updated'>): string | null {
  const fault = authorFault(draft, record.by, record.epoch);
  if (fault !== null) return fault;
  const task = draft.tasks.get(record.task);
  if (task === undefined) return `there is no task ${record.task}`;
  const refusal = refusalOf(draft, task, record);
  if (refusal !== null) return refusal;
  draft.tasks.set(task.id, updated(task, record));
  sign(draft, record.by, record.at);
  if (record.by !== LEAD) move(draft, 'work_began');
  return null;
}

/** Why this author may not set that task to this status. */
function refusalOf(draft: Draft, task: Task, { by, epoch, status }: Of<'task_updated'>): string | null {
  const { claim } = task;
  const isOwn = claim !== null && claim.member === by && claim.epoch === epoch;
  if (status === 'in_progress') {
    if (isOwn) return null;
    if (claim !== null && task.status === 'in_progress') return `task ${task.id} is claimed by ${claim.member}`;
    if (task.owner !== null && task.owner !== by) return `task ${task.id} is meant for ${task.owner}`;
    const before = waitsFor(task, draft.tasks);
    return before.length === 0 ? null : `task ${task.id} is blocked by ${before.map((id) => `task ${id}`).join(', ')}`;
  }
  if (by === LEAD)
    return status === 'completed' && claim !== null && task.status === 'in_progress'
      ? `task ${task.id} is claimed by ${claim.member}, who is at work: only ${claim.member} completes it`
      : null;
  if (isOwn) return null;
  if (claim !== null) return `task ${task.id} is claimed by ${claim.member}`;
  return task.owner === by && status === 'completed' ? null : `task ${task.id} is not claimed by ${by}: claim it first`;
}

function updated(task: Task, record: Of<'task_updated'>): Task {
  const { at, by, epoch, status, result } = record;
  switch (status) {
    case 'pending':
      return { ...task, status, claim: null, startedAt: null, endedAt: null };
    case 'in_progress':
      return {
        ...task,
        status,
        claim: task.claim?.member === by && task.claim.epoch === epoch ? task.claim : { member: by, epoch, at },
        startedAt: task.startedAt ?? at,
        endedAt: null,
      };
    case 'completed':
    case 'failed':
      return { ...task, status, result: result ?? task.result, startedAt: task.startedAt ?? at, endedAt: at };
  }
}
