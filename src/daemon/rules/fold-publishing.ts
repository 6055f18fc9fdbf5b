// Records of publishing and following: a step failed, work goes back to the agent, a pull request is followed.

import { NEW_FOLLOW } from './follow.ts';
import { givenUp } from './given-up.ts';
import type { JournalRecord } from './record.ts';
import { standIn } from './review.ts';
import { withBaseDue } from './serialize.ts';
import type { Entry } from './state.ts';
import { isSettling } from './steering.ts';

export function failToPublish(
  entry: Entry,
  record: Extract<JournalRecord, { type: 'publish_failed' }>,
): Entry | undefined {
  const { phase } = entry;
  // A command of an operator may have come between the failure and its record.
  const isPublishing = phase === 'publishing' || phase === 'giving_up';
  if (!isSettling(entry) || (record.next !== 'again' && !isPublishing)) return undefined;
  // Why the attempts failed is still to be told: the step's failure does not take its place.
  if (record.next === 'again') return { ...entry, stepError: record.reason, retryAt: record.retry_at };
  // What the branch lacks is the agent's to mend: this counts as a failed attempt.
  return {
    ...entry,
    lastError: record.reason,
    sentBack: record.reason,
    stepError: null,
    retryAt: record.retry_at,
    failures: record.lost === true ? entry.failures : entry.failures + 1,
    head: null,
    ...(record.next === 'retry'
      ? { phase: 'retrying' as const }
      : (standIn(entry, record.reason) ?? givenUp(entry, record.reason))),
  };
}

/** This is no failed attempt: rounds are counted by themselves. */
export function sendBack(
  entry: Entry,
  record: Extract<JournalRecord, { type: 'sent_back' }>,
  at: number,
): Entry | undefined {
  if (entry.phase !== 'publishing') return undefined;
  const goesOn = record.next === 'retry';
  return {
    ...entry,
    lastError: record.reason,
    sentBack: record.reason,
    stepError: null,
    retryAt: goesOn ? at : null,
    rounds: entry.rounds + 1,
    head: null,
    // A commit that is handed in again is measured again: what was missing may be there now.
    evidence: goesOn ? null : entry.evidence,
    ...(goesOn ? { phase: 'retrying' as const } : (standIn(entry, record.reason) ?? givenUp(entry, record.reason))),
  };
}

export function beginFollowing(entry: Entry, updatedAt: string, at: number): Entry | undefined {
  if (entry.phase !== 'publishing') return undefined;
  const kept = entry.follow ?? NEW_FOLLOW;
  const follow = { ...kept, since: at, updatedAt, told: null, reviewers: [], stopped: null };
  return { ...entry, phase: 'following', follow, failures: 0, rounds: 0, lastError: null, sentBack: null, head: null };
}

/** So many keys of what an agent was told are kept. */
const HANDLED_KEPT = 5_000;

export function goOn(
  entry: Entry,
  record: Extract<JournalRecord, { type: 'continued' }>,
  at: number,
): Entry | undefined {
  const { follow } = entry;
  if (entry.phase !== 'following' || follow === null || follow.stopped !== null) return undefined;
  const { told, failure, reviewers } = record;
  const handled = [...follow.handled, ...record.handled].slice(-HANDLED_KEPT);
  return {
    ...entry,
    phase: 'retrying',
    retryAt: at,
    lastError: record.reason,
    // What people wrote on the issue before the round is no message to its agent.
    version: '',
    follow: { ...follow, rounds: follow.rounds + 1, handled, failure, told, reviewers, noticed: null },
  };
}

type Of<T extends JournalRecord['type']> = Extract<JournalRecord, { type: T }>;

/** So many commits of others are kept in mind. */
const OTHERS_KEPT = 200;

/** Their commit stays: finished work of a round is joined with it before it is pushed. */
export function takePushed(entry: Entry, { commit, joins }: Of<'others_pushed'>, at: number): Entry | undefined {
  const { follow, phase } = entry;
  if (follow === null || phase !== (joins ? 'publishing' : 'following')) return undefined;
  const others = [...follow.others, commit].slice(-OTHERS_KEPT);
  const taken = { ...entry, follow: { ...follow, others, tip: commit, since: at } };
  return joins && entry.head !== null ? withBaseDue(taken, entry.head, at) : taken;
}

export function takeBaseIn(entry: Entry, { commit }: Of<'base_wanted'>, at: number): Entry | undefined {
  const { follow } = entry;
  if (entry.phase !== 'following' || follow === null || follow.stopped !== null) return undefined;
  const wanted: Entry = { ...entry, phase: 'publishing', head: commit, follow: { ...follow, updatedFrom: commit } };
  return withBaseDue(wanted, commit, at);
}

export function noticePerson(entry: Entry, { cause }: Of<'awaits_person'>): Entry | undefined {
  const { phase, follow } = entry;
  return phase === 'following' && follow !== null ? { ...entry, follow: { ...follow, noticed: cause } } : undefined;
}

/** We pushed: the branch stands on our commit. */
export function withoutTip({ follow }: Pick<Entry, 'follow'>): Pick<Entry, 'follow'> {
  return { follow: follow === null ? null : { ...follow, tip: null } };
}
