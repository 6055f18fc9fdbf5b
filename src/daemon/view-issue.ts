// One issue as other programs and its page see it: JSON with snake_case names, times in ISO 8601.

import type { TeamSummary } from '../agents/rules/team-summary.ts';
import type { Evidence } from '../gate/rules/evidence.ts';
import { finishedIssueOf } from './rules/finished-issues.ts';
import type { SeenPullRequest } from './rules/pull-request-status.ts';
import type { ReviewState } from './rules/review-state.ts';
import { type Phase, spentOf } from './rules/state.ts';
import { stateView } from './view.ts';
import { EVERYTHING } from './view-page.ts';
import {
  type AskingRow,
  type CompletedRow,
  dollars,
  type FollowingRow,
  iso,
  type QueuedRow,
  type RetryingRow,
  type Row,
  type RunningRow,
  type Tokens,
  tokensOf,
} from './view-rows.ts';
import type { ViewSource } from './view-source.ts';

export type PullRequestView = {
  readonly number: number;
  readonly url: string;
  readonly followed: boolean;
  /** As it was read last; null: it was not since the daemon started. */
  readonly seen:
    | (Pick<SeenPullRequest, 'state' | 'head' | 'conflicts' | 'merge' | 'draft' | 'checks' | 'reviews'> & {
        readonly at: string;
        readonly open_threads: number;
      })
    | null;
};

export type IssueDetails = {
  readonly issue_number: number;
  /** Null: only the journal may know title and address. */
  readonly title: string | null;
  readonly url: string | null;
  readonly running: RunningRow | null;
  readonly retrying: RetryingRow | null;
  readonly asking: AskingRow | null;
  readonly following: FollowingRow | null;
  readonly queued: QueuedRow | null;
  readonly completed: readonly CompletedRow[];
  readonly life: number | null;
  readonly phase: Phase | null;
  readonly attempts: number | null;
  readonly failures: number | null;
  readonly rounds: number | null;
  readonly evidence: Evidence | null;
  readonly review: ReviewState | null;
  readonly seconds_running: number | null;
  /** Used by the attempt under way; null: none is. */
  readonly attempt_usage: (Tokens & { readonly cost_usd: number }) | null;
  readonly pull_request: PullRequestView | null;
  /** The team that works on it, or did last; null: one agent does. */
  readonly team: TeamSummary | null;
};

function seenView(seen: SeenPullRequest | undefined): PullRequestView['seen'] {
  if (seen === undefined) return null;
  const { at, openThreads, ...others } = seen;
  return { ...others, at: iso(at), open_threads: openThreads };
}

/** One issue, its last life when it is over, as `GET /api/v1/issues/<n>` shows it; undefined when the daemon knows nothing of it. */
export function issueDetails(source: ViewSource, issue: number): IssueDetails | undefined {
  const waiting = source.waiting.filter((one) => one.issue.number === issue);
  const view = stateView({ ...source, waiting }, EVERYTHING);
  const entry = source.state.entries.get(issue);
  const past = finishedIssueOf(source.state.past, issue);
  const of = <T extends Row>(rows: readonly T[]) => rows.find((row) => row.issue_number === issue) ?? null;
  const completed = view.completed.filter((row) => row.issue_number === issue);
  const rows = {
    running: of(view.running),
    retrying: of(view.retrying),
    asking: of(view.asking),
    following: of(view.following),
    queued: of(view.queued),
  };
  if (entry === undefined && past === undefined && rows.queued === null && completed.length === 0) return undefined;
  const known = Object.values(rows).find((row) => row !== null) ?? completed[0] ?? null;
  const pull = entry === undefined ? (completed[0]?.pull_request ?? null) : entry.pullRequest;
  const used = source.statuses.get(issue)?.usage ?? entry?.running;
  return {
    issue_number: issue,
    title: known?.title ?? entry?.title ?? null,
    url: known?.issue_url ?? entry?.url ?? null,
    ...rows,
    completed,
    life: entry?.life ?? past?.life ?? null,
    phase: entry?.phase ?? null,
    attempts: entry?.attempt ?? completed[0]?.attempts ?? null,
    failures: entry?.failures ?? null,
    rounds: entry?.rounds ?? null,
    evidence: entry?.evidence ?? null,
    review: entry?.review ?? null,
    seconds_running: entry === undefined ? null : Math.round(spentOf(entry).seconds * 10) / 10,
    attempt_usage:
      entry?.phase === 'running' && used !== undefined ? { ...tokensOf(used), cost_usd: dollars(used.cost_usd) } : null,
    pull_request: pull && {
      ...pull,
      followed: (entry?.follow ?? null) !== null,
      seen: seenView(source.seen.get(issue)),
    },
    team: rows.running?.team ?? entry?.team ?? completed[0]?.team ?? null,
  };
}
