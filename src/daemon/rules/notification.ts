// Events of an issue that people are notified of, by kind; derived from a record and the state before it.

import type { JournalRecord, PullRequest } from './record.ts';
import type { DaemonState, Entry } from './state.ts';

/** Gives why it happened, or an empty text; undefined: the record is no such event. */
type Kind = (record: JournalRecord, entry: Entry) => string | undefined;

const KINDS = {
  /** The issue has the failed label. */
  failed: (record, { lastError }) =>
    record.type === 'finished' && record.outcome === 'failed' ? (lastError ?? '') : undefined,
  /** The issue waits until the runtime has quota again. */
  quota: (record) => (record.type === 'attempt_ended' && record.quota_until !== undefined ? record.reason : undefined),
  /** The agent waits for an answer of people. */
  question: (record) => (record.type === 'asked_question' ? record.text : undefined),
  /** The pull request is open. */
  done: (record, { pullRequest, follow }) => {
    const isOpened = record.type === 'following' || (record.type === 'finished' && record.outcome === 'done');
    // One that is followed was told of when following began.
    return isOpened && pullRequest !== null && follow === null ? '' : undefined;
  },
  /** A pull request that is followed can be merged. */
  mergeable: (record) =>
    record.type === 'awaits_person' && record.cause === 'merge' ? (record.reason ?? '') : undefined,
  /** A pull request that is followed waits for a person, and cannot be merged yet. */
  attention: (record) =>
    record.type === 'awaits_person' && record.cause !== 'merge' ? (record.reason ?? '') : undefined,
  /** The daemon does not go on with a pull request that it followed. */
  stopped: (record, { follow }) => (record.type === 'finished' ? (follow?.stopped ?? undefined) : undefined),
} as const satisfies Readonly<Record<string, Kind>>;

/** As JSON on the wire. */
export type Notification = {
  readonly kind: string;
  readonly issue: number;
  readonly title: string;
  readonly url: string;
  readonly reason: string | null;
  readonly pull_request: PullRequest | null;
};

/**
 * The event that a record is; null: none.
 * @param before the state that the record is appended to
 */
export function notificationOf(before: DaemonState, record: JournalRecord): Notification | null {
  const entry = 'issue' in record ? before.entries.get(record.issue) : undefined;
  if (entry === undefined) return null;
  for (const [kind, isEvent] of Object.entries<Kind>(KINDS)) {
    const reason = isEvent(record, entry);
    const { number: issue, title, url, pullRequest } = entry;
    if (reason !== undefined) return { kind, issue, title, url, reason: reason || null, pull_request: pullRequest };
  }
  return null;
}
