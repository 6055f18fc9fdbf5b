// The daemon's state: what the journal says of every issue.

import type { TeamSummary } from '../../agents/rules/team-summary.ts';
import { NO_USAGE, type Usage } from '../../agents/rules/usage.ts';
import type { Evidence } from '../../gate/rules/evidence.ts';
import { type FinishedIssues, NO_FINISHED_ISSUES } from './finished-issues.ts';
import type { FollowState } from './follow.ts';
import type { Message, Question } from './message.ts';
import type { IssueOutcome, OpenPull, PullRequest, Touch } from './record.ts';
import type { ReviewState } from './review-state.ts';

/**
 * Where an issue stands.
 * `running`: an attempt is under way · `retrying`: waits for its next attempt · `asking`: waits for an answer of people ·
 * `publishing`: push, pull request, done label · `held_back`: publishing waits for another pull request of ours · `following`: the pull request is watched · `giving_up`: comment, failed label · `parked`: out of the
 * daemon's hands, its work kept for a resumption · `cancelling`: active labels come off, then it is parked ·
 * `reviving`: the active label is put on, then it is claimed.
 */
export const PHASES = [
  'claimed',
  'running',
  'retrying',
  'asking',
  'publishing',
  'held_back',
  'following',
  'giving_up',
  'parked',
  'cancelling',
  'reviving',
] as const;
export type Phase = (typeof PHASES)[number];

export type Entry = {
  readonly number: number;
  readonly title: string;
  readonly url: string;
  readonly life: number;
  readonly branch: string;
  readonly stateLabels: readonly string[];
  readonly labelEvent: number | null;
  readonly claimedAt: number;
  readonly phase: Phase;
  /** Attempts begun in this life. */
  readonly attempt: number;
  /** Attempts in a row that failed by themselves since the issue was (re)claimed. */
  readonly failures: number;
  /** Attempts in a row that the daemon's own end cut off. */
  readonly interruptions: number;
  /** Attempts in a row that found the runtime unable to work. */
  readonly outages: number;
  readonly run: AgentRun | null;
  readonly runtime: string | null;
  /** The directory the attempts work in, once there is one. */
  readonly workspace: string | null;
  readonly sessionId: string | null;
  readonly retryAt: number | null;
  readonly lastError: string | null;
  /** Why the step of publishing failed that is tried again; null when none is. */
  readonly stepError: string | null;
  /** How often an attempt of this life ended with its work handed in. */
  readonly handedIn: number;
  /** Why the work handed in last is not published; null: nothing keeps it, or it was handed in again. */
  readonly sentBack: string | null;
  readonly askedPullRequest: { readonly title: string; readonly body: string } | null;
  readonly askedDone: boolean;
  /** Last words of the attempt that handed work in last; null: none did. */
  readonly claim: string | null;
  /** The last question of an agent since the issue was (re)claimed; null: none was asked. */
  readonly question: Question | null;
  /** Version of the issue when its first attempt since the claim began, ISO 8601; empty: not known. */
  readonly version: string;
  /** Id of the last comment that was taken for a text to the agent. */
  readonly heard: number;
  readonly head: string | null;
  /** What was measured of the last commit that was to be published; null: nothing yet. */
  readonly evidence: Evidence | null;
  /** How often what failed in it went back to the agent since the issue was (re)claimed. */
  readonly rounds: number;
  /** Its place among changes of the same serialized paths; null: not worked out since the issue was (re)claimed. */
  readonly serial: SerialState | null;
  /** The review of this claim's work; null: there was none yet. */
  readonly review: ReviewState | null;
  readonly pullRequest: PullRequest | null;
  /** Since the pull request was first followed; null: it is not. */
  readonly follow: FollowState | null;
  /** Commits this daemon pushed to the branch. */
  readonly pushed: readonly string[];
  /** Keys of effects of this claim, with whether they are finished. */
  readonly effects: Readonly<Record<string, 'started' | 'finished'>>;
  /** Of all ended attempts of this life. */
  readonly spent: Usage;
  /** Of the attempt that runs. */
  readonly running: Usage;
  /** The team of the last attempt that had one; what it is while it works is not written down. */
  readonly team: TeamSummary | null;
  readonly finished: { readonly outcome: IssueOutcome; readonly updatedAt: string; readonly at: number } | null;
};

export type SerialState = {
  /** The commit for which it was worked out. */
  readonly sha: string;
  /** One path for each glob. */
  readonly touched: readonly Touch[];
  /** Others that touch the same wait for it. It ends with the phases in which the issue is worked on. */
  readonly goesFirst: boolean;
  /** An operator lets it go on whatever others touch. */
  readonly isHurried: boolean;
  /** It has waited, and has not taken in the base since. */
  readonly isBehind: boolean;
  /** How often conflicts with that base went back to the agent. */
  readonly rounds: number;
  /** What the agent is told of the last ones; null: there are none. */
  readonly told: string | null;
  /** When it was held back last, ms since the epoch. */
  readonly since: number;
};

/** One process of an agent, known by an id that it and all it starts carry in their environment. */
export type AgentRun = {
  readonly id: string;
  readonly attempt: number;
  readonly startedAt: number;
  readonly pid: number | null;
};

export type Completed = {
  readonly number: number;
  readonly title: string;
  readonly url: string;
  readonly life: number;
  readonly outcome: IssueOutcome;
  readonly attempts: number;
  readonly branch: string;
  readonly pullRequest: PullRequest | null;
  readonly reason: string | null;
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly spent: Usage;
  /** The team that worked on it. Null: one agent did, or it is not among the last TEAMS_KEPT. */
  readonly team: TeamSummary | null;
};

export type Cleanup = {
  readonly directory: string;
  readonly branch: string;
  /** What was saved of it, in lines that the issue is still to be told. */
  readonly saved: readonly string[];
};

/** `pause`: no attempt starts before a resumption · `cancel`: the attempt under way ends, then the work. */
export type StandingOrder = 'pause' | 'cancel';

export type DaemonState = {
  readonly entries: ReadonlyMap<number, Entry>;
  /** What an operator ordered, by issue; an issue without an entry can be paused, too. */
  readonly orders: ReadonlyMap<number, StandingOrder>;
  /** What people wrote and no agent was given yet, by issue; an issue without an entry can have some, too. */
  readonly messages: ReadonlyMap<number, readonly Message[]>;
  readonly past: FinishedIssues;
  /** Pull requests that somebody may wait for, by number: those that touch serialized paths, and those that were followed. */
  readonly open: ReadonlyMap<number, OpenPull>;
  /** Globs by which pull requests of earlier times were looked for. */
  readonly surveyed: readonly string[];
  /** Workspaces to remove, by issue. */
  readonly cleanups: ReadonlyMap<number, Cleanup>;
  /** The newest last, at most COMPLETED_KEPT. */
  readonly completed: readonly Completed[];
  readonly counts: Readonly<Record<IssueOutcome, number>>;
  readonly totals: Usage;
  /** Cost of one UTC day, for the daily cap. */
  readonly today: { readonly day: string; readonly cost_usd: number };
};

const COMPLETED_KEPT = 100;
const TEAMS_KEPT = 20;

/** The rows with one more; the oldest go, and the oldest teams. */
export function withCompleted(rows: readonly Completed[], row: Completed): readonly Completed[] {
  const kept = [...rows, row].slice(-COMPLETED_KEPT);
  const [oldest, ...others] = kept.filter(({ team }) => team !== null);
  if (oldest === undefined || others.length < TEAMS_KEPT) return kept;
  return kept.map((one) => (one === oldest ? { ...one, team: null } : one));
}

export const EMPTY_STATE: DaemonState = {
  entries: new Map(),
  orders: new Map(),
  messages: new Map(),
  past: NO_FINISHED_ISSUES,
  open: new Map(),
  surveyed: [],
  cleanups: new Map(),
  completed: [],
  counts: { done: 0, failed: 0, label_removed: 0, closed: 0 },
  totals: NO_USAGE,
  today: { day: '', cost_usd: 0 },
};

export function withEntry(state: DaemonState, entry: Entry): DaemonState {
  return { ...state, entries: new Map(state.entries).set(entry.number, entry) };
}

export function utcDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** Begin of the next day (UTC), ms since the epoch. */
export function dayAfter(at: number): number {
  return (Math.floor(at / 86_400_000) + 1) * 86_400_000;
}

/** What agents have cost on a day (UTC), US dollars. */
export function spentOn({ today }: DaemonState, day: string): number {
  return today.day === day ? today.cost_usd : 0;
}

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cost_usd: a.cost_usd + b.cost_usd,
    turns: a.turns + b.turns,
    seconds: a.seconds + b.seconds,
  };
}

/** What was used beyond `before`. */
export function usageSince(now: Usage, before: Usage): Usage {
  const less = (a: number, b: number) => Math.max(0, a - b);
  return {
    input_tokens: less(now.input_tokens, before.input_tokens),
    output_tokens: less(now.output_tokens, before.output_tokens),
    cost_usd: less(now.cost_usd, before.cost_usd),
    turns: less(now.turns, before.turns),
    seconds: less(now.seconds, before.seconds),
  };
}

/** All that an issue used in this life, the attempt under way included. */
export function spentOf(entry: Entry): Usage {
  return addUsage(entry.spent, entry.running);
}
