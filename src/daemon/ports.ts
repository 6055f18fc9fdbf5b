// Ports of the daemon: journal, tracker, workspaces, leftover processes, outputs of attempts, requests of agents (types only).

import type { Stored } from '../base/rules/stored-record.ts';
import type { Evidence } from '../gate/rules/evidence.ts';
import type { Link, LinkedIssue } from './rules/blockers.ts';
import type { Actor, Issue } from './rules/issue.ts';
import type {
  Check,
  CheckFailure,
  PullRequestStatus,
  ReadChecks,
  Remark,
  Review,
  ReviewThread,
} from './rules/pull-request-status.ts';
import type { JournalRecord, PullRequest } from './rules/record.ts';
import type { DaemonState, Entry } from './rules/state.ts';
import type { Workflow } from './rules/workflow.ts';

/** The daemon's journal with the state folded from it. */
export interface Journal {
  readonly state: DaemonState;
  /** Appends one record and folds it; resolves when it is on disk. The state is new as soon as the call returns. */
  append(record: JournalRecord): Promise<Stored<JournalRecord>>;
  close(): Promise<void>;
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

/** `id` grows with every event. */
export type LabelEvent = { readonly id: number; readonly actor: Actor | null };

export type IssueComment = {
  /** Grows with every comment. */
  readonly id: number;
  readonly author: Actor | null;
  readonly body: string;
  /** ISO 8601. */
  readonly createdAt: string;
};

export type NewPullRequest = {
  readonly branch: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
  readonly draft: boolean;
};

export type PollStats = { readonly requests: number; readonly notModified: number };

export type PollInfo = {
  readonly lastAt: number | null;
  readonly nextAt: number | null;
  readonly lastError: string | null;
  /** Pause between two polls as it is now. */
  readonly intervalMs: number;
};

export interface Tracker {
  /**
   * Open issues that carry any active label, pull requests left out, oldest first, without their texts. What went away is
   * shown for a while; at first, only the oldest may be shown, and the oldest of those that carry a label of `urgent` too.
   * The same array is given again while nothing changed.
   */
  listActive(labels: readonly string[], signal: AbortSignal, urgent?: readonly string[]): Promise<readonly Issue[]>;
  /** Reads what `listActive` has not read yet, or not for a while; gives the list then, null when there was nothing to read. */
  listRest(signal: AbortSignal): Promise<readonly Issue[] | null>;
  /** null when the issue does not exist (any more). A pull request is read as an issue. */
  readIssue(issue: number, signal: AbortSignal): Promise<Issue | null>;
  /** Dependencies or sub-issues of an issue that this account may see, open and closed ones, of any repository. */
  readLinks(issue: number, link: Link, signal: AbortSignal): Promise<readonly LinkedIssue[]>;
  /** Who put the label on last; null when the service knows no such event. */
  readLabelEvent(issue: number, label: string, signal: AbortSignal): Promise<LabelEvent | null>;
  mayWrite(actor: Actor, signal: AbortSignal): Promise<boolean>;
  /** Oldest first. */
  readComments(issue: number, signal: AbortSignal): Promise<readonly IssueComment[]>;
  /** Posts a comment that carries `marker` invisibly. */
  addComment(issue: number, body: string, marker: string, signal: AbortSignal): Promise<void>;
  /** Whether a comment with this marker stands there already. */
  hasComment(issue: number, marker: string, signal: AbortSignal): Promise<boolean>;
  addLabel(issue: number, label: string, signal: AbortSignal): Promise<void>;
  /** Done as well when the label is not there. */
  removeLabel(issue: number, label: string, signal: AbortSignal): Promise<void>;
  findPullRequest(branch: string, signal: AbortSignal): Promise<PullRequest | null>;
  createPullRequest(request: NewPullRequest, signal: AbortSignal): Promise<PullRequest>;
  /** Puts another text in the place of its own; where that is the same, nothing is written. */
  rewritePullRequest(number: number, rewrite: (body: string) => string, signal: AbortSignal): Promise<void>;
  /** null: pull requests are not followed on this service. */
  readonly feed: PullRequestFeed | null;
  readonly rateLimit: RateLimit;
  readonly stats: PollStats;
}

/** Pull requests after they were opened. Each reading is a conditional request: what did not change costs no quota. */
export interface PullRequestFeed {
  /** null when it does not exist (any more). */
  read(number: number, signal: AbortSignal): Promise<PullRequestStatus | null>;
  /** Check runs and statuses of a commit, as far as the credential may read them; of those with one name, the last. */
  checks(commit: string, signal: AbortSignal): Promise<ReadChecks>;
  /** Permissions that following needs and the credential lacks. Not conditional. */
  lacks(signal: AbortSignal): Promise<readonly string[]>;
  /** Not conditional. */
  explain(check: Check, signal: AbortSignal): Promise<CheckFailure>;
  /** Those that were handed in, oldest first. */
  reviews(number: number, signal: AbortSignal): Promise<readonly Review[]>;
  threads(number: number, signal: AbortSignal): Promise<readonly ReviewThread[]>;
  /** Those beside the reviews, oldest first. An issue has some, too. */
  comments(number: number, signal: AbortSignal): Promise<readonly Remark[]>;
  /** Answers in a thread; the comment carries `marker` invisibly. Done as well when it stands there already. */
  reply(number: number, thread: number, body: string, marker: string, signal: AbortSignal): Promise<void>;
  /** Asks these people for another review; whoever cannot be asked is left out. */
  requestReview(number: number, logins: readonly string[], signal: AbortSignal): Promise<void>;
  /** Login of the account that the credential belongs to; null: the service does not tell. */
  account(signal: AbortSignal): Promise<string | null>;
}

export type HookName = 'after_create' | 'before_run' | 'after_run' | 'before_remove';

export type PreparedWorkspace = { readonly path: string; readonly created: boolean };

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

/** What a commit changes since the default branch. */
export type Changes = {
  /** The commit of the default branch that it goes back to. */
  readonly base: string;
  /** Changed files, each after a letter for the kind of its change. */
  readonly files: readonly string[];
  /** Of very long text, the beginning and the end. */
  readonly diff: string;
};

/** Files of a workspace and where it stands, to be compared and put back. */
export type WorkspaceState = { readonly head: string; readonly branch: string | null; readonly tree: string };

/** Work of an issue that is published nowhere, by where it lies. */
export type KeptWork = {
  /** The workspace, and what was set aside of earlier ones. */
  readonly directories: readonly string[];
  /** In the workspace: `branch <name>`, or `commit <hash>` where no branch stands on it. */
  readonly heads: readonly string[];
  /** In the daemon's copy of the repository. */
  readonly refs: readonly string[];
};

/** The commit with the default branch in it, null when it changes nothing any more, and the paths that are in conflict. */
export type TakenBase = { readonly head: string | null; readonly conflicts: readonly string[] };

export interface Workspaces {
  /** Where the issue's workspace is or will be. */
  pathOf(issue: number): string;
  /** Brings the daemon's own copy of the repository up to date. What fails here lies outside of every workspace. */
  refresh(signal: AbortSignal): Promise<void>;
  /** The repository may have changed: the next refresh takes nothing that was asked for before. */
  outdate(): void;
  /** Makes so many ready that issues can be given at once, and keeps no more; none where the file has a script that fills them. */
  keepSpares(count: number, signal: AbortSignal): Promise<void>;
  /** Makes the directory, or takes the complete one that is there; a half-made one is thrown away first. */
  prepare(task: WorkspaceTask, signal: AbortSignal): Promise<PreparedWorkspace>;
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
  /**
   * Pushes `sha` to the one branch; done as well when it is there. Commits that are neither `ours` nor ancestors are not
   * overwritten. @param kept a commit of others that `sha` has to go on from
   */
  push(task: WorkspaceTask, sha: string, ours: readonly string[], signal: AbortSignal, kept?: string): Promise<void>;
  /** The repository's default branch. */
  defaultBranch(signal: AbortSignal): Promise<string>;
  /** The repository's pull-request template on its default branch. */
  pullRequestTemplate(signal: AbortSignal): Promise<string | null>;
  /** The commit of the default branch that `sha` goes back to. */
  baseOf(task: WorkspaceTask, sha: string, signal: AbortSignal): Promise<string>;
  /** Paths that `sha` changes on the default branch, of a file that was moved both. */
  changedPaths(task: WorkspaceTask, sha: string, signal: AbortSignal): Promise<readonly string[]>;
  /** Takes the latest default branch in as `beforeRun` does; what is not committed and in its way is saved. No agent may be at work in it. */
  takeBase(task: WorkspaceTask, signal: AbortSignal): Promise<TakenBase>;
  /** Branches of the remote whose names begin so, with their commits, as they were fetched last. */
  branches(prefix: string): Promise<ReadonlyMap<string, string>>;
  /**
   * Whether a commit of the remote's branch goes on from another one; null: the remote does not show that commit. What the
   * branch holds is fetched.
   */
  goesOn(branch: string, from: string, commit: string, signal: AbortSignal): Promise<boolean | null>;
  /**
   * Paths in which a commit conflicts with an older pull request by what its own branch changes, as far as that can be told
   * without the network.
   */
  conflicts(older: string, younger: string, signal: AbortSignal): Promise<readonly string[]>;
  changes(task: WorkspaceTask, sha: string, signal: AbortSignal): Promise<Changes>;
  /** Its files and where it stands; files that git ignores are left out. No agent may be at work in it. */
  stateOf(task: WorkspaceTask, signal: AbortSignal): Promise<WorkspaceState>;
  /** Puts the workspace back to that; false when it was so. */
  putBack(task: WorkspaceTask, state: WorkspaceState, signal: AbortSignal): Promise<boolean>;
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

/**
 * Sees to it that this machine has a commit of finished work, which another one may have taken in. False: nobody has it.
 * @param commit null: whatever the attempt at work has handed in
 * @param onWait called before it waits for somebody to bring it, with ms at most
 */
export type BringWork = (
  entry: Entry,
  commit: string | null,
  signal: AbortSignal,
  onWait: (ms: number) => Promise<void>,
) => Promise<boolean>;

/** The repository's own WORKFLOW.md, as it is on the default branch. `workflow()` has its values. */
export interface OwnWorkflow {
  /** The next look reads it, however young the last reading is. */
  outdate(): void;
  /** Reads it when that is due. Never rejects. @param onWait called before it waits for a reading */
  look(signal: AbortSignal, onWait?: () => void): Promise<void>;
  /** Reads it as it is now. Rejects when it was never read. */
  pin(signal: AbortSignal): Promise<void>;
}

/** Runs hooks of the repository's own WORKFLOW.md as agents run: in their namespaces, without a credential. */
export interface OwnHookRunner {
  /** Whether its `after_create` has ended well in the workspace. */
  isPrepared(issue: number): boolean;
  /** The workspace is a new one. */
  forget(issue: number): void;
  run(hook: HookName, script: string, task: WorkspaceTask, path: string, signal: AbortSignal): Promise<void>;
}

/** What stays of earlier processes of the daemon. */
export interface Leftovers {
  /** Ends every process of a run; gives how many there were. */
  end(run: string): Promise<number>;
}

export type GateRequest = {
  readonly issue: number;
  /** The workspace. */
  readonly path: string;
  readonly commit: string;
  /** The commit whose settings name the commands, and which is measured as well where that tells something. */
  readonly base: string;
  readonly timeoutMs: number;
  /** Takes what the commands print. */
  readonly output: (text: string) => void;
};

/** What measures finished work with the repository's own commands. */
export interface WorkGate {
  /** What cannot be measured is evidence, too; rejects when it is aborted. */
  measure(request: GateRequest, signal: AbortSignal): Promise<Evidence>;
}

/** Where an attempt's output is kept for people to read. */
export interface AttemptOutputs {
  open(issue: number, life: number, attempt: number): AttemptOutput;
  /** Removes what is kept of the issue but its outputs. */
  forget(issue: number): Promise<void>;
}

/** A part of an attempt's output, with the bytes of the whole that it is. */
export type OutputPart = {
  /** `<life>-<attempt>`. */
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly text: string;
};

export interface AttemptOutput {
  write(text: string): void;
  close(): void;
}

/** What an agent asks of the daemon. */
export type AgentRequest =
  | { readonly type: 'show'; readonly issue: number }
  | { readonly type: 'comment'; readonly issue: number; readonly body: string }
  | { readonly type: 'ask'; readonly issue: number; readonly body: string }
  | { readonly type: 'done'; readonly issue: number }
  | { readonly type: 'pull_request'; readonly title: string; readonly body: string }
  | { readonly type: 'reply'; readonly thread: number; readonly body: string };

/**
 * A request among all that its agent made, where another daemon may go on with the agent. `attempt`: the agent's first one.
 * `isRepeated`: an earlier daemon may have performed it.
 */
export type RequestPlace = { readonly attempt: number; readonly number: number; readonly isRepeated: boolean };

/** Answers one request of the agent; a refusal is a rejected ToolError. */
export type AgentRequestHandler = (
  request: AgentRequest,
  signal: AbortSignal,
  place?: RequestPlace,
) => Promise<Readonly<Record<string, unknown>>>;

export interface AgentSocket {
  /** Opens a socket for one attempt; the environment names it to the agent. */
  open(
    handler: AgentRequestHandler,
  ): Promise<{ readonly env: Readonly<Record<string, string>>; close(): Promise<void> }>;
}

/** Renders the prompt of an attempt from the workflow file. */
export type RenderPrompt = (
  workflow: Workflow,
  issue: Issue,
  attempt: { readonly number: number; readonly lastError: string | null },
  workspace: { readonly path: string; readonly branch: string },
) => string;
