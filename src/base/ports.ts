// The ports of the engine: types of all that it needs from outside.

import type { JournalRecord, PullRequest } from '../daemon/rules/record.ts';
import type { DaemonState } from '../daemon/rules/state.ts';
import type { Actor, Issue } from '../daemon/rules/issue.ts';
import type { Stored } from './rules/stored-record.ts';
import type { GateResult, QualitySettings } from '../gate/rules/quality.ts';
import type { TeamRecord } from '../team/rules/log/record.ts';
import type { TeamState } from '../team/rules/log/state.ts';
import type { TeamSummary } from '../daemon/rules/team-summary.ts';
import type { Usage } from '../agents/rules/usage.ts';

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds since some moment; never set, never backwards. For everything that measures how long something takes. */
  elapsed(): number;
  /** Resolves after `ms`, or at once when the signal is aborted; never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export type LogSource = 'serve' | 'poller' | 'workspace' | 'hook' | 'agent' | 'publish' | 'workflow' | 'http' | 'desk';
export type LogLevel = 'info' | 'warn' | 'error';
export type LogFields = Readonly<Record<string, string | number | boolean | null>>;

export interface Logger {
  log(level: LogLevel, source: LogSource, message: string, fields?: LogFields): void;
}

/** The daemon's journal with the state folded from it. */
export interface Journal {
  readonly state: DaemonState;
  /** Appends one record and folds it; resolves when it is on disk. The state is new as soon as the call returns. */
  append(record: JournalRecord): Promise<Stored<JournalRecord>>;
  close(): Promise<void>;
}

/** What became of a record: `refusal` says why it does not count where it stands. */
export type Appended = { readonly id: string; readonly at: number; readonly refusal: string | null };

/** One team's log with the state folded from it. */
export interface TeamLog {
  readonly state: TeamState;
  /** Takes in what others have written since. */
  refresh(): void;
  /** Appends one record and folds up to it; resolves when it is on disk, or with `flush: false` when it is in the file. */
  append(record: TeamRecord, options?: { readonly flush?: boolean }): Promise<Appended>;
  close(): Promise<void>;
}

/** Keys that tell who asks where nothing else does. */
export interface Keys {
  create(): { readonly key: string; readonly hash: string };
  hash(key: string): string;
}

/** The project's files as they stand. */
export interface WorkTree {
  /** The commit that is checked out; null: there is none. */
  head(): Promise<string | null>;
  /** A Git tree id of the work tree, untracked files included; null when it cannot be told. */
  tree(): Promise<string | null>;
  /** Paths in which two trees differ; null when one of them is gone. */
  changed(from: string, to: string): Promise<readonly string[] | null>;
}

/** What measures finished work. */
export interface Checks {
  /**
   * Measures the work tree as it stands; a tree that has passed with the same settings is not measured again. One measures at a
   * time: throws `BusyError` where others did for as long as could be waited.
   * @param since when who asks began to wait for something else, ms since the epoch; it counts as waited
   */
  run(settings: QualitySettings, signal: AbortSignal, since?: number): Promise<GateResult>;
  /** Required parts of the gate that nothing can measure, a line each, with what a person does about it. Nothing is measured. */
  missing(settings: QualitySettings): Promise<readonly string[]>;
}

/** What came of waiting for a turn; `holder`: who was still at it, in words. */
export type Taken<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly holder: string };

/** One after the other, over all processes that have to do with a team. */
export interface Turn {
  /** Acts while nobody else is at it. Waits for that, but not without end: then nothing is done. */
  take<T>(team: string, act: () => Promise<T>): Promise<Taken<T>>;
}

/** The teams of a project. */
export interface Teams {
  /** Names of those that have a log and were not archived. */
  list(): readonly string[];
  /** undefined when there is no log of that name. */
  open(team: string): TeamLog | undefined;
  /** Opens the log, which is begun when it is not there. */
  begin(team: string): TeamLog;
  /** Puts the log away, and gives where. */
  archive(team: string): string;
}

export type RateLimit = {
  readonly limit: number | null;
  readonly remaining: number | null;
  /** ISO 8601. */
  readonly reset_at: string | null;
  /** Until when the service asked us to stay away, ISO 8601. */
  readonly paused_until: string | null;
  readonly reason: string | null;
};

export type LabelEvent = { readonly id: number; readonly actor: Actor | null };
export type IssueComment = { readonly author: Actor | null; readonly body: string; readonly createdAt: string };

export type PollStats = { readonly requests: number; readonly notModified: number };

export interface Tracker {
  /**
   * Open issues that carry any active label, pull requests left out, oldest first, without their texts. What went away is
   * shown for a while; at first, only the oldest may be shown. The same array is given again while nothing changed.
   */
  listActive(labels: readonly string[], signal: AbortSignal): Promise<readonly Issue[]>;
  /** Reads what `listActive` has not read yet, or not for a while; gives the list then, null when there was nothing to read. */
  listRest(signal: AbortSignal): Promise<readonly Issue[] | null>;
  /** null when the issue does not exist (any more). */
  readIssue(issue: number, signal: AbortSignal): Promise<Issue | null>;
  /** Who put the label on last; null when the service knows no such event. */
  readLabelEvent(issue: number, label: string, signal: AbortSignal): Promise<LabelEvent | null>;
  mayWrite(actor: Actor, signal: AbortSignal): Promise<boolean>;
  readComments(issue: number, signal: AbortSignal): Promise<readonly IssueComment[]>;
  /** Posts a comment that carries `marker` invisibly. */
  addComment(issue: number, body: string, marker: string, signal: AbortSignal): Promise<void>;
  /** Whether a comment with this marker stands there already. */
  hasComment(issue: number, marker: string, signal: AbortSignal): Promise<boolean>;
  addLabel(issue: number, label: string, signal: AbortSignal): Promise<void>;
  /** Done as well when the label is not there. */
  removeLabel(issue: number, label: string, signal: AbortSignal): Promise<void>;
  findPullRequest(branch: string, signal: AbortSignal): Promise<PullRequest | null>;
  createPullRequest(
    request: {
      readonly branch: string;
      readonly base: string;
      readonly title: string;
      readonly body: string;
      readonly draft: boolean;
    },
    signal: AbortSignal,
  ): Promise<PullRequest>;
  readonly rateLimit: RateLimit;
  readonly stats: PollStats;
}

export type HookName = 'after_create' | 'before_run' | 'after_run' | 'before_remove';

export type Place = { readonly path: string; readonly created: boolean };

export type WorkspaceTask = {
  readonly issue: number;
  readonly life: number;
  readonly attempt: number;
  readonly branch: string;
  /** Variables for the hooks, beside the daemon's own environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Takes what hooks print. */
  readonly output: (text: string) => void;
};

/** What an attempt left in the workspace. */
export type Work = {
  /** The commit to publish; null when nothing was committed that changes anything. */
  readonly head: string | null;
  /** The ref under which uncommitted changes were saved; null when there were none. */
  readonly savedAs: string | null;
};

/** Work of an issue that is published nowhere, by where it lies. */
export type KeptWork = {
  /** The workspace, and what was set aside of earlier ones. */
  readonly directories: readonly string[];
  /** In the workspace: `branch <name>`, or `commit <hash>` where no branch stands on it. */
  readonly heads: readonly string[];
  /** In the daemon's copy of the repository. */
  readonly refs: readonly string[];
};

export interface Workspaces {
  /** Where the issue's workspace is or will be. */
  pathOf(issue: number): string;
  /** Brings the daemon's own copy of the repository up to date. What fails here lies outside of every workspace. */
  refresh(signal: AbortSignal): Promise<void>;
  /** The repository may have changed: the next refresh takes nothing that was asked for before. */
  outdate(): void;
  /** Makes so many ready that issues can be given at once, and keeps no more; none where the file has a script that fills them. */
  stock(count: number, signal: AbortSignal): Promise<void>;
  /** Makes the directory, or takes the complete one that is there; a half-made one is thrown away first. */
  prepare(task: WorkspaceTask, signal: AbortSignal): Promise<Place>;
  /** Fills a new workspace: the file's script, or a clone. */
  afterCreate(task: WorkspaceTask, signal: AbortSignal): Promise<void>;
  /** Marks the workspace complete; from here on it is reused. */
  complete(task: WorkspaceTask, signal: AbortSignal): Promise<void>;
  /** Brings the workspace up to date with the default branch, by the file's script or by itself, and puts it on the issue's branch. */
  beforeRun(task: WorkspaceTask, signal: AbortSignal): Promise<void>;
  /** False when the file has no such script. */
  afterRun(task: WorkspaceTask, signal: AbortSignal): Promise<boolean>;
  beforeRemove(task: WorkspaceTask, signal: AbortSignal): Promise<boolean>;
  /** The commit that would be published now; nothing of the clone's own is run, so an agent may be at work in it. */
  peek(task: WorkspaceTask, signal: AbortSignal): Promise<string | null>;
  /** What the attempt left; where nothing was committed, changes that are not are saved. */
  collect(task: WorkspaceTask, signal: AbortSignal): Promise<Work>;
  /** Pushes `sha` to the one branch; done as well when it is there. Commits that are neither `ours` nor ancestors are not overwritten. */
  push(task: WorkspaceTask, sha: string, ours: readonly string[], signal: AbortSignal): Promise<void>;
  /** The repository's default branch. */
  defaultBranch(signal: AbortSignal): Promise<string>;
  /** The repository's pull-request template on its default branch. */
  pullRequestTemplate(signal: AbortSignal): Promise<string | null>;
  /** The messages of the commits that `sha` has beyond the default branch, oldest first. */
  commitMessages(task: WorkspaceTask, sha: string, signal: AbortSignal): Promise<readonly string[]>;
  /** Removes the directory. What is published nowhere is saved before, and `tell` gets a line for each thing. */
  remove(task: WorkspaceTask, signal: AbortSignal, tell?: (saved: readonly string[]) => Promise<void>): Promise<void>;
  /** Where the work of an issue's life lies that is published nowhere. No agent may be at work in it. */
  kept(task: WorkspaceTask, signal: AbortSignal): Promise<KeptWork>;
  /** Drops saved work that is older than the workflow keeps it; gives how many refs. */
  expireSaved(): Promise<number>;
  /** Removes copies of large files that the server has and that were unused for long. */
  pruneLfs(signal: AbortSignal): Promise<{ readonly count: number; readonly bytes: number }>;
}

/** What a runner reports while an agent works. */
export type AgentEvent =
  | { readonly type: 'session'; readonly sessionId: string }
  | { readonly type: 'message'; readonly text: string }
  /** `limitMs`: the tool's own limit, where it states one. */
  | { readonly type: 'tool_started'; readonly id: string; readonly name: string; readonly limitMs: number | null }
  | { readonly type: 'tool_ended'; readonly id: string }
  /** All that the attempt used so far. */
  | { readonly type: 'usage'; readonly usage: Omit<Usage, 'seconds'> }
  /** The team that works on it, as it stands now. */
  | { readonly type: 'team'; readonly team: TeamSummary }
  /** What belongs into the daemon's own log. */
  | { readonly type: 'log'; readonly level: LogLevel; readonly text: string }
  /** Any other life sign. */
  | { readonly type: 'activity'; readonly name: string };

export type RunRequest = {
  /** The mark that the agent and all it starts carry in their environment. */
  readonly run: string;
  readonly issue: number;
  readonly attempt: number;
  readonly cwd: string;
  readonly prompt: string;
  /** The issue's own words: its title, then its body. */
  readonly issueText: string;
  /** How often the issue has come up for work, from 1. */
  readonly life: number;
  /** The session of an earlier attempt to go on with. */
  readonly resume: string | null;
  /** What this attempt may cost at most, US dollars. */
  readonly budgetUsd: number | null;
  /** Variables for the agent beside the runner's own. */
  readonly env: Readonly<Record<string, string>>;
};

export type RunHooks = {
  /** Called as soon as the process runs; the runner waits for it before it hands over the prompt. */
  readonly onStarted: (pid: number) => Promise<void>;
  readonly onEvent: (event: AgentEvent) => void;
  /** Takes what the agent says and does, for people to read. */
  readonly output: (text: string) => void;
  /** After a turn that ended well: the next prompt, or null to end the session. */
  readonly nextTurn: () => Promise<string | null>;
  /** Ends the agent's process group: SIGTERM, then SIGKILL. */
  readonly signal: AbortSignal;
};

export type RunEnd =
  | { readonly ok: true /** The agent's last words. */; readonly words: string }
  | {
      readonly ok: false;
      readonly words: string;
      /** `agent`: it failed · `runtime`: it could not work at all (no program, no login, its service down). */
      readonly fault: 'agent' | 'runtime';
      /** Whether a later attempt may go on with the session. */
      readonly resumable: boolean;
    };

export interface Runner {
  readonly name: string;
  run(request: RunRequest, hooks: RunHooks): Promise<RunEnd>;
}

/** What stays of earlier processes of the daemon. */
export interface Leftovers {
  /** Ends every process of a run; gives how many there were. */
  end(run: string): Promise<number>;
}

/** Where an attempt's output is kept for people to read. */
export interface Transcripts {
  open(issue: number, life: number, attempt: number): Transcript;
  /** Removes what is kept of the issue but its transcripts. */
  forget(issue: number): Promise<void>;
}

export interface Transcript {
  write(text: string): void;
  close(): void;
}

/** What an agent asks of the daemon. */
export type DeskRequest =
  | { readonly type: 'show'; readonly issue: number }
  | { readonly type: 'comment'; readonly issue: number; readonly body: string }
  | { readonly type: 'done'; readonly issue: number }
  | { readonly type: 'pull_request'; readonly title: string; readonly body: string };

/** Answers one request of the agent; a refusal is a rejected ToolError. */
export type DeskHandler = (request: DeskRequest, signal: AbortSignal) => Promise<Readonly<Record<string, unknown>>>;

export interface Desk {
  /** Opens a desk for one attempt; the environment names it to the agent. */
  open(handler: DeskHandler): Promise<{ readonly env: Readonly<Record<string, string>>; close(): Promise<void> }>;
}
