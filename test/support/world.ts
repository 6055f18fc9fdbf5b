// The daemon's world in memory: a tracker with people, workspaces that are numbers, agents that follow a script.

import { isDeepStrictEqual } from 'node:util';
import type { RunEnd, RunHooks, Runner, RunRequest } from '../../src/agents/ports.ts';
import type { Logger } from '../../src/base/ports.ts';
import { type Code, type Refusal, textOf, type ValuesOf } from '../../src/base/rules/codes.ts';
import type { Stored } from '../../src/base/rules/stored-record.ts';
import { Orchestrator, type OrchestratorOptions } from '../../src/daemon/orchestrator.ts';
import type {
  AgentRequestHandler,
  AttemptOutputs,
  IssueComment,
  Journal,
  KeptWork,
  LabelEvent,
  PullRequestFeed,
  TakenBase,
  Tracker,
  Work,
  WorkGate,
  Workspaces,
  WorkspaceTask,
} from '../../src/daemon/ports.ts';
import { Publisher } from '../../src/daemon/publish/publish.ts';
import { blockersIn } from '../../src/daemon/rules/blocker-text.ts';
import { type Link, type LinkedIssue, NO_BLOCKERS, type Tally } from '../../src/daemon/rules/blockers.ts';
import { fold } from '../../src/daemon/rules/fold.ts';
import { type Actor, byAge, hasLabel, type Issue, sameLabel } from '../../src/daemon/rules/issue.ts';
import type {
  Check,
  CheckPermission,
  PullRequestStatus,
  Remark,
  Review,
  ReviewThread,
} from '../../src/daemon/rules/pull-request-status.ts';
import type { JournalRecord, PullRequest } from '../../src/daemon/rules/record.ts';
import { type DaemonState, EMPTY_STATE } from '../../src/daemon/rules/state.ts';
import { TrackerError } from '../../src/daemon/rules/tracker-error.ts';
import type { Workflow } from '../../src/daemon/rules/workflow.ts';
import type { Evidence } from '../../src/gate/rules/evidence.ts';
import { saying } from './codes.ts';
import { FakeClock } from './fake-clock.ts';

export class MemoryJournal implements Journal {
  readonly records: Stored<JournalRecord>[] = [];
  readonly #now: () => number;
  state: DaemonState = EMPTY_STATE;

  constructor(now: () => number) {
    this.#now = now;
  }

  append(record: JournalRecord): Promise<Stored<JournalRecord>> {
    const stored: Stored<JournalRecord> = { ...record, v: 1, id: String(this.records.length), at: this.#now() };
    this.records.push(stored);
    this.state = fold(this.state, stored);
    return Promise.resolve(stored);
  }

  close = (): Promise<void> => Promise.resolve();

  /** The sequence of what happened to an issue, effects with their keys. */
  storyOf(issue: number): string[] {
    return this.records.flatMap((record) => {
      if (!('issue' in record) || record.issue !== issue) return [];
      if (record.type === 'effect_started') return [`> ${record.key}`];
      if (record.type === 'effect_finished') return [`< ${record.key}`];
      if (record.type === 'effect_failed') return [`! ${record.key}`];
      if (record.type === 'attempt_ended') return [`attempt_ended ${record.outcome} ${record.next}`];
      if (record.type === 'finished') return [`finished ${record.outcome}`];
      if (record.type === 'claimed') return [`claimed life ${record.life}`];
      return record.type === 'usage' || record.type === 'session' ? [] : [record.type];
    });
  }
}

export const WRITER: Actor = { login: 'writer', type: 'User' };
export const STRANGER: Actor = { login: 'stranger', type: 'User' };
const DAEMON: Actor = { login: 'daemon', type: 'User' };

type Mutable = { -readonly [K in keyof Issue]: Issue[K] } & { labels: string[] };

type Seen = Omit<PullRequestStatus, 'updatedAt'> & {
  readonly checks: readonly Check[];
  readonly unread: readonly CheckPermission[];
  readonly reviews: readonly Review[];
  readonly threads: readonly ReviewThread[];
  readonly comments: readonly Remark[];
};

/** A hosting service in memory. Its clock has a tick for every change, so that `updatedAt` grows. */
class MemoryTracker implements Tracker {
  readonly issues = new Map<number, Mutable>();
  readonly events: {
    readonly id: number;
    readonly issue: number;
    readonly label: string;
    readonly actor: Actor | null;
  }[] = [];
  readonly comments: {
    readonly issue: number;
    readonly body: string;
    readonly marker: string;
    readonly author: Actor;
    readonly createdAt: string;
  }[] = [];
  readonly pulls: {
    readonly number: number;
    readonly branch: string;
    readonly title: string;
    readonly body: string;
    readonly draft: boolean;
  }[] = [];
  readonly closedPulls = new Set<number>();
  /** Dependencies and sub-issues by `<link> <issue>`; those without a repository are issues of this one. */
  readonly links = new Map<string, readonly Omit<LinkedIssue, 'state'>[]>();
  readonly writers = new Set(['writer', 'daemon']);
  readonly calls: string[] = [];
  /** Called with the name of each call; what it throws is the service's failure. */
  fault: (call: string) => void = () => undefined;
  /** Pull requests after they were opened, by number; those that are not here are open, without checks, and can be merged. */
  readonly seen = new Map<number, Partial<Seen>>();
  readonly replies: { readonly thread: number; readonly body: string; readonly marker: string }[] = [];
  readonly asked: string[] = [];
  /** The commit at the head of each branch, as it was pushed. */
  headOf: (branch: string) => string = () => '';

  readonly feed: PullRequestFeed = {
    read: async (number) => {
      this.#call(`pull ${number}`);
      const pull = this.pulls.find((one) => one.number === number);
      if (pull === undefined) return null;
      const {
        state = this.closedPulls.has(number) ? 'closed' : 'open',
        conflicts = false,
        merge = conflicts === null ? 'unknown' : conflicts ? 'dirty' : 'clean',
        draft = false,
        awaited = [],
        head,
      } = this.seen.get(number) ?? {};
      const version = JSON.stringify([this.seen.get(number) ?? {}, this.replies.length]);
      return { state, conflicts, merge, draft, awaited, head: head ?? this.headOf(pull.branch), updatedAt: version };
    },
    checks: async (commit) => {
      this.#call(`checks ${commit}`);
      const seen = [...this.seen.values()];
      return { checks: seen.flatMap((one) => one.checks ?? []), unread: seen.flatMap((one) => one.unread ?? []) };
    },
    lacks: async () => [],
    explain: async (check) => ({ step: `step of ${check.name}`, log: `log of ${check.name}` }),
    reviews: async (number) => {
      this.#call(`reviews ${number}`);
      return this.seen.get(number)?.reviews ?? [];
    },
    threads: async (number) =>
      (this.seen.get(number)?.threads ?? []).map((thread) => ({
        ...thread,
        comments: [...thread.comments, ...this.replies.flatMap((reply) => this.#replyIn(thread.id, reply))],
      })),
    comments: async (number) => this.seen.get(number)?.comments ?? [],
    reply: async (number, thread, body, marker) => {
      this.#call(`reply ${number}`);
      if (!this.replies.some((one) => one.marker === marker)) this.replies.push({ thread, body, marker });
    },
    requestReview: async (number, logins) => {
      this.#call(`request ${number}`);
      this.asked.push(...logins);
    },
    account: async () => 'daemon',
  };
  readonly rateLimit = { limit: null, remaining: null, reset_at: null, paused_until: null, reason: null };
  #tick = 0;

  /** An answer of ours stands in its thread like any comment. */
  #replyIn(id: number, { thread, body, marker }: { thread: number; body: string; marker: string }): Remark[] {
    const text = `${body}\n\n<!-- toolcrew:${marker} -->`;
    return id === thread ? [{ id: 1_000_000, author: { login: 'daemon', type: 'User' }, body: text }] : [];
  }

  get stats() {
    return { requests: this.calls.length, notModified: 0 };
  }

  #stamp(): string {
    this.#tick += 1;
    return new Date(Date.UTC(2026, 0, 1) + this.#tick * 1000).toISOString();
  }

  #call(name: string): void {
    this.calls.push(name);
    this.fault(name);
  }

  /** A person opens an issue. */
  open(
    number: number,
    options: { readonly labels?: readonly string[]; readonly author?: Actor; readonly by?: Actor } = {},
  ): void {
    const at = this.#stamp();
    this.issues.set(number, {
      number,
      title: `Issue ${number}`,
      body: 'a body',
      url: `https://tracker/${number}`,
      state: 'open',
      labels: [],
      author: options.author ?? WRITER,
      createdAt: at,
      updatedAt: at,
      blockers: NO_BLOCKERS,
    });
    for (const label of options.labels ?? ['tool-todo']) this.label(number, label, options.by ?? WRITER);
  }

  /** A person writes something: the issue is a newer one, its labels stay. */
  touch(number: number): void {
    const issue = this.issues.get(number);
    if (issue !== undefined) issue.updatedAt = this.#stamp();
  }

  /** A person writes another text. */
  write(number: number, body: string): void {
    const issue = this.issues.get(number);
    if (issue === undefined) return;
    issue.body = body;
    this.touch(number);
  }

  /** A person makes others dependencies or sub-issues of an issue. */
  link(number: number, link: Link, others: readonly (number | Omit<LinkedIssue, 'state'>)[]): void {
    const linked = others.map((other) => (typeof other === 'number' ? { repository: null, number: other } : other));
    this.links.set(`${link} ${number}`, linked);
  }

  #linked(number: number, link: Link): readonly LinkedIssue[] {
    return (this.links.get(`${link} ${number}`) ?? []).map((other) => ({
      ...other,
      state: (other.repository === null ? this.issues.get(other.number)?.state : undefined) ?? 'open',
    }));
  }

  /** An issue as the service answers it. */
  #row(issue: Issue): Issue {
    const tally = (link: Link): Tally => {
      const all = this.#linked(issue.number, link);
      return { open: all.filter(({ state }) => state === 'open').length, all: all.length };
    };
    const named = blockersIn(issue.body, issue.url);
    return { ...issue, blockers: { named, dependencies: tally('dependencies'), subIssues: tally('subIssues') } };
  }

  /** A person puts a label on. */
  label(number: number, label: string, by: Actor = WRITER): void {
    const issue = this.issues.get(number);
    if (issue === undefined || hasLabel(issue.labels, label)) return;
    issue.labels = [...issue.labels, label];
    issue.updatedAt = this.#stamp();
    this.events.push({ id: this.events.length + 1, issue: number, label, actor: by });
  }

  unlabel(number: number, label: string): void {
    const issue = this.issues.get(number);
    if (issue === undefined || !hasLabel(issue.labels, label)) return;
    issue.labels = issue.labels.filter((other) => !sameLabel(other, label));
    issue.updatedAt = this.#stamp();
  }

  setState(number: number, state: 'open' | 'closed'): void {
    const issue = this.issues.get(number);
    if (issue === undefined) return;
    issue.state = state;
    issue.updatedAt = this.#stamp();
  }

  labelsOf(number: number): readonly string[] {
    return this.issues.get(number)?.labels ?? [];
  }

  async listActive(labels: readonly string[]): Promise<readonly Issue[]> {
    this.#call('list');
    return [...this.issues.values()]
      .filter((issue) => issue.state === 'open' && issue.labels.some((label) => hasLabel(labels, label)))
      .map((issue) => ({ ...this.#row(issue), body: '' }))
      .sort(byAge);
  }

  /** What `listActive` gave was everything. */
  listRest = async (): Promise<readonly Issue[] | null> => null;

  async readIssue(number: number): Promise<Issue | null> {
    this.#call(`read ${number}`);
    const issue = this.issues.get(number);
    return issue === undefined ? null : this.#row(issue);
  }

  async readLinks(number: number, link: Link): Promise<readonly LinkedIssue[]> {
    this.#call(`${link} ${number}`);
    return this.#linked(number, link);
  }

  async readLabelEvent(number: number, label: string): Promise<LabelEvent | null> {
    this.#call(`events ${number}`);
    const event = this.events.findLast((one) => one.issue === number && sameLabel(one.label, label));
    return event === undefined ? null : { id: event.id, actor: event.actor };
  }

  async mayWrite(actor: Actor): Promise<boolean> {
    this.#call(`permission ${actor.login}`);
    return this.writers.has(actor.login);
  }

  async readComments(number: number): Promise<readonly IssueComment[]> {
    this.#call(`comments of ${number}`);
    return this.comments.flatMap(({ issue, body, marker, author, createdAt }, index) =>
      issue === number
        ? [{ id: index + 1, author, body: marker === '' ? body : `${body}\n\n<!-- toolcrew:${marker} -->`, createdAt }]
        : [],
    );
  }

  async addComment(issue: number, body: string, marker: string): Promise<void> {
    this.#call(`comment ${issue}`);
    this.#comment(issue, body, marker, DAEMON);
  }

  /** A person writes a comment. */
  say(issue: number, body: string, author: Actor = WRITER): void {
    this.#comment(issue, body, '', author);
  }

  #comment(issue: number, body: string, marker: string, author: Actor): void {
    this.touch(issue);
    this.comments.push({ issue, body, marker, author, createdAt: this.issues.get(issue)?.updatedAt ?? '' });
  }

  async hasComment(issue: number, marker: string): Promise<boolean> {
    this.#call(`comments ${issue}`);
    return this.comments.some((comment) => comment.issue === issue && comment.marker === marker);
  }

  async addLabel(number: number, label: string): Promise<void> {
    this.#call(`add ${label} ${number}`);
    this.label(number, label, DAEMON);
  }

  async removeLabel(number: number, label: string): Promise<void> {
    this.#call(`remove ${label} ${number}`);
    this.unlabel(number, label);
  }

  #openPull(branch: string) {
    return this.pulls.find((one) => one.branch === branch && !this.closedPulls.has(one.number));
  }

  async findPullRequest(branch: string): Promise<PullRequest | null> {
    this.#call(`find ${branch}`);
    const pull = this.#openPull(branch);
    return pull === undefined ? null : { number: pull.number, url: `https://tracker/pull/${pull.number}` };
  }

  async createPullRequest(request: {
    readonly branch: string;
    readonly base: string;
    readonly title: string;
    readonly body: string;
    readonly draft: boolean;
  }): Promise<PullRequest> {
    this.#call(`create ${request.branch}`);
    if (this.#openPull(request.branch) !== undefined)
      throw new TrackerError('refused', saying('tracker', 'exists'), { status: 422 });
    const number = 1000 + this.pulls.length;
    this.pulls.push({ number, ...request });
    return { number, url: `https://tracker/pull/${number}` };
  }

  async rewritePullRequest(number: number, rewrite: (body: string) => string): Promise<void> {
    this.#call(`rewrite ${number}`);
    const index = this.pulls.findIndex((one) => one.number === number);
    const pull = this.pulls[index];
    if (pull !== undefined) this.pulls[index] = { ...pull, body: rewrite(pull.body) };
  }
}

/** Workspaces whose whole content is the commit that an agent left. */
class MemoryWorkspaces implements Workspaces {
  /** How many were wanted, each time that it was said. */
  readonly stocked: number[] = [];
  readonly present = new Set<number>();
  readonly heads = new Map<number, string>();
  readonly pushed: string[] = [];
  readonly removed: number[] = [];
  readonly removedBranches: string[] = [];
  fault: (call: string) => void = () => undefined;
  beforeCollect: () => Promise<void> = async () => undefined;

  pathOf = (issue: number): string => `/workspaces/issue-${issue}`;

  /** How often what was known of the repository was called old. */
  outdated = 0;

  outdate(): void {
    this.outdated += 1;
  }

  async refresh(): Promise<void> {
    this.fault('refresh');
  }

  async keepSpares(count: number): Promise<void> {
    this.stocked.push(count);
  }

  async prepare(task: WorkspaceTask) {
    this.fault('prepare');
    const created = !this.present.has(task.issue);
    return { path: this.pathOf(task.issue), created };
  }

  async afterCreate(): Promise<void> {
    this.fault('after_create');
  }

  async complete(task: WorkspaceTask): Promise<void> {
    this.present.add(task.issue);
  }

  async beforeRun(): Promise<void> {
    this.fault('before_run');
  }

  async afterRun(): Promise<boolean> {
    this.fault('after_run');
    return true;
  }

  async beforeRemove(): Promise<boolean> {
    this.fault('before_remove');
    return true;
  }

  async peek(task: WorkspaceTask): Promise<string | null> {
    return this.heads.get(task.issue) ?? null;
  }

  async collect(task: WorkspaceTask): Promise<Work> {
    this.fault('collect');
    await this.beforeCollect();
    return { head: this.heads.get(task.issue) ?? null, savedAs: null };
  }

  async push(task: WorkspaceTask, sha: string): Promise<void> {
    this.fault('push');
    this.pushed.push(`${task.branch} ${sha}`);
  }

  /** Paths that the work of an issue changes, and those in which it conflicts with the base. */
  readonly touches = new Map<number, readonly string[]>();
  readonly baseConflicts = new Map<number, readonly string[]>();
  /** Branches of the remote, with their commits; paths in which two commits conflict, by `<older> <younger>`. */
  readonly remote = new Map<string, string>();
  readonly rivals = new Map<string, readonly string[]>();

  changedPaths = async (task: WorkspaceTask, sha: string): Promise<readonly string[]> => {
    this.fault(`diff ${sha}`);
    return this.touches.get(Number(/^sha-(\d+)/.exec(sha)?.[1] ?? task.issue)) ?? [];
  };

  takeBase = async ({ issue }: WorkspaceTask): Promise<TakenBase> => {
    this.fault(`take_base ${issue}`);
    const conflicts = this.baseConflicts.get(issue) ?? [];
    const head = this.heads.get(issue) ?? null;
    if (conflicts.length > 0 || head === null) return { head, conflicts };
    this.heads.set(issue, `${head}-merged`);
    return { head: `${head}-merged`, conflicts };
  };

  branches = async (prefix: string): Promise<ReadonlyMap<string, string>> =>
    new Map([...this.remote].filter(([name]) => name.startsWith(prefix)));

  /** Pairs `<from> <commit>`, with whether the commit goes on from the other one. */
  readonly joins = new Map<string, boolean | null>();

  goesOn = async (_: string, from: string, commit: string): Promise<boolean | null> =>
    this.joins.get(`${from} ${commit}`) ?? null;

  conflicts = async (first: string, second: string): Promise<readonly string[]> =>
    this.rivals.get(`${first} ${second}`) ?? [];

  defaultBranch = async (): Promise<string> => 'main';
  baseOf = async (): Promise<string> => 'base';
  pullRequestTemplate = async (): Promise<string | null> => null;
  changes = async (_: WorkspaceTask, sha: string) => ({ base: 'base', files: ['M work.txt'], diff: `+${sha}` });
  stateOf = async () => ({ head: 'head', branch: 'branch', tree: 'tree' });
  putBack = async () => false;
  commitMessages = async (): Promise<readonly string[]> => ['A commit'];

  async expireSaved(): Promise<number> {
    return 0;
  }

  pruneLfs = async () => ({ count: 0, bytes: 0 });

  /** Refs of saved work, which are never removed here. */
  savedRefs: readonly string[] = [];

  async kept(task: WorkspaceTask): Promise<KeptWork> {
    this.fault('kept');
    return {
      directories: this.present.has(task.issue) ? [this.pathOf(task.issue)] : [],
      heads: this.heads.has(task.issue) ? [`branch ${task.branch}`] : [],
      refs: this.savedRefs,
    };
  }

  /** Called when all is saved, before the workspace goes. */
  beforeClear: (call: string) => void = () => undefined;
  /** What the next removal saves. */
  saves: readonly string[] = [];

  async remove(task: WorkspaceTask, _: AbortSignal, tell?: (saved: readonly string[]) => Promise<void>): Promise<void> {
    this.fault('remove');
    // A workspace that is gone leaves nothing to save.
    if (this.present.has(task.issue) && this.saves.length > 0) await tell?.(this.saves);
    this.beforeClear('clear');
    this.present.delete(task.issue);
    this.heads.delete(task.issue);
    this.removed.push(task.issue);
    this.removedBranches.push(task.branch);
  }
}

/** What an agent does, given what it was started with. */
export type Script = (agent: {
  readonly request: RunRequest;
  readonly hooks: RunHooks;
  readonly ask: AgentRequestHandler;
  readonly world: World;
}) => Promise<RunEnd>;

export const commit: Script = async ({ request, world }) => {
  world.workspaces.heads.set(request.issue, `sha-${request.issue}-${request.attempt}`);
  return { ok: true, words: 'done' };
};

export const fail: Script = async () => ({ ok: false, words: 'it broke', fault: 'agent', resumable: true });

/** Works until it is ended. */
export const hang: Script = ({ hooks }) =>
  new Promise((resolve) => {
    const end = () => resolve({ ok: false, words: 'ended', fault: 'agent', resumable: true });
    if (hooks.signal.aborted) end();
    else hooks.signal.addEventListener('abort', end, { once: true });
  });

export function workflowWith(
  change: {
    readonly agent?: Partial<Workflow['agent']>;
    readonly tool?: Partial<Workflow['tool']>;
    readonly workspace?: Partial<Workflow['workspace']>;
    readonly hooks?: Partial<Workflow['hooks']>;
    readonly tracker?: Partial<Workflow['tracker']>;
    readonly labels?: Workflow['labels'];
    readonly gate?: Partial<Workflow['gate']>;
    readonly review?: Workflow['review'];
    readonly follow?: Partial<Workflow['follow']>;
  } = {},
): Workflow {
  return {
    path: '/WORKFLOW.md',
    tracker: {
      kind: 'github',
      slug: { owner: 'o', repo: 'r' },
      repositories: null,
      topic: null,
      apiUrl: 'https://tracker',
      tokenVariable: null,
      app: null,
      caFile: null,
      trust: 'write',
      draft: false,
      questionLabel: 'tool-question',
      ...change.tracker,
    },
    fromRepository: { settings: [], hooks: false },
    labels: change.labels ?? { active: ['tool-todo'], done: 'tool-done', failed: 'tool-failed' },
    polling: { intervalMs: 30_000 },
    workspace: {
      root: '/workspaces',
      keep: false,
      savedKeepDays: 30,
      branchPrefix: 'tool/',
      submodules: true,
      cloneTimeoutMs: 600_000,
      cloneDepth: null,
      ...change.workspace,
    },
    hooks: {
      afterCreate: null,
      beforeRun: null,
      afterRun: null,
      beforeRemove: null,
      timeoutMs: 300_000,
      ...change.hooks,
    },
    stateDir: '/state',
    agent: {
      maxConcurrent: 1,
      maxAttempts: 3,
      maxTurns: 20,
      maxRetryBackoffMs: 300_000,
      maxCostUsd: null,
      maxCostPerDayUsd: null,
      perRepository: { maxConcurrent: null, maxCostPerDayUsd: null },
      onQuota: 'wait',
      priorityLabels: [],
      serializePaths: [],
      workerLabels: [],
      ...change.agent,
    },
    tool: {
      runtime: 'command',
      command: ['agent'],
      agent: null,
      stallTimeoutMs: 600_000,
      turnTimeoutMs: 3_600_000,
      startTimeoutMs: 120_000,
      mode: 'agent',
      permissionMode: 'default',
      allowedTools: [],
      isolation: 'off',
      env: [],
      ...change.tool,
    },
    gate: { mode: 'off', timeoutMs: 600_000, maxRounds: 3, ...change.gate },
    review: change.review ?? { agent: null },
    follow: { until: 'open', maxRounds: 3, answerTimeoutMs: 1_209_600_000, ...change.follow },
    notify: { command: null, webhook: null },
    queue: null,
    telemetry: { traces: false },
    server: { port: 0, host: '127.0.0.1', allowedHosts: [], token: null, webhookSecret: null },
    prompt: 'work',
  };
}

/** Evidence of tests that pass, or do not. */
export function evidenceOf(sha: string, { base = 'base', ok = true }: { base?: string; ok?: boolean } = {}): Evidence {
  const outcome = ok ? 'passed' : 'failed';
  const figure = ok ? '3 tests' : null;
  return {
    ...{ commit: sha, base, ok, unmeasured: null, coverage: { before: null, after: null } },
    checks: [{ check: 'tests', outcome, reason: ok ? '3 tests pass' : '1 test fails', figure }],
    commands: [{ command: 'npm test', exit: ok ? 0 : 1, timed_out: false, seconds: 1.5 }],
    rejection: ok ? '' : 'tests: 1 test fails\n  - adds',
  };
}

/** The same thing until its process is dead: from then on every call of a method hangs for ever. */
function mortal<T extends object>(target: T, alive: () => boolean): T {
  return new Proxy(target, {
    get(object, name) {
      const value: unknown = Reflect.get(object, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => (alive() ? Reflect.apply(value, object, args) : new Promise(() => undefined));
    },
  });
}

const HOUR_MS = 3_600_000;

export class World {
  readonly clock: FakeClock;
  readonly journal: MemoryJournal;
  readonly tracker = new MemoryTracker();
  readonly workspaces = new MemoryWorkspaces();
  readonly lines: string[] = [];
  readonly logged: Refusal[] = [];
  readonly started: {
    readonly issue: number;
    readonly attempt: number;
    readonly at: number;
    readonly resume: string | null;
  }[] = [];
  readonly leftovers: string[] = [];
  readonly forgotten: number[] = [];
  readonly reviews: RunRequest[] = [];
  workflow: Workflow;
  script: Script = commit;
  /** Whether a process comes of an agent before its script: where there are workers, one has to take it. */
  isTaken = true;
  /** What a reviewer does. */
  reviewer: (request: RunRequest, hooks: RunHooks) => Promise<RunEnd> = async () => ({
    ok: true,
    words: 'No findings.',
  });
  /** What the gate finds. */
  measure: WorkGate['measure'] = async ({ commit: sha, base }) => evidenceOf(sha, { base });
  orchestrator: Orchestrator;
  #running: Promise<void> | undefined;
  readonly #options: Partial<OrchestratorOptions>;
  #life = 0;
  /** How many agents worked at the same time at most. */
  mostAtOnce = 0;
  #atOnce = 0;

  /** @param clock of several worlds in one process */
  constructor(
    workflow: Workflow = workflowWith(),
    options: Partial<OrchestratorOptions> = {},
    clock: FakeClock = new FakeClock(),
  ) {
    this.clock = clock;
    this.workflow = workflow;
    this.#options = options;
    this.journal = new MemoryJournal(this.clock.now);
    this.tracker.headOf = (branch) =>
      this.workspaces.pushed.findLast((line) => line.startsWith(`${branch} `))?.split(' ')[1] ?? '';
    this.orchestrator = this.#create();
  }

  /** How often that code was logged; each given value is equal. */
  timesLogged<C extends Code>(of: C, values: Partial<ValuesOf<C>> = {}): number {
    return this.logged.filter(
      (one) =>
        one.of.code === of.code &&
        Object.entries(values).every(([name, value]) => isDeepStrictEqual(one.values[name], value)),
    ).length;
  }

  async #review(request: RunRequest, hooks: RunHooks): Promise<RunEnd> {
    this.reviews.push(request);
    this.#atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#atOnce);
    try {
      await hooks.onStarted(5000 + request.issue);
      return await this.reviewer(request, hooks);
    } finally {
      this.#atOnce -= 1;
    }
  }

  #create(): Orchestrator {
    const { clock } = this;
    this.#life += 1;
    const life = this.#life;
    const alive = () => this.#life === life;
    const journal = mortal<Journal>(this.journal, alive);
    const tracker = mortal<Tracker>(this.tracker, alive);
    const workspaces = mortal<Workspaces>(this.workspaces, alive);
    const log: Logger = {
      log: (level, source, said) => {
        const message = typeof said === 'string' ? said : textOf(said);
        if (typeof said !== 'string') this.logged.push(said);
        this.lines.push(`${level === 'info' ? '' : `${level}: `}[${source}] ${message}`);
      },
    };
    const workflow = () => this.workflow;
    let handler: AgentRequestHandler | undefined;
    const handlers = new Map<number, AgentRequestHandler>();
    const runner: Runner = {
      name: 'scripted',
      run: async (request, hooks) => {
        if (request.role !== undefined) return this.#review(request, hooks);
        this.started.push({ issue: request.issue, attempt: request.attempt, at: clock.now(), resume: request.resume });
        const ask = handlers.get(request.issue) ?? handler;
        if (ask === undefined) throw new Error('no socket is open');
        this.#atOnce += 1;
        this.mostAtOnce = Math.max(this.mostAtOnce, this.#atOnce);
        try {
          if (this.isTaken) await hooks.onStarted(4000 + request.issue);
          return await this.script({ request, hooks, ask, world: this });
        } finally {
          this.#atOnce -= 1;
        }
      },
    };
    let runs = 0;
    const attemptOutputs: AttemptOutputs = {
      open: () => ({ write: () => undefined, close: () => undefined }),
      forget: async (issue) => {
        this.forgotten.push(issue);
      },
    };
    const gate = mortal<WorkGate>({ measure: (request, signal) => this.measure(request, signal) }, alive);
    return new Orchestrator({
      workflow,
      journal,
      tracker,
      workspaces,
      publisher: new Publisher({ workflow, journal, tracker, workspaces, gate, attemptOutputs, log }),
      runner: () => runner,
      leftovers: { end: async (run) => this.leftovers.push(run) },
      agentSocket: {
        open: async (opened) => {
          handler = opened;
          for (const entry of journal.state.entries.values())
            if (entry.phase === 'running' && !handlers.has(entry.number)) handlers.set(entry.number, opened);
          return {
            env: {},
            close: async () => {
              for (const [issue, one] of handlers) if (one === opened) handlers.delete(issue);
            },
          };
        },
      },
      attemptOutputs,
      clock,
      log,
      newRun: () => `run-${++runs}`,
      random: () => 0.5,
      renderPrompt: () => 'the prompt',
      readRole: async (name) => ({ text: `You are ${name}.`, model: null }),
      ...this.#options,
    });
  }

  /** Starts the daemon and lets everything happen that needs no time. */
  async start(): Promise<void> {
    let recovered = false;
    const recovery = this.orchestrator.recover().finally(() => {
      recovered = true;
    });
    await this.clock.settle();
    while (!recovered && (await this.clock.step()));
    await recovery;
    this.#running = this.orchestrator.run();
    // Whoever waits for the end hears of it; nobody has to.
    this.#running.catch(() => undefined);
    await this.clock.settle();
  }

  /** Ends the daemon as a signal would. */
  async stop(): Promise<void> {
    const closing = this.orchestrator.close();
    await this.clock.settle();
    await closing;
    await this.#running?.catch(() => undefined);
  }

  /** The process is gone, in the middle of whatever it did. */
  kill(): void {
    this.#life += 1;
  }

  /** A new process on the same journal, the old one gone without a word. */
  async restart(): Promise<void> {
    this.orchestrator = this.#create();
    await this.start();
  }

  /** Waits for the end of `once`. */
  async ended(): Promise<void> {
    await this.#running;
  }

  async pass(ms: number): Promise<void> {
    await this.clock.pass(ms);
  }

  /** The same for days: the tracker is polled once an hour, until the last hour. */
  async passDays(days: number): Promise<void> {
    const { polling } = this.workflow;
    this.workflow = { ...this.workflow, polling: { ...polling, intervalMs: HOUR_MS } };
    await this.pass((days * 24 - 1) * HOUR_MS);
    this.workflow = { ...this.workflow, polling };
    await this.pass(HOUR_MS);
  }
}

/** Gives every later label change the same timestamp, as if all happened in one second. */
export function stopTime(world: World): void {
  const at = '2026-02-01T00:00:00Z';
  const { tracker } = world;
  for (const name of ['label', 'unlabel'] as const) {
    const act = tracker[name].bind(tracker);
    tracker[name] = (number: number, ...rest: [never]) => {
      act(number, ...rest);
      const issue = tracker.issues.get(number);
      if (issue !== undefined) issue.updatedAt = at;
    };
  }
}
