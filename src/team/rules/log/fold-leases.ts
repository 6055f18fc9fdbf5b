// Leases of paths, and what hooks decided.

import { type Refusal, refusal } from '../../../base/rules/codes.ts';
import type { Stored } from '../../../base/rules/stored-record.ts';
import { changeRequest } from '../calls.ts';
import { LOG_CODES } from '../codes/log-codes.ts';
import { WRITES_CODES } from '../codes/writes-codes.ts';
import { taskIndexOf } from '../task-index.ts';
import { withWriting } from '../write-attribution.ts';
import { authorFault, type Draft, noteLifeSign } from './fold-state.ts';
import type { TeamRecord } from './record.ts';
import { OPERATION_HOOK, rejectionKey } from './state.ts';

type Of<T extends TeamRecord['type']> = Extract<Stored<TeamRecord>, { type: T }>;

/** So many decisions are kept in the state; the log holds them all. */
const DECISIONS_KEPT = 200;

export function takeLease(draft: Draft, record: Of<'lease_taken'>): Refusal | null {
  const { path, by, epoch, until, reason, at } = record;
  const fault = authorFault(draft, by, epoch);
  if (fault !== null) return fault;
  if (until <= at)
    return refusal(LOG_CODES.record_not_valid, {
      ...{ type: 'lease_taken', why: `the lease of ${path} would end before it begins` },
    });
  const held = draft.leases.get(path);
  if (held !== undefined && held.member !== by && held.until > at) return leaseHeld(path, held);
  // What it is taken for, a program may write, and no call names that.
  noteWriting(draft, path, by, at);
  draft.leases.set(path, { path, member: by, epoch, takenAt: at, until, reason });
  noteLifeSign(draft, by, at);
  return null;
}

function leaseHeld(path: string, { member: holder, until }: { readonly member: string; readonly until: number }) {
  return refusal(WRITES_CODES.lease_held, { path, holder, until, call: changeRequest(holder, path) });
}

function noteWriting(draft: Draft, path: string, member: string, at: number): void {
  draft.written.set(path, withWriting(draft.written.get(path) ?? [], taskIndexOf(draft.tasks).open(), member, at));
}

export function takeLeaseRelease(draft: Draft, record: Of<'lease_released'>): Refusal | null {
  const fault = authorFault(draft, record.by, record.epoch);
  if (fault !== null) return fault;
  const held = draft.leases.get(record.path);
  if (held === undefined || held.until <= record.at) return refusal(WRITES_CODES.lease_missing, { path: record.path });
  if (held.member !== record.by) return leaseHeld(record.path, held);
  draft.leases.delete(record.path);
  noteLifeSign(draft, record.by, record.at);
  return null;
}

export function takeDecision(draft: Draft, record: Of<'decision'>): Refusal | null {
  const { at, hook, decision, member, about, reason, fingerprint, paths } = record;
  draft.decisions.push({ at, hook, decision, member, about, reason });
  if (draft.decisions.length > DECISIONS_KEPT) draft.decisions.shift();
  if (record.returned !== undefined) keepReturned(draft, about, record.returned);
  // What is asked for differently the next time is no rejection of the same work.
  if (hook === OPERATION_HOOK) return null;
  const key = rejectionKey(hook, member, about);
  const before = draft.rejections.get(key);
  const isSame = before?.fingerprint === fingerprint;
  if (decision === 'reject' || (decision === 'escalated' && isSame))
    draft.rejections.set(key, {
      fingerprint,
      count: isSame ? before.count + 1 : 1,
      total: (before?.total ?? before?.count ?? 0) + 1,
    });
  // What was let through stays so: that is no acceptance of it.
  else if (decision !== 'accept' || !isSame || fingerprint === '') draft.rejections.delete(key);
  if (member === null) return null;
  signJudged(draft, member, at, paths.length > 0);
  if (decision === 'reject') return null;
  for (const path of paths) {
    const writers = draft.writers.get(path) ?? [];
    if (!writers.includes(member)) draft.writers.set(path, [...writers, member]);
    noteWriting(draft, path, member, at);
  }
  return null;
}

/** @param about `task N` */
function keepReturned(draft: Draft, about: string, returned: string): void {
  const task = draft.tasks.get(about.replace(/^task /, ''));
  if (task !== undefined) draft.tasks.set(task.id, { ...task, returned });
}

/**
 * Who writes is at work. Any other judgement is a sign of life at most: a hook judges idleness too; and who is only
 * registered was judged at its spawn.
 */
function signJudged(draft: Draft, name: string, at: number, isWriting: boolean): void {
  const phase = draft.members.get(name)?.phase;
  if (!isWriting && phase === 'registered') return;
  noteLifeSign(draft, name, at);
  const member = draft.members.get(name);
  if (!isWriting && member !== undefined && phase !== undefined) draft.members.set(name, { ...member, phase });
}
