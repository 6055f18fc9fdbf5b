// One attempt at an issue: workspace, hooks, agent, and the decision what follows. It appends records and returns.

import type { RunEnd, Runner } from '../agents/ports.ts';
import { Watchdog } from '../agents/watchdog.ts';
import type { Clock, LogLevel } from '../base/ports.ts';
import { messageOf } from '../base/rules/errors.ts';
import { createAgentRequestHandler } from './agent-requests.ts';
import { AttemptStatus } from './attempt-status.ts';
import { collectWork, NO_WORK } from './collect-work.ts';
import { perform } from './effects.ts';
import { asAgentFault, faultOf } from './fault.ts';
import {
  hasOwnHook,
  type OwnFileOptions,
  ownMark,
  pinWorkflow,
  runOwnAfter,
  runOwnBefore,
  sayOwn,
} from './own-file.ts';
import type {
  AgentSocket,
  AttemptOutput,
  AttemptOutputs,
  Journal,
  Leftovers,
  RenderPrompt,
  Tracker,
  Workspaces,
  WorkspaceTask,
} from './ports.ts';
import type { Publisher } from './publish/publish.ts';
import { messagesOf } from './rules/asking.ts';
import { type EndCause, judgeAttempt, quotaEnd } from './rules/attempt-end.ts';
import type { Issue } from './rules/issue.ts';
import { outcomeWords } from './rules/issue-standing.ts';
import type { Entry } from './rules/state.ts';
import { keptOf } from './rules/team-summary.ts';
import type { Workflow } from './rules/workflow.ts';
import { runRequest } from './run-request.ts';
import { Turns } from './turns.ts';

export type AttemptOptions = OwnFileOptions & {
  readonly tracker: Tracker;
  readonly workspaces: Workspaces;
  readonly publisher: Publisher;
  readonly runner: (name: string) => Runner;
  readonly agentSocket: AgentSocket;
  readonly attemptOutputs: AttemptOutputs;
  readonly leftovers: Leftovers;
  readonly clock: Clock;
  /** A new mark for an agent and all it starts. */
  readonly newRun: () => string;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly renderPrompt: RenderPrompt;
  /** Called for everything that people may want to see at once. */
  readonly onChange: () => void;
  /** Called when the slot of an attempt is free again. */
  readonly onSlotFree: () => void;
  /** Called when the quota of a runtime is used up. @param until ms since the epoch */
  readonly onQuota: (runtime: string, until: number) => void;
  /** Reads what people wrote on an issue since; never rejects. */
  readonly listen: (issue: number, signal: AbortSignal) => Promise<void>;
};

/** What a team has used is written down at most so often. */
const NOTE_MS = 10_000;

export class Attempt {
  readonly #options: AttemptOptions;
  readonly #issue: Issue;
  readonly #entry: Entry;
  readonly #number: number;
  /** With the file of the repository as it is when the attempt starts. */
  #workflow: Workflow;
  readonly #end = new AbortController();
  readonly status: AttemptStatus;
  #cause: EndCause | null = null;
  #output: AttemptOutput | undefined;
  /** Whether an agent may have been in the workspace. */
  #ran = false;
  #holdsSlot = true;
  /** The commit that earlier attempts have left. */
  #headBefore: string | null = null;
  #noted = { cost: 0, at: Number.NEGATIVE_INFINITY };

  constructor(options: AttemptOptions, entry: Entry, issue: Issue) {
    this.#options = options;
    this.#issue = issue;
    this.#entry = entry;
    this.#number = entry.attempt + 1;
    this.#workflow = options.workflow();
    this.status = new AttemptStatus(options.clock);
  }

  /** Why the daemon ended it; null when it did not. */
  get cause(): EndCause | null {
    return this.#cause;
  }

  /** Aborted when it is to end. */
  get ending(): AbortSignal {
    return this.#end.signal;
  }

  /** A slot is held until the agent and the script `after_run` have ended. */
  get holdsSlot(): boolean {
    return this.#holdsSlot;
  }

  /** Ends the attempt; the first cause counts. */
  stop(cause: EndCause): void {
    this.#cause ??= cause;
    this.#end.abort(this.#cause);
  }

  #log(source: 'workspace' | 'hook' | 'agent', message: string, level: LogLevel = 'info'): void {
    this.#options.log.log(level, source, message, { issue: this.#issue.number, attempt: this.#number });
    this.#options.onChange();
  }

  /** Runs to the end; the last record it appends is `attempt_ended`. */
  async run(): Promise<void> {
    const { journal, workspaces, newRun } = this.#options;
    const { number } = this.#issue;
    const run = newRun();
    const { workflow, unread } = await pinWorkflow(this.#options, this.#end.signal);
    this.#workflow = workflow;
    const { runtime } = workflow.tool;
    await journal.append({
      type: 'attempt_started',
      issue: number,
      attempt: this.#number,
      run,
      runtime,
      workspace: workspaces.pathOf(number),
      version: this.#issue.updatedAt,
      ...ownMark(workflow),
    });
    sayOwn(this.#options, workflow, number, this.#number);
    const task: WorkspaceTask = {
      issue: number,
      life: this.#entry.life,
      attempt: this.#number,
      branch: this.#entry.branch,
      env: { TOOL_RUN: run },
      output: (text) => {
        this.#output?.write(text);
        this.#options.onChange();
      },
    };
    try {
      const end = await this.#workThrough(task, run, unread);
      await this.#endScripts(run);
      await this.#conclude(task, end);
    } finally {
      this.#output?.close();
    }
  }

  /** What scripts left running goes before anything is collected; what agents leave, their runners end. */
  async #endScripts(run: string): Promise<void> {
    const { afterCreate, beforeRun, afterRun } = this.#workflow.hooks;
    const hasHook = afterCreate !== null || beforeRun !== null || afterRun !== null || hasOwnHook(this.#workflow);
    if (hasHook) await this.#options.leftovers.end(run);
  }

  /** Whatever fails on the way is an end like any other: the attempt gets its record. */
  async #workThrough(bare: WorkspaceTask, run: string, unread: unknown): Promise<RunEnd> {
    const { agentSocket, journal, tracker, workspaces, publisher, log, workflow, attemptOutputs } = this.#options;
    try {
      if (unread !== null) throw unread;
      this.#output = attemptOutputs.open(bare.issue, bare.life, bare.attempt);
      const handler = createAgentRequestHandler({
        workflow,
        journal,
        tracker,
        workspaces,
        publisher,
        log,
        issue: this.#issue,
        task: bare,
      });
      const open = await agentSocket.open(handler);
      try {
        return await this.#prepareAndRun({ ...bare, env: { ...bare.env, ...open.env } }, run);
      } finally {
        await open.close();
      }
    } catch (error) {
      return { ok: false, words: messageOf(error), fault: faultOf(error), resumable: true };
    }
  }

  async #prepareAndRun(task: WorkspaceTask, run: string): Promise<RunEnd> {
    const { journal, workspaces } = this.#options;
    const { signal } = this.#end;
    const { issue } = task;
    const n = this.#number;
    const workspace = await perform(journal, issue, 'workspace', `workspace:${n}`, async () => {
      const found = await workspaces.prepare(task, signal);
      this.#log('workspace', `${found.created ? 'creating' : 'reusing'} ${found.path}`);
      return found;
    });
    if (workspace.created) {
      this.#options.ownHooks?.forget(issue);
      this.#enter('after_create');
      await perform(journal, issue, 'hook', `after_create:${n}`, () => workspaces.afterCreate(task, signal));
      await workspaces.complete(task, signal);
    }
    this.#enter('before_run');
    await workspaces.refresh(signal);
    await perform(journal, issue, 'hook', `before_run:${n}`, () => workspaces.beforeRun(task, signal)).catch(
      (error) => {
        throw workspace.created ? error : asAgentFault(error);
      },
    );
    await runOwnBefore(this.#options, this.#workflow, task, workspace, signal);
    signal.throwIfAborted();
    const end = await this.#runAgent(task, run, workspace.path);
    await this.#afterRun(task);
    await runOwnAfter(this.#options, this.#workflow, 'after_run', task, workspace.path);
    return end;
  }

  #enter(hook: 'after_create' | 'before_run' | 'after_run'): void {
    this.status.stage = hook;
    this.#output?.write(`--- ${hook}\n`);
    this.#log('hook', hook);
  }

  async #runAgent(task: WorkspaceTask, run: string, path: string): Promise<RunEnd> {
    const { journal, workspaces, clock, runner: runnerOf, renderPrompt } = this.#options;
    const { tool, agent: limits } = this.#workflow;
    const runner = runnerOf(tool.runtime);
    const { issue } = task;
    const template = renderPrompt(
      this.#workflow,
      this.#issue,
      { number: this.#number, lastError: this.#entry.lastError },
      { path, branch: task.branch },
    );
    const { signal } = this.#end;
    const listen = () => this.#options.listen(issue, signal);
    const turns = new Turns({ journal, workspaces, task, maxTurns: limits.maxTurns, signal, listen });
    const { prompt, round } = turns.first(template, this.#entry);
    this.status.stage = 'agent';
    this.#output?.write(`--- agent (${runner.name})\n`);
    this.#log('agent', `starting on issue #${issue} (attempt ${this.#number}) with ${runner.name}`);
    const watchdog = new Watchdog({
      clock,
      stallTimeoutMs: tool.stallTimeoutMs,
      turnTimeoutMs: tool.turnTimeoutMs,
      onExpired: (cause) => this.stop(cause),
    });
    if (this.#number > 1) this.#headBefore = await workspaces.peek(task, signal);
    const key = `agent:${this.#number}`;
    await journal.append({ type: 'effect_started', issue, effect: 'agent', key });
    let started = false;
    this.#ran = true;
    let watching: Promise<void> | undefined;
    try {
      const end = await runner.run(
        runRequest(task, this.#entry, this.#issue, this.#workflow, { run, cwd: path, prompt, round }),
        {
          signal,
          output: (text) => task.output(text),
          onStarted: async (pid) => {
            started = true;
            this.status.agentStarted();
            watchdog.turnStarted();
            if (runner.keepsLimits !== true) watching = watchdog.watch();
            await journal.append({ type: 'effect_finished', issue, effect: 'agent', key, result: { pid } });
          },
          onEvent: (event) => {
            this.status.hear(event);
            watchdog.sign(event);
            // Each teammate's turn is watched where the team is led; here, a team that moves on begins anew.
            if (event.type === 'team') watchdog.turnStarted();
            if (event.type === 'usage' && this.status.team !== null) this.#noteUsage();
            if (event.type === 'log') this.#log('agent', `issue #${issue}: ${event.text}`, event.level);
            if (event.type === 'tool_started') turns.toolStarted();
            if (
              event.type === 'session' &&
              event.sessionId !== this.#options.journal.state.entries.get(issue)?.sessionId
            ) {
              this.#note({ type: 'session', issue, session_id: event.sessionId });
            }
            this.#options.onChange();
          },
          takeWords: () => turns.takeWords(),
          onGoesOn: () => turns.unheard(),
          heardWords: (keys) => this.#note({ type: 'delivered', issue, keys: turns.sentOf(keys) }),
          nextTurn: async () => {
            this.#note({ type: 'usage', issue, usage: this.status.used });
            const next = await turns.next();
            if (next !== null) watchdog.turnStarted();
            return next;
          },
        },
      );
      if (!started)
        await journal.append({ type: 'effect_failed', issue, effect: 'agent', key, error: end.words.slice(0, 2000) });
      if (end.ok && end.isUnheard !== true) await turns.ended();
      if (!end.ok && !end.resumable) await journal.append({ type: 'session', issue, session_id: null });
      return end;
    } finally {
      watchdog.close();
      await watching;
    }
  }

  /** A team has no turns at whose end its usage is written down: now and then, what it costs is. */
  #noteUsage(): void {
    const now = this.#options.clock.elapsed();
    if (this.status.usage.cost_usd <= this.#noted.cost || now - this.#noted.at < NOTE_MS) return;
    this.#noted = { cost: this.status.usage.cost_usd, at: now };
    this.#note({ type: 'usage', issue: this.#issue.number, usage: this.status.used });
  }

  /** A record that nobody waits for; that it could not be written shows at the next one that somebody does. */
  #note(record: Parameters<Journal['append']>[0]): void {
    this.#options.journal.append(record).catch((error: unknown) => {
      this.#log('agent', messageOf(error), 'warn');
    });
  }

  /** The hook's failure is said and changes nothing. */
  async #afterRun(task: WorkspaceTask): Promise<void> {
    const { journal, workspaces } = this.#options;
    if (this.#workflow.hooks.afterRun === null) return;
    this.#enter('after_run');
    // The attempt may have been ended, its hook runs all the same; its own time-out bounds it.
    const { signal } = new AbortController();
    try {
      await perform(journal, task.issue, 'hook', `after_run:${this.#number}`, () => workspaces.afterRun(task, signal));
    } catch (error) {
      this.#log('hook', messageOf(error), 'warn');
    }
  }

  async #conclude(task: WorkspaceTask, agent: RunEnd): Promise<void> {
    const { journal, clock, random, workspaces } = this.#options;
    const { issue } = task;
    // Whoever gets the slot starts within the day's cost limit: what this one cost counts by then.
    if (this.status.used.cost_usd > 0) this.#note({ type: 'usage', issue, usage: this.status.used });
    const quotaUntil = quotaEnd(agent.ok ? undefined : agent.quotaAt, clock.now(), random());
    // Before somebody else gets the slot, and finds the same.
    if (quotaUntil !== null && this.#workflow.agent.onQuota === 'wait')
      this.#options.onQuota(this.#workflow.tool.runtime, quotaUntil);
    this.#holdsSlot = false;
    this.#options.onSlotFree();
    this.status.stage = 'collect';
    const onFull = (words: string) => this.#log('workspace', `issue #${issue}: ${words}`, 'warn');
    if (agent.ok && this.#cause === null) await this.#options.listen(issue, this.#end.signal);
    const left = this.#ran ? await collectWork(workspaces, clock, task, this.#end.signal, onFull) : NO_WORK;
    const usage = this.status.used;
    const entry = journal.state.entries.get(issue) ?? this.#entry;
    const { agent: limits } = this.#workflow;
    const verdict = judgeAttempt(
      entry,
      {
        cause: this.#cause ?? (agent.ok ? null : (agent.cutOff ?? null)),
        agent: agent.ok ? { ok: true, words: agent.words, fault: 'agent' } : agent,
        ...left,
        quotaUntil,
        isNewHead: left.head !== null && left.head !== this.#headBefore,
        askedDone: entry.askedDone,
        hasMessages: messagesOf(journal.state, issue).length > 0,
        costUsd: entry.spent.cost_usd + usage.cost_usd,
        turns: usage.turns,
      },
      limits,
      clock.now(),
      random(),
    );
    await journal.append({
      type: 'attempt_ended',
      issue,
      outcome: verdict.outcome,
      reason: verdict.reason,
      usage,
      head: verdict.head,
      next: verdict.next,
      retry_at: verdict.retryAt,
      ...(this.#cause?.kind === 'paused' ? { paused: true } : {}),
      ...(verdict.quotaUntil === null ? {} : { quota_until: verdict.quotaUntil }),
      ...(this.status.team === null ? {} : { team: keptOf(this.status.team) }),
    });
    if (verdict.outcome === 'succeeded') return;
    const wait =
      verdict.retryAt === null || this.#cause?.kind === 'paused'
        ? ''
        : `; next attempt ${verdict.retryAt <= clock.now() ? 'at once' : `in ${Math.ceil((verdict.retryAt - clock.now()) / 1000)} s`}`;
    const { outcome, reason } = verdict;
    this.#log('agent', `attempt ${this.#number} on issue #${issue} ${outcomeWords(outcome)}: ${reason}${wait}`, 'warn');
  }
}
