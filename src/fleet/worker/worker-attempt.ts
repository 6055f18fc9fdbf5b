// One attempt on a worker: a workspace from the coordinator's bundle, the operator's hooks, the agent, and the work handed in.

import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hookEnvironment } from '../../agents/agent-home.ts';
import type { Isolation } from '../../agents/isolation.ts';
import type { RunEnd, RunRequest } from '../../agents/ports.ts';
import type { Expiry } from '../../agents/rules/expiry.ts';
import { Watchdog } from '../../agents/watchdog.ts';
import { removeTree } from '../../base/files/remove-tree.ts';
import type { Clock, Logger } from '../../base/ports.ts';
import type { RuntimeDir } from '../../base/processes/runtime-dir.ts';
import { refusal } from '../../base/rules/codes.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { isFailure, messageOf, ToolError } from '../../base/rules/errors.ts';
import { faultOf } from '../../daemon/fault.ts';
import type { WorkspaceTask } from '../../daemon/ports.ts';
import type { Workflow } from '../../daemon/rules/workflow.ts';
import { createAgentSocket } from '../../daemon/runners/agent-socket.ts';
import { GateRunner } from '../../daemon/runners/gate-runner.ts';
import { createRunner } from '../../daemon/runners/runners.ts';
import { Mirror } from '../../daemon/workspaces/mirror/mirror.ts';
import { ModuleCopies } from '../../daemon/workspaces/mirror/module-copies.ts';
import { WorkspaceManifests } from '../../daemon/workspaces/workspace-manifests.ts';
import { WorkspacePlaces } from '../../daemon/workspaces/workspace-places.ts';
import { ROOT_DATA } from '../../daemon/workspaces/workspace-root.ts';
import { DiskWorkspaces } from '../../daemon/workspaces/workspaces.ts';
import type { Evidence } from '../../gate/rules/evidence.ts';
import { formatSlug } from '../../git/rules/repository.ts';
import { FLEET_CODES } from '../rules/fleet-codes.ts';
import { WORKSPACE_PLACEHOLDER } from '../rules/placeholder.ts';
import type { Order, WorkCommits } from '../wire.ts';
import { unpackOrigin, WorkCarrier } from '../work-carrier.ts';
import { Beats } from './beats.ts';
import { type CoordinatorClient, Superseded } from './coordinator-client.ts';

export type AttemptParts = {
  readonly client: CoordinatorClient;
  readonly order: Order;
  /** Of the attempt alone. */
  readonly stateDir: string;
  /** Its workspace is made in it. */
  readonly root: string;
  /** Bundles that nobody took are kept in it. */
  readonly keptDir: string;
  readonly id: string;
  /** The settings of a worker, into which those of the order go. */
  readonly defaults: Workflow;
  readonly runtime: RuntimeDir;
  readonly env: Environment;
  readonly isolation: (mode: Workflow['tool']['isolation']) => Promise<Isolation>;
  readonly newRun: () => string;
  /** Ends every process of a run. */
  readonly endRun: (run: string) => Promise<number>;
  readonly clock: Clock;
  readonly log: Logger;
  /** The worker ends: the agent is ended, and its work handed back. */
  readonly returning: AbortSignal;
};

/** Settings that the coordinator sends, in the place of those of a file. */
function workflowOf({ defaults }: AttemptParts, order: Order): Workflow {
  return {
    ...defaults,
    tracker: { ...defaults.tracker, slug: order.slug },
    workspace: { ...defaults.workspace, submodules: false },
    hooks: order.hooks,
    tool: order.tool,
    gate: order.gate,
  };
}

function failed(error: unknown): RunEnd {
  // What the coordinator does not take of an agent's work is the agent's fault.
  const reason = isFailure(error, FLEET_CODES.coordinator_refused) ? String(error.values.reason ?? '') : '';
  const fault = reason.startsWith('bundle_') ? 'agent' : faultOf(error);
  return { ok: false, words: messageOf(error), fault, resumable: true };
}

export class WorkerAttempt {
  readonly #parts: AttemptParts;
  readonly #workflow: Workflow;
  readonly #beats: Beats;
  /** The agent is to be ended. */
  readonly #stop = new AbortController();
  readonly #task: WorkspaceTask;
  #delivered: string;
  #superseded: Superseded | null = null;

  constructor(parts: AttemptParts) {
    const { order, client, clock } = parts;
    this.#parts = parts;
    this.#workflow = workflowOf(parts, order);
    this.#delivered = order.files ?? order.head;
    this.#beats = new Beats({
      client,
      clock,
      wantsWords: order.tool.mode !== 'agent',
      onStop: () => this.#stop.abort(),
      onFailure: (error) => this.#lose(error),
    });
    this.#task = {
      ...{ issue: order.issue, life: order.life, attempt: order.attempt, branch: order.branch },
      env: { TOOL_RUN: parts.newRun() },
      output: (text) => this.#beats.write(text),
    };
  }

  /** A request was refused for good: the agent is ended. */
  #lose(error: unknown): void {
    if (error instanceof Superseded) this.#superseded ??= error;
    this.#stop.abort();
  }

  /** Runs to the end. Throws `Superseded` when another attempt goes on. */
  async run(): Promise<void> {
    const { returning, client, stateDir, root, endRun } = this.#parts;
    const returns = () => this.#stop.abort();
    returning.addEventListener('abort', returns, { once: true });
    if (returning.aborted) returns();
    this.#beats.start();
    try {
      const { end, evidence } = await this.#work();
      await this.#beats.flush();
      if (this.#superseded !== null) throw this.#superseded;
      await client.end({ end, returned: returning.aborted && !end.ok, evidence });
    } finally {
      returning.removeEventListener('abort', returns);
      await this.#beats.close();
      await endRun(this.#task.env.TOOL_RUN ?? '');
      for (const path of [root, stateDir]) await removeTree(path).catch(() => undefined);
    }
  }

  async #work(): Promise<{ readonly end: RunEnd; readonly evidence: Evidence | null }> {
    try {
      return await this.#inWorkspace();
    } catch (error) {
      if (error instanceof Superseded) throw error;
      return { end: failed(error), evidence: null };
    }
  }

  async #inWorkspace(): Promise<{ readonly end: RunEnd; readonly evidence: Evidence | null }> {
    const { order, stateDir, root, client, runtime, env, clock, log, newRun } = this.#parts;
    const workflow = () => this.#workflow;
    const { signal } = this.#stop;
    const [origin, bundle] = [join(stateDir, 'origin.git'), join(stateDir, 'handed-out.bundle')];
    await mkdir(origin, { recursive: true, mode: 0o700 });
    await mkdir(join(root, ROOT_DATA), { recursive: true, mode: 0o700 });
    await client.code(bundle);
    await unpackOrigin(origin, bundle, order, signal);
    const isolation = await this.#parts.isolation(order.tool.isolation);
    const gitEnv = { ...env };
    const remote = { remoteUrl: pathToFileURL(origin).href, secret: async () => null, env: gitEnv, clock };
    const silenceMs = () => this.#workflow.workspace.cloneTimeoutMs;
    const mirror = new Mirror({ path: join(stateDir, 'repo.git'), ...remote, silenceMs });
    const author = order.author ?? undefined;
    const workspaces = new DiskWorkspaces({
      ...{ root, mirror, isolation, workflow, clock, log, author },
      claimRoot: () => undefined,
      modules: new ModuleCopies({ directory: join(stateDir, 'submodules'), ...remote, silenceMs }),
      hookEnv: () => hookEnvironment(env),
    });
    const manifests = new WorkspaceManifests(join(root, ROOT_DATA));
    const places = new WorkspacePlaces({ root, isolation, author }, manifests);
    const carrier = new WorkCarrier({ mirror, places, workspaces });
    const task = this.#task;
    const { path } = await workspaces.prepare(task, signal);
    this.#beats.enter('after_create');
    await workspaces.afterCreate(task, signal);
    await workspaces.complete(task, signal);
    this.#beats.enter('before_run');
    await workspaces.beforeRun(task, signal);
    await this.#putFiles(origin, workspaces, carrier, signal);
    const agents = { workflow, stateDir, runtime, isolation, env, author };
    const deliver = async () => {
      const head = await workspaces.peek(task, signal);
      if (head !== null) await this.#deliver(carrier, { head, files: null });
    };
    const end = await this.#runAgent(path, agents, deliver);
    await this.#after('after_run', () => workspaces.afterRun(task, new AbortController().signal));
    await this.#parts.endRun(task.env.TOOL_RUN ?? '');
    const head = await this.#handIn(workspaces, carrier);
    const isMeasured = end.ok && head !== null && this.#workflow.gate.mode !== 'off' && !signal.aborted;
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
    this.#beats.enter(hook);
    try {
      await run();
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
        if (asked.type === 'done' || asked.type === 'pull_request') await deliver();
        await this.#beats.flush();
        return client.ask(asked);
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
      const end = await createRunner(agents)(order.tool.runtime).run(request, {
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
          const next = await watchdog.outside(async () => {
            await deliver();
            await this.#beats.flush();
            return client.turn();
          });
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

  /** Hands in all of the workspace; gives the commit that can be published. */
  async #handIn(workspaces: DiskWorkspaces, carrier: WorkCarrier): Promise<string | null> {
    const { signal } = new AbortController();
    const task = this.#task;
    const all = await carrier.read(task, signal);
    const head = await workspaces.peek(task, signal);
    await this.#deliver(carrier, head === null || head === all.head ? all : { head, files: null });
    return head;
  }

  /** Once for each state. What is refused stays on this machine. */
  async #deliver(carrier: WorkCarrier, work: WorkCommits): Promise<void> {
    const { order, client, stateDir, keptDir, id, log } = this.#parts;
    const tip = work.files ?? work.head;
    if (tip === this.#delivered) return;
    const { signal } = new AbortController();
    const path = join(stateDir, 'handed-in.bundle');
    const isNew = await carrier.packNew(this.#task, path, work, [order.files ?? order.head, order.base], signal);
    try {
      await client.work(isNew ? path : null, work);
      this.#delivered = tip;
    } catch (error) {
      if (!(error instanceof Superseded) && !(error instanceof ToolError)) throw error;
      if (isNew) {
        const kept = join(keptDir, `${id}.bundle`);
        await mkdir(keptDir, { recursive: true, mode: 0o700 });
        await rename(path, kept);
        const what = { attempt: id, path: kept, said: messageOf(error) };
        log.log('warn', 'agent', refusal(FLEET_CODES.work_kept_on_worker, what));
      }
      throw error;
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
    this.#beats.enter('gate');
    const line = { enter: async () => () => undefined };
    const gate = new GateRunner({ ...agents, line, clock, newRun });
    const base = await mirror.comparison.baseOf(commit, signal);
    const { timeoutMs } = this.#workflow.gate;
    return gate.measure({ issue: order.issue, path, commit, base, timeoutMs, output: this.#task.output }, signal);
  }
}
