// Many repositories in one view: how each stands, and what is worst among them.

import { messageIn } from '../base/rules/codes.ts';
import { formatSlug } from '../git/rules/repository.ts';
import type { PollInfo, RateLimit } from './ports.ts';
import { type BudgetView, budgetView } from './view-budget.ts';
import { iso } from './view-rows.ts';
import type { FleetView, RepositoryView } from './view-source.ts';

/** All rows of one repository. */
export type RepositoryPart = {
  readonly slug: string;
  readonly lists: Readonly<Record<'running' | 'queued', readonly unknown[]>>;
};

/** How one of many repositories stands. */
export type RepositoryRow = {
  readonly repository: string;
  readonly running: number;
  readonly queued: number;
  readonly last_poll_at: string | null;
  /** Of the day; null without `agent.max_cost_usd_per_day_per_repository`. */
  readonly budget: BudgetView | null;
  /** Why it is not read or worked on now; null: it is. */
  readonly problem: string | null;
};

/** The repository's own WORKFLOW.md. */
export type OwnFileRow = {
  readonly repository: string;
  /** The commit that it was read at, and the keys that it sets; null: the operator's file holds alone. */
  readonly commit: string | null;
  readonly sets: readonly string[];
  readonly warnings: readonly string[];
};

/** A row for each repository that has a file of its own. */
export function ownFileRows(all: readonly RepositoryView[]): readonly OwnFileRow[] {
  return all.flatMap(({ workflow: { own, tracker }, ownWarnings = [] }) => {
    if (own === undefined && ownWarnings.length === 0) return [];
    const repository = formatSlug(tracker.slug);
    return [{ repository, commit: own?.commit ?? null, sets: own?.sets ?? [], warnings: ownWarnings.map(messageIn) }];
  });
}

/** Warnings of these rows, as pages show them. */
export function ownFileLines(rows: readonly OwnFileRow[] = []): readonly string[] {
  return rows.flatMap(({ repository, warnings }) => warnings.map((words) => `${repository}: ${words}`));
}

export type PollView = {
  readonly interval_ms: number;
  readonly last_at: string | null;
  readonly next_at: string | null;
  readonly last_error: string | null;
  readonly requests: number;
  readonly not_modified: number;
};

const NO_LIMIT: RateLimit = { limit: null, remaining: null, reset_at: null, paused_until: null, reason: null };

/** The state of the polls: what is worst among many. */
export function pollOf(
  all: readonly RepositoryView[],
  fleet: FleetView | null,
): Omit<PollView, 'requests' | 'not_modified'> {
  const times = (of: (poll: PollInfo) => number | null) => all.flatMap(({ poll }) => of(poll) ?? []);
  const last = times(({ lastAt }) => lastAt);
  const next = times(({ nextAt }) => nextAt);
  const errors = all.flatMap(({ workflow, poll: { lastError } }) =>
    lastError === null ? [] : [fleet === null ? lastError : `${formatSlug(workflow.tracker.slug)}: ${lastError}`],
  );
  const broken = (fleet?.broken ?? []).map(({ repository, problem }) => `${repository}: ${problem}`);
  return {
    interval_ms: Math.min(
      ...all.map(({ poll }) => poll.intervalMs),
      ...(fleet === null ? [] : [fleet.workflow.polling.intervalMs]),
    ),
    last_at: last.length < all.length || last.length === 0 ? null : iso(Math.min(...last)),
    next_at: next.length === 0 ? null : iso(Math.min(...next)),
    last_error: [...errors, ...broken].join('; ') || null,
  };
}

/** The limit that is nearest; one that is waited for is nearer than all others. */
export function scarcest(limits: readonly RateLimit[]): RateLimit {
  const [first = NO_LIMIT] = [...limits].sort(
    (one, other) =>
      Number(other.paused_until !== null) - Number(one.paused_until !== null) ||
      (one.remaining ?? Number.MAX_SAFE_INTEGER) - (other.remaining ?? Number.MAX_SAFE_INTEGER),
  );
  return first;
}

/** How each of many repositories stands. */
export function repositoryRows(
  { repositories, broken, now }: FleetView,
  parts: readonly RepositoryPart[],
): readonly RepositoryRow[] {
  const rows = repositories.map((one, index): RepositoryRow => {
    const { poll, workflow } = one;
    const { slug = '', lists } = parts[index] ?? {};
    return {
      repository: slug,
      running: lists?.running.length ?? 0,
      queued: lists?.queued.length ?? 0,
      last_poll_at: poll.lastAt === null ? null : iso(poll.lastAt),
      budget: budgetView(workflow.agent.maxCostPerDayUsd, [one], now),
      problem: poll.lastError,
    };
  });
  const idle = { running: 0, queued: 0, last_poll_at: null, budget: null };
  return [...rows, ...broken.map(({ repository, problem }) => ({ repository, ...idle, problem }))];
}
