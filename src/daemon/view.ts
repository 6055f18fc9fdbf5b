// The daemon's state as other programs see it: JSON with snake_case names, times in ISO 8601.

import { messageIn, type Refusal, refusal } from '../base/rules/codes.ts';
import { formatSlug } from '../git/rules/repository.ts';
import type { Waiting } from './dispatcher.ts';
import { reasonOf, waitsForSlot } from './intake.ts';
import type { RateLimit } from './ports.ts';
import { WORK_CODES } from './rules/codes/work-codes.ts';
import type { WebhookStatus } from './rules/delivery.ts';
import type { FollowMode } from './rules/follow-settings.ts';
import { isBeingReviewed } from './rules/review.ts';
import { heldBackBy } from './rules/serialize.ts';
import type { Entry } from './rules/state.ts';
import { isPaused, isSettling } from './rules/steering.ts';
import { type BudgetView, budgetView } from './view-budget.ts';
import { cut, FIRST_PAGE, type ListName, type Page, type RowPosition } from './view-page.ts';
import { type CoordinatorRow, type QueueRow, queueView, type WorkerRow } from './view-queue.ts';
import {
  type OwnFileRow,
  ownFileRows,
  type PollView,
  pollOf,
  type RepositoryRow,
  repositoryRows,
  scarcest,
} from './view-repositories.ts';
import {
  type AskingRow,
  askingRow,
  type CompletedRow,
  completedRow,
  dollars,
  type FollowingRow,
  iso,
  type QueuedRow,
  type RetryingRow,
  type RunningRow,
  rowOf,
  runningRow,
  type Tokens,
  tokensOf,
} from './view-rows.ts';
import type { FleetView, RepositoryView, ViewSource } from './view-source.ts';

/** A row of those that wait. */
type Queued = {
  readonly number: number;
  readonly url: string;
  readonly title: string;
  readonly author: string | null;
  readonly labels: readonly string[];
  readonly reason: string;
  readonly isForSlot: boolean;
  readonly isHeldBack: boolean;
};

export type StateView = {
  readonly generated_at: string;
  readonly version: string;
  /** `<owner>/<repo>`; of many, how many there are. */
  readonly repository: string;
  /** Only where there are many. */
  readonly repositories?: readonly RepositoryRow[];
  readonly workflow: {
    readonly path: string;
    readonly loaded_at: string;
    readonly error: string | null;
    readonly pending_restart: readonly string[];
    /** `follow.until`. */
    readonly follow: FollowMode;
    /** Of repositories that have one. Left out: of none. */
    readonly own_files?: readonly OwnFileRow[];
  };
  readonly counts: {
    readonly running: number;
    readonly retrying: number;
    readonly asking: number;
    readonly following: number;
    readonly queued: number;
    readonly completed: number;
    readonly failed: number;
  };
  readonly waiting: {
    /** Queued issues by the code of their first reason. */
    readonly reasons: Readonly<Record<string, number>>;
    /** Issues with a step of publishing that failed and is tried again. */
    readonly postponed: number;
  };
  readonly slots: number;
  /** Only with `queue.url`. */
  readonly queue?: QueueRow;
  readonly workers?: readonly WorkerRow[];
  /** Those that act for repositories in the place of this one; left out: there is none. */
  readonly coordinators?: readonly CoordinatorRow[];
  readonly running: readonly RunningRow[];
  readonly retrying: readonly RetryingRow[];
  /** Issues that wait for an answer to a question. */
  readonly asking: readonly AskingRow[];
  /** Issues that are done, and whose open pull requests are watched. */
  readonly following: readonly FollowingRow[];
  readonly queued: readonly QueuedRow[];
  readonly completed: readonly CompletedRow[];
  /** The cursor of each list's next page; null: there is none. */
  readonly next: Readonly<Record<ListName, string | null>>;
  /** How many rows of each list come after these. */
  readonly more: Readonly<Record<ListName, number>>;
  readonly poll: PollView;
  readonly totals: Tokens & { readonly cost_usd: number; readonly seconds_running: number };
  /** Of the day, for all together; null without `agent.max_cost_usd_per_day`. */
  readonly budget: BudgetView | null;
  readonly rate_limit: RateLimit;
  /** Null without `server.webhook_secret`. */
  readonly webhook: {
    readonly last_delivery_at: string | null;
    readonly deliveries: WebhookStatus['counts'];
  } | null;
};

function counted(repositories: number): string {
  return repositories === 1 ? '1 repository' : `${repositories} repositories`;
}

/** As the status page and the API say it. */
export const PAUSED_TEXT = messageIn(refusal(WORK_CODES.issue_paused, {}));

/** What waits for a slot alone comes last: every other reason is one that somebody can mend. */
function queuedPosition({ isForSlot, number }: Queued): RowPosition {
  return [isForSlot ? 0 : 1, number];
}

function rowOfEntry(entry: Entry, reason: string, isHeldBack: boolean): Queued {
  return { ...entry, author: null, labels: entry.stateLabels, reason, isForSlot: false, isHeldBack };
}

/** Every issue that waits: those without an attempt under way, those that an operator paused, and finished work held back. */
function queuedOf(
  waiting: readonly Waiting[],
  paused: readonly Entry[],
  heldBack: ReadonlyMap<Entry, Refusal>,
): readonly Queued[] {
  return [
    ...waiting.map(({ issue, why }) => ({
      ...issue,
      author: issue.author?.login ?? null,
      reason: reasonOf(why),
      isForSlot: waitsForSlot(why),
      isHeldBack: false,
    })),
    ...paused.map((entry) => rowOfEntry(entry, PAUSED_TEXT, false)),
    ...[...heldBack].map(([entry, why]) => rowOfEntry(entry, reasonOf([why]), true)),
  ];
}

/** How many issues wait for each reason, by its code. */
function reasonsOf(
  waiting: readonly Waiting[],
  paused: number,
  heldBack: Iterable<Refusal>,
): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const first of [...waiting.map(({ why }) => why[0]), ...heldBack]) {
    const code = first?.of.code;
    if (code !== undefined) counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  if (paused > 0) counts.set(WORK_CODES.issue_paused.code, paused);
  return Object.fromEntries(counts);
}

type Placed<T> = { readonly place: RowPosition; readonly row: () => T };

type Lists = {
  readonly running: RunningRow;
  readonly retrying: RetryingRow;
  readonly asking: AskingRow;
  readonly following: FollowingRow;
  readonly queued: QueuedRow;
  readonly completed: CompletedRow;
};

/** All rows of one repository; whoever holds a slot or is being published counts as running. */
function rowsOf(source: RepositoryView) {
  const { state, statuses, workflow } = source;
  const slug = formatSlug(workflow.tracker.slug);
  const entries = [...state.entries.values()];
  const paused = entries.filter((entry) => isPaused(state, entry));
  const heldBack = new Map(
    entries
      .filter((entry) => entry.phase === 'held_back' && !isPaused(state, entry))
      .map((entry) => [entry, heldBackBy(state, entry)]),
  );
  const waiting = source.waiting.filter(
    ({ issue }) => !state.entries.has(issue.number) || state.entries.get(issue.number)?.phase === 'parked',
  );
  const reasonsByIssue = new Map(source.waiting.map(({ issue, why }) => [issue.number, reasonOf(why)]));
  const each = <T>(of: (entry: Entry) => boolean, row: (entry: Entry) => T): readonly Placed<T>[] =>
    entries.filter(of).map((entry) => ({ place: [entry.number, 0], row: () => row(entry) }));
  const isRunning = (entry: Entry) =>
    entry.phase === 'running' || isSettling(entry) || (entry.phase === 'claimed' && !isPaused(state, entry));
  const lists: { readonly [Name in ListName]: readonly Placed<Lists[Name]>[] } = {
    running: each(isRunning, (entry) =>
      runningRow(slug, entry, statuses.get(entry.number), workflow.labels, source.gates),
    ),
    retrying: each(
      (entry) => entry.phase === 'retrying' && !isPaused(state, entry),
      (entry) => ({
        ...rowOf(slug, entry.number, entry.url, entry.title),
        attempt: entry.attempt,
        due_at: entry.retryAt === null ? null : iso(entry.retryAt),
        waits_for: reasonsByIssue.get(entry.number) ?? null,
        last_error: entry.lastError,
        branch: entry.branch,
      }),
    ),
    asking: each(
      (entry) => entry.phase === 'asking' && !isSettling(entry),
      (entry) => askingRow(slug, entry, workflow.follow.answerTimeoutMs, state.orders.get(entry.number) === 'pause'),
    ),
    following: each(
      (entry) => entry.phase === 'following' && !isSettling(entry),
      (entry) => ({
        ...rowOf(slug, entry.number, entry.url, entry.title),
        pull_request: entry.pullRequest,
        rounds: entry.follow?.rounds ?? 0,
        waits_for: source.follows.get(entry.number) ?? 'the next poll',
        awaits_person: entry.follow?.noticed ?? null,
        since: iso(entry.follow?.since ?? entry.claimedAt),
        branch: entry.branch,
      }),
    ),
    queued: queuedOf(waiting, paused, heldBack).map((one) => ({
      place: queuedPosition(one),
      row: () => ({
        ...rowOf(slug, one.number, one.url, one.title),
        ...{ reason: one.reason, held_back: one.isHeldBack, author: one.author, labels: one.labels },
      }),
    })),
    completed: state.completed.map((done) => ({
      place: [done.finishedAt, done.number],
      row: () => completedRow(slug, done),
    })),
  };
  return { slug, lists, reasons: reasonsOf(waiting, paused.length, heldBack.values()) };
}

/** Seconds that agents worked: what is told of one at work is not counted yet. */
function secondsOf({ state, statuses }: RepositoryView): number {
  const entries = [...state.entries.values()];
  // What an attempt has used is counted with its end, while what is told of it live stays for its publishing.
  const isCounted = (issue: number) => {
    const entry = state.entries.get(issue);
    return entry?.phase !== 'running' && !(entry !== undefined && isBeingReviewed(entry));
  };
  const runningNow = [...statuses].reduce((sum, [issue, one]) => sum + (isCounted(issue) ? 0 : one.used.seconds), 0);
  const counted = entries.reduce((sum, entry) => sum + entry.running.seconds, 0);
  return state.totals.seconds - counted + runningNow;
}

/** Numbers are those of a repository: among many, its rank tells two rows apart, for every coordinator alike. */
const MOST_REPOSITORIES = 10_000;

/** A view with the place of each of its rows: views of several coordinators become one by them. */
export type PlacedView = {
  readonly view: StateView;
  readonly places: Readonly<Record<ListName, readonly RowPosition[]>>;
};

/** One page of each list, the newest first. */
export function stateView(source: ViewSource | FleetView, page: Page = FIRST_PAGE): StateView {
  return placedView(source, page).view;
}

export function placedView(source: ViewSource | FleetView, page: Page = FIRST_PAGE): PlacedView {
  const fleet = 'repositories' in source ? source : null;
  const all: readonly RepositoryView[] = 'repositories' in source ? source.repositories : [source];
  const { workflow } = source;
  const parts = all.map(rowsOf);
  const placed = <Name extends ListName>(name: Name): readonly Placed<Lists[Name]>[] =>
    fleet === null
      ? parts.flatMap(({ lists }) => lists[name])
      : parts.flatMap(({ lists, slug }) => {
          const rank = fleet.rankOf(slug);
          return lists[name].map(({ place, row }) => ({ place: [place[0], place[1] * MOST_REPOSITORIES + rank], row }));
        });
  const shown = {
    running: cut('running', placed('running'), placeOf, page),
    retrying: cut('retrying', placed('retrying'), placeOf, page),
    asking: cut('asking', placed('asking'), placeOf, page),
    following: cut('following', placed('following'), placeOf, page),
    queued: cut('queued', placed('queued'), placeOf, page),
    completed: cut('completed', placed('completed'), placeOf, page),
  };
  const sum = (of: (one: RepositoryView) => number) => all.reduce((total, one) => total + of(one), 0);
  const length = (name: ListName) => parts.reduce((total, { lists }) => total + lists[name].length, 0);
  const ownFiles = ownFileRows(all);
  const reasons: Record<string, number> = {};
  for (const part of parts)
    for (const [code, count] of Object.entries(part.reasons)) reasons[code] = (reasons[code] ?? 0) + count;
  const view: StateView = {
    generated_at: iso(source.now),
    version: source.version,
    repository: fleet === null ? formatSlug(workflow.tracker.slug) : counted(all.length + fleet.broken.length),
    ...(fleet !== null && { repositories: repositoryRows(fleet, parts) }),
    workflow: {
      path: workflow.path,
      loaded_at: iso(source.loadedAt),
      error: source.workflowError,
      pending_restart: source.pendingRestart,
      follow: workflow.follow.until,
      ...(ownFiles.length > 0 && { own_files: ownFiles }),
    },
    counts: {
      running: length('running'),
      retrying: length('retrying'),
      asking: length('asking'),
      following: length('following'),
      queued: length('queued'),
      completed: sum(({ state }) => state.counts.done),
      failed: sum(({ state }) => state.counts.failed),
    },
    waiting: {
      reasons,
      postponed: sum(({ state }) => [...state.entries.values()].filter(({ stepError }) => stepError !== null).length),
    },
    slots: workflow.agent.maxConcurrent,
    ...queueView(source),
    running: shown.running.rows.map(({ row }) => row()),
    retrying: shown.retrying.rows.map(({ row }) => row()),
    asking: shown.asking.rows.map(({ row }) => row()),
    following: shown.following.rows.map(({ row }) => row()),
    queued: shown.queued.rows.map(({ row }) => row()),
    completed: shown.completed.rows.map(({ row }) => row()),
    next: {
      running: shown.running.next,
      retrying: shown.retrying.next,
      asking: shown.asking.next,
      following: shown.following.next,
      queued: shown.queued.next,
      completed: shown.completed.next,
    },
    more: {
      running: shown.running.more,
      retrying: shown.retrying.more,
      asking: shown.asking.more,
      following: shown.following.more,
      queued: shown.queued.more,
      completed: shown.completed.more,
    },
    poll: {
      ...pollOf(all, fleet),
      requests: sum((one) => one.stats.requests),
      not_modified: sum((one) => one.stats.notModified),
    },
    totals: {
      ...tokensOf({
        cost_usd: 0,
        turns: 0,
        input_tokens: sum((one) => one.state.totals.input_tokens),
        output_tokens: sum((one) => one.state.totals.output_tokens),
      }),
      cost_usd: dollars(sum(({ state }) => state.totals.cost_usd)),
      seconds_running: Math.round(sum(secondsOf) * 10) / 10,
    },
    budget: budgetView(workflow.agent.maxCostPerDayUsd, all, source.now, fleet?.spentOn),
    rate_limit: scarcest(all.map(({ rateLimit }) => rateLimit)),
    webhook: source.webhook && {
      last_delivery_at: source.webhook.lastAt === null ? null : iso(source.webhook.lastAt),
      deliveries: source.webhook.counts,
    },
  };
  const places = {
    running: shown.running.rows.map(placeOf),
    retrying: shown.retrying.rows.map(placeOf),
    asking: shown.asking.rows.map(placeOf),
    following: shown.following.rows.map(placeOf),
    queued: shown.queued.rows.map(placeOf),
    completed: shown.completed.rows.map(placeOf),
  };
  return { view, places };
}

function placeOf({ place }: Placed<unknown>): RowPosition {
  return place;
}
