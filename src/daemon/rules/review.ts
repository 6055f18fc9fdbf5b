// Review of finished work by a second agent: what its records change.

import { NO_USAGE } from '../../agents/rules/usage.ts';
import { messageIn, refusal } from '../../base/rules/codes.ts';
import type { Stored } from '../../base/rules/stored-record.ts';
import { clip } from '../../base/rules/text.ts';
import { REVIEW_CODES } from './codes/review-codes.ts';
import { addCost } from './cost.ts';
import type { JournalRecord } from './record.ts';
import { isAnswering, type ReviewState } from './review-state.ts';
import { addUsage, type DaemonState, type Entry, usageSince, withEntry } from './state.ts';

/** A review that fails is tried once more. */
export const MAX_REVIEW_TRIES = 2;

const MAX_ANSWER = 4_000;

/** Whether the work is still to be reviewed. In a round on a pull request, people review. */
export function isUnreviewed({ review, follow }: Pick<Entry, 'review' | 'follow'>): boolean {
  return follow === null && (review === null || review.stage === 'open');
}

/** What the pull request shows; null: nothing yet. */
export function shownReview({ review }: Pick<Entry, 'review'>): ReviewState | null {
  return review?.stage === 'over' ? review : null;
}

/** Key under which the findings are delivered. */
export function findingsKey({ commit }: Pick<ReviewState, 'commit'>): string {
  return `findings:${commit}`;
}

export function reviewKey(head: string): string {
  return `review:${head}`;
}

/** Whether an agent reviews its commit now. */
export function isBeingReviewed({ phase, head, effects }: Entry): boolean {
  return phase === 'publishing' && head !== null && effects[reviewKey(head)] === 'started';
}

/** Whether its commit is reviewed, or waits for another try of that. */
export function isInReview(entry: Entry): boolean {
  return isBeingReviewed(entry) || (entry.phase === 'publishing' && entry.review?.stage === 'open');
}

/**
 * In the place of work that is given up, the commit is published that the author handed in before the findings; null: there
 * is none, or it was tried.
 */
export function standIn(
  { review, follow, head }: Pick<Entry, 'review' | 'follow' | 'head'>,
  why: string,
): Pick<Entry, 'phase' | 'head' | 'review'> | null {
  if (follow !== null || review === null || review.findings.length === 0 || head === review.commit) return null;
  if (review.answer?.ok !== true && !isAnswering(review)) return null;
  const answer = { ok: false, text: clip(why, MAX_ANSWER) };
  return { phase: 'publishing', head: review.commit, review: { ...review, stage: 'over', answer } };
}

/** What a run noted counts, also when nobody saw its end. */
export function withNoted(entry: Entry): Entry {
  return { ...entry, spent: addUsage(entry.spent, entry.running), running: NO_USAGE };
}

/** A try counts with its cost wherever the issue stands by then. */
export function takeReview(state: DaemonState, record: Stored<Extract<JournalRecord, { type: 'reviewed' }>>) {
  const entry = state.entries.get(record.issue);
  if (entry === undefined) return state;
  const more = usageSince(record.usage, entry.running);
  const noted = withNoted(entry);
  const spent = { ...noted, spent: addUsage(noted.spent, more) };
  return addCost(withEntry(state, after(spent, record)), record.at, more);
}

function after(entry: Entry, record: Stored<Extract<JournalRecord, { type: 'reviewed' }>>): Entry {
  if (entry.phase !== 'publishing' || !isUnreviewed(entry)) return entry;
  const { agent, commit, findings, reason, next } = record;
  const failures = (entry.review?.failures ?? 0) + (record.failed === true ? 1 : 0);
  const review = { agent, commit, failures, findings, reason, answer: null };
  if (next === 'again')
    return { ...entry, review: { ...review, stage: 'open' }, stepError: reason, retryAt: record.retry_at };
  const over: Entry = { ...entry, review: { ...review, stage: 'over' }, stepError: null, retryAt: null };
  if (next === 'publish') return over;
  const words = messageIn(refusal(REVIEW_CODES.review_has_findings, { agent, count: findings.length }));
  return {
    ...over,
    phase: 'retrying',
    review: { ...review, stage: 'sent' },
    retryAt: record.at,
    lastError: words,
    head: null,
    // The work had passed: what the fix lacks is counted anew.
    rounds: 0,
  };
}

/** A turn with the findings has ended well. */
export function hearFindings(entry: Entry, keys: readonly string[]): Entry {
  const { review } = entry;
  if (review?.stage !== 'sent' || !keys.includes(findingsKey(review))) return entry;
  return { ...entry, review: { ...review, stage: 'heard' } };
}

/** The author hands the work in again. */
export function answered(
  review: ReviewState | null,
  { next, outcome, reason }: Extract<JournalRecord, { type: 'attempt_ended' }>,
): ReviewState | null {
  if (review === null || next !== 'publish') return review;
  // What the author said when it handed in a fix holds, unless that fix came to nothing.
  if ((review.answer === null || outcome === 'succeeded') && !isAnswering(review)) return review;
  const answer = { ok: outcome === 'succeeded', text: clip(reason, MAX_ANSWER) };
  return { ...review, stage: 'over', answer };
}
