// Rows of the state's lists, as other programs see them.

import type { TeamSummary } from '../agents/rules/team-summary.ts';
import type { Usage } from '../agents/rules/usage.ts';
import { clip, oneLine } from '../base/rules/text.ts';
import type { AttemptStatus } from './attempt-status.ts';
import type { PersonCause } from './rules/follow-people.ts';
import { activeLabelsOf, type StateLabels } from './rules/issue.ts';
import { GATE_WAITS, REVIEW_WAITS } from './rules/issue-standing.ts';
import { isBeingReviewed, isInReview } from './rules/review.ts';
import type { Completed, Entry } from './rules/state.ts';

export type Tokens = { readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number };

export type Row = {
  readonly issue_number: number;
  readonly issue_identifier: string;
  readonly issue_url: string;
  readonly title: string;
};

export type RunningRow = Row & {
  readonly state: string;
  readonly attempt: number;
  readonly phase: string;
  readonly runtime: string | null;
  readonly pid: number | null;
  readonly session_id: string | null;
  readonly turn_count: number;
  readonly last_event: string | null;
  readonly last_message: string | null;
  readonly started_at: string;
  readonly last_event_at: string;
  readonly workspace: string | null;
  readonly branch: string;
  readonly pull_request: { readonly number: number; readonly url: string } | null;
  readonly last_error: string | null;
  readonly tokens: Tokens;
  readonly cost_usd: number;
  /** The team that works on it; null: one agent does. */
  readonly team: TeamSummary | null;
};

export type RetryingRow = Row & {
  readonly attempt: number;
  readonly due_at: string | null;
  /** Why it does not start although it is due; null: it is not due. */
  readonly waits_for: string | null;
  readonly last_error: string | null;
  readonly branch: string;
};

/** An issue whose agent has asked people. */
export type AskingRow = Row & {
  readonly question: string;
  /** By `tool pause`. */
  readonly paused: boolean;
  readonly since: string;
  /** When it is given up without an answer; null: never. */
  readonly until: string | null;
  readonly attempt: number;
  readonly branch: string;
};

export type FollowingRow = Row & {
  readonly pull_request: { readonly number: number; readonly url: string } | null;
  readonly rounds: number;
  /** What it waits for, as it was read last. */
  readonly waits_for: string;
  /** For what people were told that it waits for them, `merge`: it can be merged; null: they were not since the last round. */
  readonly awaits_person: PersonCause | null;
  readonly since: string;
  readonly branch: string;
};

export type QueuedRow = Row & {
  readonly reason: string;
  /** Its finished work waits for another change. */
  readonly held_back: boolean;
  readonly author: string | null;
  readonly labels: readonly string[];
};

export type CompletedRow = Row & {
  readonly outcome: string;
  readonly attempts: number;
  readonly pull_request: { readonly number: number; readonly url: string } | null;
  readonly branch: string;
  readonly reason: string | null;
  readonly started_at: string;
  readonly finished_at: string;
  readonly seconds: number;
  readonly tokens: Tokens;
  readonly cost_usd: number;
  /** The team that worked on it, of the last ones; null: one agent did. */
  readonly team: TeamSummary | null;
};

const MAX_QUESTION = 600;

export function iso(at: number): string {
  return new Date(at).toISOString();
}

export function tokensOf(usage: Omit<Usage, 'seconds'>): Tokens {
  return {
    input_tokens: usage.input_tokens,
    output_tokens: usage.output_tokens,
    total_tokens: usage.input_tokens + usage.output_tokens,
  };
}

export function dollars(amount: number): number {
  return Math.round(amount * 1e6) / 1e6;
}

export function rowOf(slug: string, number: number, url: string, title: string): Row {
  return { issue_number: number, issue_identifier: `${slug}#${number}`, issue_url: url, title: oneLine(title, 300) };
}

/** Whether the checks run on its commit now, or wait until others have ended. */
function isBeingMeasured({ phase, head, effects }: Entry): boolean {
  return phase === 'publishing' && effects[`gate:${head}`] === 'started';
}

export function runningRow(
  slug: string,
  entry: Entry,
  status: AttemptStatus | undefined,
  labels: StateLabels,
  gates: ReadonlySet<number>,
): RunningRow {
  const before = entry.spent;
  const isReviewed = isBeingReviewed(entry);
  const now = (entry.phase === 'running' || isReviewed) && status !== undefined ? status.usage : entry.running;
  const usage = {
    input_tokens: before.input_tokens + now.input_tokens,
    output_tokens: before.output_tokens + now.output_tokens,
    cost_usd: 0,
    turns: 0,
  };
  return {
    ...rowOf(slug, entry.number, entry.url, entry.title),
    state: activeLabelsOf(entry.stateLabels, labels)[0] ?? labels.active[0] ?? '',
    attempt: entry.attempt,
    phase:
      entry.phase === 'running'
        ? (status?.stage ?? 'agent')
        : isBeingMeasured(entry)
          ? gates.has(entry.number)
            ? GATE_WAITS
            : 'gate'
          : isReviewed
            ? 'review'
            : isInReview(entry)
              ? REVIEW_WAITS
              : entry.phase,
    runtime: entry.runtime,
    pid: entry.run?.pid ?? null,
    session_id: entry.sessionId,
    turn_count: now.turns,
    last_event: status?.lastEvent ?? null,
    last_message: status?.lastMessage ?? null,
    started_at: iso(entry.run?.startedAt ?? entry.claimedAt),
    last_event_at: iso(status?.lastEventAt ?? entry.run?.startedAt ?? entry.claimedAt),
    workspace: entry.workspace,
    branch: entry.branch,
    pull_request: entry.pullRequest,
    last_error: entry.stepError ?? entry.lastError,
    tokens: tokensOf(usage),
    cost_usd: dollars(before.cost_usd + now.cost_usd),
    team: status?.team ?? entry.team,
  };
}

export function askingRow(slug: string, entry: Entry, timeoutMs: number, isPaused: boolean): AskingRow {
  const at = entry.question?.at ?? entry.claimedAt;
  return {
    ...rowOf(slug, entry.number, entry.url, entry.title),
    question: clip(entry.question?.text ?? '', MAX_QUESTION),
    paused: isPaused,
    since: iso(at),
    until: timeoutMs === 0 ? null : iso(at + timeoutMs),
    attempt: entry.attempt,
    branch: entry.branch,
  };
}

export function completedRow(slug: string, done: Completed): CompletedRow {
  return {
    ...rowOf(slug, done.number, done.url, done.title),
    outcome: done.outcome,
    attempts: done.attempts,
    pull_request: done.pullRequest,
    branch: done.branch,
    reason: done.outcome === 'done' ? null : done.reason,
    started_at: iso(done.startedAt),
    finished_at: iso(done.finishedAt),
    seconds: Math.round((done.finishedAt - done.startedAt) / 10) / 100,
    tokens: tokensOf(done.spent),
    cost_usd: dollars(done.spent.cost_usd),
    team: done.team,
  };
}
