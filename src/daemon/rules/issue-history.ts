// History of one issue, from the records of the journal: its attempts, its last evidence, its story; pure.

import type { Usage } from '../../agents/rules/usage.ts';
import type { Evidence } from '../../gate/rules/evidence.ts';
import type { OwnFileMark } from './own-file.ts';
import type { AttemptOutcome, JournalRecord } from './record.ts';

/** `at`: ms since the epoch. */
export type StoryLine = { readonly at: number; readonly words: string };

export type IssueRecord = Exclude<JournalRecord, { type: 'snapshot' }>;
export type DatedRecord = { readonly at: number; readonly record: IssueRecord };

/** One attempt. Times are ms since the epoch; `end` null: it has not ended. */
export type PastAttempt = {
  /** 0: the journal does not hold the claim any more. */
  readonly life: number;
  readonly attempt: number;
  readonly runtime: string;
  /** The file of the repository that it worked by; null: none, or it set nothing. */
  readonly ownFile: OwnFileMark | null;
  readonly startedAt: number;
  readonly end: {
    readonly at: number;
    readonly outcome: AttemptOutcome;
    readonly reason: string;
    readonly usage: Usage;
  } | null;
};

export type IssueHistory = {
  /** Title and address when it was claimed last; null: the journal does not hold that any more. */
  readonly title: string | null;
  readonly url: string | null;
  /** The oldest first. */
  readonly attempts: readonly PastAttempt[];
  /** What was measured last; null: nothing was, or the journal does not hold it any more. */
  readonly evidence: Evidence | null;
  /** The last pull request; null: none was opened, or the journal does not hold it any more. */
  readonly pullRequest: PastPullRequest | null;
  readonly story: readonly StoryLine[];
};

/** What the daemon did to it, and knows of its end. Times are ms since the epoch. */
export type PastPullRequest = {
  readonly number: number;
  readonly openedAt: number;
  /** The last commit that was pushed to it; null: the journal does not hold it any more. */
  readonly commit: string | null;
  readonly over: { readonly at: number; readonly state: 'merged' | 'closed' } | null;
};

/** The last pull request that was opened, or found open. */
function pullRequestIn(records: readonly DatedRecord[]): PastPullRequest | null {
  const done = records.flatMap(({ at, record }) => (record.type === 'effect_finished' ? [{ at, ...record }] : []));
  const opened = done.flatMap(({ at, effect, result: { number } }) =>
    effect === 'pull_request' && typeof number === 'number' ? [{ at, number }] : [],
  );
  const number = opened.at(-1)?.number;
  const first = opened.find((one) => one.number === number);
  if (first === undefined) return null;
  const sha = done.findLast(({ effect }) => effect === 'push')?.result.sha;
  const over = records.flatMap(({ at, record }) =>
    record.type === 'pull_request_over' && record.pull_request === first.number ? [{ at, state: record.state }] : [],
  );
  return {
    number: first.number,
    openedAt: first.at,
    commit: typeof sha === 'string' ? sha : null,
    over: over.at(-1) ?? null,
  };
}

export function historyOf(records: readonly DatedRecord[], story: readonly StoryLine[]): IssueHistory {
  let claim: { readonly title: string; readonly url: string; readonly life: number } | null = null;
  let evidence: Evidence | null = null;
  const attempts: PastAttempt[] = [];
  for (const { at, record } of records) {
    if (record.type === 'claimed') claim = record;
    if (record.type === 'measured') evidence = record.evidence;
    if (record.type === 'attempt_started') {
      const { attempt, runtime, own_file: ownFile = null } = record;
      attempts.push({ life: claim?.life ?? 0, attempt, runtime, ownFile, startedAt: at, end: null });
    }
    const last = attempts.at(-1);
    if (record.type === 'attempt_ended' && last?.end === null) {
      const { outcome, reason, usage } = record;
      attempts[attempts.length - 1] = { ...last, end: { at, outcome, reason, usage } };
    }
  }
  return {
    title: claim?.title ?? null,
    url: claim?.url ?? null,
    attempts,
    evidence,
    pullRequest: pullRequestIn(records),
    story,
  };
}
