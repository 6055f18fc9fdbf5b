// The daemon's state: a pure fold over its journal. A record that is not valid at its place changes nothing.

import { assertNever } from '../errors.ts';
import type { Stored } from '../log.ts';
import type { IssueOutcome, JournalRecord, PullRequest, Usage } from './record.ts';
import { NO_USAGE } from './record.ts';

/**
 * Where an issue stands.
 * `running`: an attempt is under way · `retrying`: waits for its next attempt · `publishing`: push, pull request,
 * done label · `giving_up`: comment, failed label · `parked`: out of the daemon's hands, its work kept for a resumption.
 */
export type Phase = 'claimed' | 'running' | 'retrying' | 'publishing' | 'giving_up' | 'parked';

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
  readonly run: Run | null;
  readonly runtime: string | null;
  /** The directory the attempts work in, once there is one. */
  readonly workspace: string | null;
  readonly sessionId: string | null;
  readonly retryAt: number | null;
  readonly lastError: string | null;
  readonly askedPullRequest: { readonly title: string; readonly body: string } | null;
  readonly askedDone: boolean;
  readonly head: string | null;
  readonly pullRequest: PullRequest | null;
  /** Commits this daemon pushed to the branch. */
  readonly pushed: readonly string[];
  /** Keys of effects of this claim, with whether they are finished. */
  readonly effects: Readonly<Record<string, 'started' | 'finished'>>;
  /** Of all ended attempts of this life. */
  readonly spent: Usage;
  /** Of the attempt that runs. */
  readonly running: Usage;
  readonly finished: { readonly outcome: IssueOutcome; readonly updatedAt: string; readonly at: number } | null;
};

/** One process of an agent, known by an id that it and all it starts carry in their environment. */
export type Run = {
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
};

/** What is remembered of an issue that is over: enough to know a new life from an old listing. */
export type Past = {
  readonly life: number;
  readonly labelEvent: number | null;
  readonly updatedAt: string;
  readonly outcome: IssueOutcome;
};

export type DaemonState = {
  readonly entries: ReadonlyMap<number, Entry>;
  readonly past: ReadonlyMap<number, Past>;
  /** Workspaces to remove: issue → directory. */
  readonly cleanups: ReadonlyMap<number, string>;
  /** The newest last, at most COMPLETED_KEPT. */
  readonly completed: readonly Completed[];
  readonly counts: Readonly<Record<IssueOutcome, number>>;
  readonly totals: Usage;
  /** Cost of one UTC day, for the daily cap. */
  readonly today: { readonly day: string; readonly cost_usd: number };
};

export const COMPLETED_KEPT = 100;

export const EMPTY_STATE: DaemonState = {
  entries: new Map(),
  past: new Map(),
  cleanups: new Map(),
  completed: [],
  counts: { done: 0, failed: 0, label_removed: 0, closed: 0 },
  totals: NO_USAGE,
  today: { day: '', cost_usd: 0 },
};

export function utcDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

function addUsage(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cost_usd: a.cost_usd + b.cost_usd,
    turns: a.turns + b.turns,
    seconds: a.seconds + b.seconds,
  };
}

/** All that an issue used in this life, the attempt under way included. */
export function spentOf(entry: Entry): Usage {
  return addUsage(entry.spent, entry.running);
}

function withEntry(state: DaemonState, entry: Entry): DaemonState {
  return { ...state, entries: new Map(state.entries).set(entry.number, entry) };
}

function change(state: DaemonState, issue: number, update: (entry: Entry) => Entry | undefined): DaemonState {
  const entry = state.entries.get(issue);
  const next = entry === undefined ? undefined : update(entry);
  return next === undefined ? state : withEntry(state, next);
}

function claim(state: DaemonState, record: Stored<Extract<JournalRecord, { type: 'claimed' }>>): DaemonState {
  const earlier = state.entries.get(record.issue);
  if (earlier !== undefined && earlier.phase !== 'parked') return state;
  const resumed = earlier !== undefined && earlier.life === record.life;
  const fresh: Entry = {
    number: record.issue,
    title: record.title,
    url: record.url,
    life: record.life,
    branch: record.branch,
    stateLabels: record.state_labels,
    labelEvent: record.label_event,
    claimedAt: record.at,
    phase: 'claimed',
    attempt: resumed ? earlier.attempt : 0,
    failures: 0,
    interruptions: 0,
    outages: 0,
    run: null,
    runtime: resumed ? earlier.runtime : null,
    workspace: resumed ? earlier.workspace : (state.cleanups.get(record.issue) ?? earlier?.workspace ?? null),
    sessionId: resumed ? earlier.sessionId : null,
    retryAt: null,
    lastError: resumed ? earlier.lastError : null,
    askedPullRequest: null,
    askedDone: false,
    head: null,
    pullRequest: resumed ? earlier.pullRequest : null,
    pushed: resumed ? earlier.pushed : [],
    effects: {},
    spent: resumed ? earlier.spent : NO_USAGE,
    running: NO_USAGE,
    finished: null,
  };
  const cleanups = new Map(state.cleanups);
  cleanups.delete(record.issue);
  return { ...withEntry(state, fresh), cleanups };
}

function addCost(state: DaemonState, at: number, added: Usage): DaemonState {
  const day = utcDay(at);
  const before = state.today.day === day ? state.today.cost_usd : 0;
  return { ...state, totals: addUsage(state.totals, added), today: { day, cost_usd: before + added.cost_usd } };
}

function difference(now: Usage, before: Usage): Usage {
  const less = (a: number, b: number) => Math.max(0, a - b);
  return {
    input_tokens: less(now.input_tokens, before.input_tokens),
    output_tokens: less(now.output_tokens, before.output_tokens),
    cost_usd: less(now.cost_usd, before.cost_usd),
    turns: less(now.turns, before.turns),
    seconds: less(now.seconds, before.seconds),
  };
}

function useMore(state: DaemonState, issue: number, at: number, usage: Usage): DaemonState {
  const entry = state.entries.get(issue);
  if (entry === undefined || entry.phase !== 'running') return state;
  return addCost(withEntry(state, { ...entry, running: usage }), at, difference(usage, entry.running));
}

function endAttempt(
  state: DaemonState,
  record: Stored<Extract<JournalRecord, { type: 'attempt_ended' }>>,
): DaemonState {
  const used = useMore(state, record.issue, record.at, record.usage);
  return change(used, record.issue, (entry) => {
    if (entry.phase !== 'running') return undefined;
    const { outcome } = record;
    const failed = outcome === 'failed' || outcome === 'stalled' || outcome === 'timed_out';
    const phases = { publish: 'publishing', retry: 'retrying', give_up: 'giving_up', stop: 'claimed' } as const;
    return {
      ...entry,
      phase: phases[record.next],
      run: null,
      spent: addUsage(entry.spent, entry.running),
      running: NO_USAGE,
      failures: failed ? entry.failures + 1 : entry.failures,
      interruptions: outcome === 'interrupted' ? entry.interruptions + 1 : 0,
      outages: outcome === 'unavailable' ? entry.outages + 1 : 0,
      retryAt: record.retry_at,
      lastError: record.outcome === 'succeeded' ? null : record.reason,
      head: record.head,
      askedPullRequest: record.next === 'publish' ? entry.askedPullRequest : null,
      askedDone: record.next === 'publish' && entry.askedDone,
    };
  });
}

function failToPublish(entry: Entry, record: Extract<JournalRecord, { type: 'publish_failed' }>): Entry | undefined {
  if (entry.phase !== 'publishing' && entry.phase !== 'giving_up') return undefined;
  const failed: Entry = { ...entry, lastError: record.reason, retryAt: record.retry_at };
  if (record.next === 'again') return failed;
  // What the branch lacks is the agent's to mend: this counts as a failed attempt.
  return {
    ...failed,
    failures: entry.failures + 1,
    head: null,
    phase: record.next === 'retry' ? 'retrying' : 'giving_up',
  };
}

function finishEffect(state: DaemonState, record: Extract<JournalRecord, { type: 'effect_finished' }>): DaemonState {
  if (record.effect === 'workspace_remove') {
    const cleanups = new Map(state.cleanups);
    cleanups.delete(record.issue);
    return change({ ...state, cleanups }, record.issue, (entry) => ({ ...entry, workspace: null }));
  }
  return change(state, record.issue, (entry) => {
    const next: Entry = { ...entry, effects: { ...entry.effects, [record.key]: 'finished' } };
    const { result } = record;
    switch (record.effect) {
      case 'agent':
        return entry.run === null || typeof result.pid !== 'number'
          ? next
          : { ...next, run: { ...entry.run, pid: result.pid } };
      case 'push':
        return typeof result.sha === 'string'
          ? { ...next, pushed: [...entry.pushed.filter((sha) => sha !== result.sha), result.sha].slice(-20) }
          : next;
      case 'pull_request': {
        const { number, url } = result;
        return typeof number === 'number' && typeof url === 'string' ? { ...next, pullRequest: { number, url } } : next;
      }
      case 'workspace':
      case 'hook':
      case 'comment':
      case 'label_add':
      case 'label_remove':
      case 'workspace_remove':
        return next;
      default:
        return assertNever(record.effect);
    }
  });
}

function finish(state: DaemonState, record: Stored<Extract<JournalRecord, { type: 'finished' }>>): DaemonState {
  const entry = state.entries.get(record.issue);
  if (entry === undefined) return state;
  const over = record.outcome === 'done' || record.outcome === 'closed';
  if (entry.phase === 'parked' && !over) return state;
  const entries = new Map(state.entries);
  const cleanups = new Map(state.cleanups);
  const past = new Map(state.past);
  if (over) {
    entries.delete(record.issue);
    past.set(record.issue, {
      life: entry.life,
      labelEvent: entry.labelEvent,
      updatedAt: record.updated_at,
      outcome: record.outcome,
    });
    if (entry.workspace !== null) cleanups.set(record.issue, entry.workspace);
  } else {
    const spent = spentOf(entry);
    entries.set(record.issue, {
      ...entry,
      phase: 'parked',
      run: null,
      retryAt: null,
      spent,
      running: NO_USAGE,
      effects: {},
      finished: { outcome: record.outcome, updatedAt: record.updated_at, at: record.at },
    });
  }
  const row: Completed = {
    number: entry.number,
    title: entry.title,
    url: entry.url,
    life: entry.life,
    outcome: record.outcome,
    attempts: entry.attempt,
    branch: entry.branch,
    pullRequest: entry.pullRequest,
    reason: entry.lastError,
    startedAt: entry.claimedAt,
    finishedAt: record.at,
    spent: spentOf(entry),
  };
  // A parked issue that is closed later is over without having been worked on again: no second row.
  const rows = entry.phase === 'parked' ? state.completed : [...state.completed, row].slice(-COMPLETED_KEPT);
  const counts =
    entry.phase === 'parked' ? state.counts : { ...state.counts, [record.outcome]: state.counts[record.outcome] + 1 };
  return { ...state, entries, cleanups, past, completed: rows, counts };
}

/** One step of the fold. Total: any record on any state gives a state. */
export function fold(state: DaemonState, record: Stored<JournalRecord>): DaemonState {
  switch (record.type) {
    case 'claimed':
      return claim(state, record);
    case 'attempt_started':
      return change(state, record.issue, (entry) =>
        (entry.phase === 'claimed' || entry.phase === 'retrying') && record.attempt > entry.attempt
          ? {
              ...entry,
              phase: 'running',
              attempt: record.attempt,
              run: { id: record.run, attempt: record.attempt, startedAt: record.at, pid: null },
              runtime: record.runtime,
              workspace: record.workspace,
              retryAt: null,
              askedPullRequest: null,
              askedDone: false,
              running: NO_USAGE,
            }
          : undefined,
      );
    case 'effect_started':
      return change(state, record.issue, (entry) => ({
        ...entry,
        effects: { ...entry.effects, [record.key]: 'started' },
      }));
    case 'effect_finished':
      return finishEffect(state, record);
    case 'effect_failed':
      return change(state, record.issue, (entry) => {
        const { [record.key]: _, ...effects } = entry.effects;
        return { ...entry, effects };
      });
    case 'session':
      return change(state, record.issue, (entry) => ({ ...entry, sessionId: record.session_id }));
    case 'usage':
      return useMore(state, record.issue, record.at, record.usage);
    case 'asked_pull_request':
      return change(state, record.issue, (entry) =>
        entry.phase === 'running'
          ? { ...entry, askedPullRequest: { title: record.title, body: record.body } }
          : undefined,
      );
    case 'asked_done':
      return change(state, record.issue, (entry) =>
        entry.phase === 'running' ? { ...entry, askedDone: true } : undefined,
      );
    case 'attempt_ended':
      return endAttempt(state, record);
    case 'publish_failed':
      return change(state, record.issue, (entry) => failToPublish(entry, record));
    case 'finished':
      return finish(state, record);
    case 'snapshot':
      return state;
    default:
      return assertNever(record);
  }
}

/** The state as plain JSON. What is kept of every issue that is over is packed: there may be tens of thousands. */
export type FrozenState = Omit<DaemonState, 'entries' | 'past' | 'cleanups'> & {
  entries: Entry[];
  past: [number: number, life: number, labelEvent: number | null, updatedAt: string, outcome: IssueOutcome][];
  cleanups: [number, string][];
};

/** For a snapshot record. */
export function freezeState(state: DaemonState): FrozenState {
  return {
    ...state,
    entries: [...state.entries.values()],
    past: [...state.past].map(([number, past]) => [number, past.life, past.labelEvent, past.updatedAt, past.outcome]),
    cleanups: [...state.cleanups],
  };
}

/** The inverse of `freezeState`. */
export function thawState(frozen: FrozenState): DaemonState {
  return {
    ...frozen,
    entries: new Map(frozen.entries.map((entry) => [entry.number, entry])),
    past: new Map(
      frozen.past.map(([number, life, labelEvent, updatedAt, outcome]) => [
        number,
        { life, labelEvent, updatedAt, outcome },
      ]),
    ),
    cleanups: new Map(frozen.cleanups),
  };
}
