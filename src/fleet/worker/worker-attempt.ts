// One attempt on a worker: a workspace from the coordinator's bundle, the operator's hooks, the agent, and the work handed in.

import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RunEnd, RunRequest } from '../../agents/ports.ts';
import type { Expiry } from '../../agents/rules/expiry.ts';
import { tracedRunner } from '../../agents/traced-runner.ts';
import { Watchdog } from '../../agents/watchdog.ts';
import { removeTree } from '../../base/files/remove-tree.ts';
import { isWithoutRoom } from '../../base/files/room.ts';
import { inSpan } from '../../base/in-span.ts';
import { refusal } from '../../base/rules/codes.ts';
import { errorCode, isFailure, messageOf } from '../../base/rules/errors.ts';
import type { Span } from '../../base/rules/span.ts';
import { faultOf } from '../../daemon/fault.ts';
import type { WorkspaceTask } from '../../daemon/ports.ts';
import { isDiskFull } from '../../daemon/rules/disk-full.ts';
import type { Workflow } from '../../daemon/rules/workflow.ts';
import { createAgentSocket } from '../../daemon/runners/agent-socket.ts';
import { GateRunner } from '../../daemon/runners/gate-runner.ts';
import { createRunner } from '../../daemon/runners/runners.ts';
import type { Mirror } from '../../daemon/workspaces/mirror/mirror.ts';
import { ROOT_DATA } from '../../daemon/workspaces/workspace-root.ts';
import type { DiskWorkspaces } from '../../daemon/workspaces/workspaces.ts';
import type { Evidence } from '../../gate/rules/evidence.ts';
import { formatSlug } from '../../git/rules/repository.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import { attemptName } from '../rules/job.ts';
import { WORKSPACE_PLACEHOLDER } from '../rules/placeholder.ts';
import type { WorkerEnd } from '../wire.ts';
import type { WorkCarrier } from '../work-carrier.ts';
import { fetchCode, openWorkspace, workflowOf } from './attempt-workspace.ts';
import { Beats } from './beats.ts';
import type { CodeCache } from './code-cache.ts';
import { Moved, OWN_FAULTS, Superseded } from './coordinator-answers.ts';
import { HandIn, type HandInParts, reportReturned } from './hand-in.ts';
import type { Signs } from './life-signs.ts';

export type AttemptParts = HandInParts & {
  readonly cache: CodeCache;
  readonly signs: Signs;
  readonly newRun: () => string;
  /** Ends every process of a run. */
  readonly endRun: (run: string) => Promise<number>;
  /** The worker ends: the agent is ended, and its work handed back. */
  readonly returning: AbortSignal;
  /** All that the worker does for it. */
  readonly span: Span;
  readonly askedAt: number;
};

type End = { readonly end: RunEnd; readonly evidence: Evidence | null };

function failed(error: unknown): RunEnd {
  // What the coordinator does not take of an agent's work is the agent's fault.
  const reason = isFailure(error, FLEET_CODES.coordinator_refused) ? String(error.values.reason ?? '') : '';
  const fault = reason.startsWith('bundle_') ? 'agent' : faultOf(error);
  return { ok: false, words: messageOf(error), fault, resumable: true };
}

/** Steps that are hooks of the workflow. */
const HOOKS: readonly string[] = ['after_create', 'before_run', 'after_run', 'before_remove'];

/** `origin`: what it was cloned from. */
type Begun = Awaited<ReturnType<typeof openWorkspace>> & { readonly origin: string; readonly path: string };

export class WorkerAttempt {
  readonly #parts: AttemptParts;
  readonly #workflow: Workflow;
  readonly #beats: Beats;
  /** The agent is to be ended. */
  readonly #stop = new AbortController();
  readonly #task: WorkspaceTask;
  readonly #handIn: HandIn;
  #superseded: Superseded | null = null;
  #isAble = true;
  /** For a coordinator that goes on with the attempt once the work is handed in; gives why it did not take it. */
  #handInAgain: () => Promise<RunEnd | null> = async () => null;
  /** Gives back what others may share. */
  #release: () => Promise<void> = async () => undefined;

  constructor(parts: AttemptParts) {
    const { order, client, clock, signs } = parts;
    this.#parts = parts;
    this.#workflow = workflowOf(parts);
    this.#beats = new Beats({
      client,
      clock,
      signs,
      wantsWords: order.tool.mode !== 'agent',
      onStop: () => this.#stop.abort(),
      onFailure: (error) => this.#lose(error),
    });
    this.#task = {
      ...{ issue: order.issue, life: order.life, attempt: order.attempt, branch: order.branch },
      env: { TOOL_RUN: parts.newRun() },
      output: (text) => this.#beats.write(text),
    };
    this.#handIn = new HandIn(parts, this.#task);
  }

  /** A request was refused for good: the agent is ended. */
  #lose(error: unknown): void {
    if (error instanceof Superseded) this.#superseded ??= error;
    this.#stop.abort();
  }

  /**
   * Runs to the end. Throws `Superseded` when another attempt goes on. False: this machine had no room for it, or may not write
   * to its places.
   */
  async run(): Promise<boolean> {
    const { returning, client, span, askedAt } = this.#parts;
    const returns = () => this.#stop.abort();
    returning.addEventListener('abort', returns, { once: true });
    const { signal } = client;
    const loses = () => this.#lose(signal.reason);
    signal.addEventListener('abort', loses, { once: true });
    if (returning.aborted) returns();
    this.#beats.start();
    span.start('take', {}, askedAt).end();
    let code: string | undefined = 'superseded';
    try {
      const { end, evidence } = await this.#work();
      code = end.ok ? undefined : (end.cutOff?.kind ?? `${end.fault}_failed`);
      await this.#beats.flush();
      if (this.#superseded !== null) throw this.#superseded;
      let said: WorkerEnd = { end, returned: returning.aborted && !end.ok, evidence };
      const again = async () => {
        const words = await this.#handInAgain();
        if (words !== null) said = { end: words, returned: false, evidence: null };
      };
      await this.#delivering(again, (moves) => client.end(said, moves));
      return this.#isAble;
    } finally {
      returning.removeEventListener('abort', returns);
      signal.removeEventListener('abort', loses);
      await this.#beats.close();
      await this.#clear();
      span.end(code);
    }
  }

  /** A coordinator that goes on with the attempt meanwhile gets the work before it is asked. */
  async #delivering<T>(deliver: () => Promise<unknown>, ask: (moves: number) => Promise<T>): Promise<T> {
    for (;;) {
      const { moves } = this.#parts.client;
      await deliver();
      try {
        return await ask(moves);
      } catch (error) {
        if (!(error instanceof Moved)) throw error;
      }
    }
  }

  /** A step with a line in the output, and a span. */
  #step<T>(name: string, act: () => Promise<T>): Promise<T> {
    this.#beats.enter(name);
    return inSpan(this.#parts.span, HOOKS.includes(name) ? `hook ${name}` : name, act);
  }

  /** Hands in what an attempt of an earlier process has left in its workspace. */
  async salvage(): Promise<void> {
    const { client, order } = this.#parts;
    this.#handIn.isUnsaved = !order.measures;
    try {
      const { places, workspaces, carrier } = await openWorkspace(this.#parts, () => this.#workflow);
      if (!order.measures && places.isOurs(order.issue)) {
        await this.#handIn.all(workspaces, carrier);
        await reportReturned(client);
      } else this.#handIn.isUnsaved = false;
    } finally {
      await this.#clear();
      this.#parts.span.end();
    }
  }

  /** Removes its places, unless they are the only ones that hold the work. */
  async #clear(): Promise<void> {
    const { root, stateDir, endRun, kept, id, log } = this.#parts;
    await endRun(this.#task.env.TOOL_RUN ?? '');
    await this.#release();
    if (this.#handIn.isUnsaved) {
      log.log('warn', 'agent', refusal(FLEET_CODES.work_left_on_worker, { attempt: attemptName(id), path: root }));
      return;
    }
    for (const path of [root, stateDir]) await removeTree(path).catch(() => undefined);
    if (!this.#handIn.isKept) await kept.forget(id).catch(() => undefined);
  }

  async #work(): Promise<End> {
    try {
      return await this.#inWorkspace();
    } catch (error) {
      if (error instanceof Superseded) throw error;
      // An agent may have taken away what cannot be read any more.
      const { id, root, stateDir, log } = this.#parts;
      const isFull =
        isDiskFull(error) || (await isWithoutRoom(dirname(root))) || (await isWithoutRoom(dirname(stateDir)));
      this.#isAble = !isFull && (this.#handIn.isUnsaved || !OWN_FAULTS.includes(errorCode(error)));
      const what = { attempt: attemptName(id), said: messageOf(error) };
      if (!this.#isAble) log.log('warn', 'agent', refusal(FLEET_CODES.worker_unable, what));
      return { end: failed(error), evidence: null };
    }
  }

  /** The workspace, from the code that the coordinator hands out. @param again a damaged copy of it is made anew */
  async #begin(again: boolean): Promise<Begun> {
    const { stateDir, root, span } = this.#parts;
    const { signal } = this.#stop;
    await mkdir(stateDir, { recursive: true, mode: 0o700 });
    await mkdir(join(root, ROOT_DATA), { recursive: true, mode: 0o700 });
    const code = await inSpan(span, 'fetch', () => fetchCode(this.#parts, signal));
    this.#release = code.release;
    try {
      const made = await inSpan(span, 'workspace', async () => {
        const opened = await openWorkspace(this.#parts, () => this.#workflow, code);
        return { ...opened, origin: code.origin, path: (await opened.workspaces.prepare(this.#task, signal)).path };
      });
      // The clone comes before the hook.
      await this.#step('after_create', () => made.workspaces.afterCreate(this.#task, signal));
      await made.workspaces.complete(this.#task, signal);
      return made;
    } catch (error) {
      // A hook that fails is the repository's fault.
      const mayBeDamaged = again && !signal.aborted && faultOf(error) === 'runtime';
      if (!mayBeDamaged || !(await code.isDamaged())) throw error;
      this.#release = async () => undefined;
      await code.release();
      for (const place of [root, stateDir]) await removeTree(place);
      return this.#begin(false);
    }
  }

  async #inWorkspace(): Promise<End> {
    const { order, newRun, kept, id, client, log } = this.#parts;
    const { signal } = this.#stop;
    await kept.note(id, this.#handIn.record(null));
    client.onMoved = async () => {
      const { repository, issue, coordinator, attempt } = client.job;
      log.log('info', 'agent', `${repository}#${issue}: goes on as attempt ${attempt} of ${coordinator}`);
      // For the next start of this worker. What is kept already has a record of its own.
      if (!this.#handIn.isKept) await kept.note(id, this.#handIn.record(null)).catch(() => undefined);
    };
    const task = this.#task;
    const { span } = this.#parts;
    const { mirror, workspaces, carrier, agents, path, origin } = await this.#begin(true);
    await this.#step('before_run', () => workspaces.beforeRun(task, signal));
    await this.#putFiles(origin, workspaces, carrier, signal);
    this.#handIn.isUnsaved = !order.measures;
    const deliver = async () => {
      const head = await workspaces.peek(task, signal);
      if (head !== null) await this.#handIn.deliver(carrier, { head, files: null });
    };
    const end = order.measures ? ({ ok: true, words: '' } as const) : await this.#runAgent(path, agents, deliver);
    await this.#after('after_run', () => workspaces.afterRun(task, new AbortController().signal));
    await this.#parts.endRun(task.env.TOOL_RUN ?? '');
    const head = order.measures
      ? order.head
      : await inSpan(span, 'hand_in', () => this.#handIn.all(workspaces, carrier));
    this.#handInAgain = async () => {
      if (!this.#handIn.isOfAnother) return null;
      try {
        await this.#handIn.all(workspaces, carrier);
        return null;
      } catch (error) {
        if (error instanceof Superseded) throw error;
        return failed(error);
      }
    };
    const isMeasured = head !== null && (order.measures || this.#workflow.gate.mode !== 'off') && !signal.aborted;
    const evidence = isMeasured ? await this.#measure(agents, mirror, path, head, newRun) : null;
    await this.#after('before_remove', () => workspaces.beforeRemove(task, new AbortController().signal));
    return { end, evidence };
  }

  /** Files that an earlier attempt did not commit. What was merged since stays where they fit it. */
  async #putFiles(origin: string, workspaces: DiskWorkspaces, carrier: WorkCarrier, signal: AbortSignal) {
    const { head, files } = this.#parts.order;
    if (files === null) return;
    const task = this.#task;
    await carrier.fetch(origin, files, task.issue, signal);
    const { head: now } = await workspaces.stateOf(task, signal);
    const moved = now === head ? null : await carrier.moved(task, { head, files }, now, signal);
    await carrier.write(task, moved ?? { head, files }, signal);
  }

  async #after(hook: 'after_run' | 'before_remove', run: () => Promise<boolean>): Promise<void> {
    const { hooks } = this.#workflow;
    if ((hook === 'after_run' ? hooks.afterRun : hooks.beforeRemove) === null) return;
    try {
      await this.#step(hook, run);
    } catch (error) {
      this.#beats.event({ type: 'log', level: 'warn', text: messageOf(error) });
    }
  }

  async #runAgent(
    path: string,
    agents: Parameters<typeof createRunner>[0],
    deliver: () => Promise<void>,
  ): Promise<RunEnd> {
    const { client, order, runtime } = this.#parts;
    const { signal } = this.#stop;
    const task = this.#task;
    const { clock } = this.#parts;
    const { stallTimeoutMs, turnTimeoutMs } = order.tool;
    const passed: Expiry[] = [];
    const expired = new AbortController();
    const onExpired = (cause: Expiry) => {
      passed.push(cause);
      expired.abort();
    };
    const watchdog = new Watchdog({ clock, stallTimeoutMs, turnTimeoutMs, onExpired });
    let watching: Promise<void> | undefined;
    const open = await createAgentSocket(runtime).open((asked) =>
      // The agent waits for the coordinator.
      watchdog.outside(async () => {
        // What is published is what the coordinator has.
        const publishes = asked.type === 'done' || asked.type === 'pull_request';
        const first = async () => {
          if (publishes) await deliver();
          await this.#beats.flush();
        };
        return this.#delivering(first, client.asker(asked));
      }),
    );
    try {
      const run = task.env.TOOL_RUN ?? '';
      const request: RunRequest = {
        ...{ run, issue: order.issue, attempt: order.attempt, life: order.life, cwd: path, resume: null },
        prompt: order.prompt.replaceAll(WORKSPACE_PLACEHOLDER, path),
        issueText: order.issue_text,
        ...(order.round === null ? {} : { round: order.round }),
        budgetUsd: order.budget_usd,
        env: {
          ...{ TOOL_RUN: run, ...open.env, TOOL_ISSUE: String(order.issue), TOOL_ATTEMPT: String(order.attempt) },
          ...{ TOOL_REPO: formatSlug(order.slug), TOOL_BRANCH: order.branch, TOOL_WORKSPACE: path },
        },
      };
      this.#beats.enter('agent');
      const runner = tracedRunner(createRunner(agents)(order.tool.runtime), () => this.#parts.span);
      const end = await runner.run(request, {
        signal: AbortSignal.any([signal, expired.signal]),
        output: task.output,
        onStarted: (pid) => {
          watchdog.turnStarted();
          watching = watchdog.watch();
          return watchdog.outside(() => client.started(pid));
        },
        onEvent: (event) => {
          watchdog.sign(event);
          // Each teammate's turn is watched where the team is led; here, a team that moves on begins anew.
          if (event.type === 'team') watchdog.turnStarted();
          this.#beats.event(event);
        },
        takeWords: () => this.#beats.takeWords(),
        heardWords: (keys) => this.#beats.heard(keys),
        nextTurn: async () => {
          const first = async () => {
            await deliver();
            await this.#beats.flush();
          };
          const next = await watchdog.outside(() => this.#delivering(first, (moves) => client.turn(moves)));
          if (next !== null) watchdog.turnStarted();
          return next;
        },
      });
      const [limit] = passed;
      if (limit === undefined || signal.aborted) return end;
      return { ok: false, words: end.words, fault: 'agent', resumable: end.ok || end.resumable, cutOff: limit };
    } catch (error) {
      if (error instanceof Superseded) this.#lose(error);
      return failed(error);
    } finally {
      watchdog.close();
      await watching;
      await open.close();
    }
  }

  async #measure(
    agents: Omit<ConstructorParameters<typeof GateRunner>[0], 'line' | 'clock' | 'newRun'>,
    mirror: Mirror,
    path: string,
    commit: string,
    newRun: () => string,
  ): Promise<Evidence> {
    const { clock, order } = this.#parts;
    const { signal } = this.#stop;
    const line = { enter: async () => () => undefined };
    const gate = new GateRunner({ ...agents, line, clock, newRun });
    const { timeoutMs } = this.#workflow.gate;
    return this.#step('gate', async () => {
      const base = await mirror.comparison.baseOf(commit, signal);
      return gate.measure({ issue: order.issue, path, commit, base, timeoutMs, output: this.#task.output }, signal);
    });
  }
}
