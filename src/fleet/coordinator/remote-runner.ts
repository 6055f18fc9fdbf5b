// The runner that hands an attempt to the queue, and sees to it until a worker has made it or is lost.

import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunEnd, RunHooks, Runner, RunRequest } from '../../agents/ports.ts';
import { inSpan } from '../../base/in-span.ts';
import type { Clock } from '../../base/ports.ts';
import { messageOf, ToolError } from '../../base/rules/errors.ts';
import type { Span } from '../../base/rules/span.ts';
import type { GateRequest, WorkspaceTask } from '../../daemon/ports.ts';
import { neededLabels } from '../../daemon/rules/queue-settings.ts';
import type { Workflow } from '../../daemon/rules/workflow.ts';
import type { Evidence } from '../../gate/rules/evidence.ts';
import type { Author } from '../../git/rules/author.ts';
import { type FleetJob, isLost, priorityOf } from '../rules/job.ts';
import type { Order } from '../wire.ts';
import type { PackedWork, WorkCarrier } from '../work-carrier.ts';
import type { Coordinator } from './coordinator.ts';
import { inTime } from './in-time.ts';
import type { KeptCommits } from './kept-commits.ts';
import { RemoteAttempt } from './remote-attempt.ts';

export type RemoteRunnerOptions = {
  readonly coordinator: Coordinator;
  readonly carrier: WorkCarrier;
  /** With the hooks, which workers run. */
  readonly workflow: () => Workflow;
  /** `<host>/<owner>/<repo>`. */
  readonly repository: string;
  /** Number of the lease on it. */
  readonly fence: number;
  /** A place for bundles. */
  readonly directory: string;
  readonly author: Author | undefined;
  readonly clock: Clock;
  /** Runs what stays on this machine: whoever only reads. */
  readonly local: Runner;
  /** Takes evidence of the work of an issue. Never rejects. */
  readonly onEvidence: (issue: number, evidence: Evidence) => Promise<void>;
  /** Labels of issues by their numbers, as of their last attempt in this process. */
  readonly labels: Map<number, readonly string[]>;
  /** What the work on an issue belongs to. */
  readonly spanOf: (issue: number) => Span;
  readonly before?: KeptCommits['before'];
  /** Aborted once another coordinator may act: agents at work are that one's. */
  readonly lost?: AbortSignal | undefined;
};

/** Labels of so many issues are kept. */
const MOST_LABELLED = 1_000;

/** Of work that only has to be measured. */
type Measurement = {
  readonly number: number;
  readonly commit: string;
  readonly onEvidence: (evidence: Evidence) => Promise<void>;
};

/** `isAwaited`: a worker whose agent is at work is about to take it, and no other one gets it. */
type Seen = { readonly job: FleetJob; readonly priority: number; readonly isAwaited: () => boolean };

/** Each attempt has a place of its own on a worker, and sessions of models belong to a place. */
const SESSION_GONE =
  'An earlier attempt worked on this issue. Its session is gone; its commits and files are in this workspace. Read them first.';

/** How often it is looked whether the job is there and its worker lives. */
const LOOK_MS = 1_000;
/** A worker that is asked to end its agent has so long to hand the work in. */
const STOP_MS = 20_000;

export class RemoteRunner implements Runner {
  readonly #options: RemoteRunnerOptions;

  constructor(options: RemoteRunnerOptions) {
    this.#options = options;
  }

  get name(): string {
    return `${this.#options.local.name} on a worker`;
  }

  /** Their events come over the network, and a run holds more than the agent. */
  readonly keepsLimits = true;

  run(request: RunRequest, hooks: RunHooks): Promise<RunEnd> {
    if (request.role !== undefined) return this.#options.local.run(request, hooks);
    const { labels } = this.#options;
    labels.delete(request.issue);
    labels.set(request.issue, request.labels ?? []);
    for (const oldest of labels.keys()) {
      if (labels.size <= MOST_LABELLED) break;
      labels.delete(oldest);
    }
    return this.#handOut(request, hooks);
  }

  /** Has a worker measure a commit of finished work, without an agent. @param number of the measurement, never used before */
  async measure(
    task: WorkspaceTask,
    number: number,
    { commit, path, output }: GateRequest,
    signal: AbortSignal,
  ): Promise<{ readonly end: RunEnd; readonly evidence: Evidence | null }> {
    const { issue, life, attempt, branch } = task;
    const request: RunRequest = {
      ...{ issue, life, attempt, run: '', cwd: path, resume: null, prompt: '', issueText: '', budgetUsd: null },
      ...{ env: { TOOL_BRANCH: branch }, labels: this.#options.labels.get(issue) ?? [] },
    };
    const hooks: RunHooks = {
      ...{ signal, output, onStarted: async () => undefined, nextTurn: async () => null },
      onEvent: (event) => {
        if (event.type === 'log') output(`${event.text}\n`);
      },
    };
    let evidence: Evidence | null = null;
    const onEvidence = async (got: Evidence) => {
      evidence = got;
    };
    const end = await this.#handOut(request, hooks, { number, commit, onEvidence });
    return { end, evidence };
  }

  async #handOut(request: RunRequest, hooks: RunHooks, measurement?: Measurement): Promise<RunEnd> {
    const { directory } = this.#options;
    const { issue, life, attempt } = request;
    const kind = measurement === undefined ? '' : `-m${measurement.number}`;
    const place = join(directory, `${issue}-${life}-${attempt}${kind}`);
    try {
      await rm(place, { recursive: true, force: true });
      await mkdir(place, { recursive: true, mode: 0o700 });
      return await this.#hand(request, hooks, place, measurement);
    } catch (error) {
      if (hooks.signal.aborted) return { ok: false, words: messageOf(error), fault: 'runtime', resumable: true };
      const fault = error instanceof ToolError && error.kind === 'agent' ? 'agent' : 'runtime';
      return { ok: false, words: messageOf(error), fault, resumable: true };
    } finally {
      await rm(place, { recursive: true, force: true });
    }
  }

  async #hand(request: RunRequest, hooks: RunHooks, place: string, measurement?: Measurement): Promise<RunEnd> {
    const { coordinator, carrier, workflow, clock } = this.#options;
    const task: WorkspaceTask = {
      issue: request.issue,
      life: request.life,
      attempt: request.attempt,
      branch: request.env.TOOL_BRANCH ?? '',
      env: {},
      output: hooks.output,
    };
    const { submodules } = workflow().workspace;
    const fills = { submodules, commit: measurement?.commit };
    const span = this.#options.spanOf(request.issue);
    const packed = await inSpan(span, 'pack', () =>
      carrier.pack(task, join(place, 'handed-out.bundle'), fills, hooks.signal),
    );
    const job = this.#job(request, measurement?.number);
    const { maxBundleBytes } = coordinator.options;
    const queued = span.start('queue');
    const before = measurement === undefined ? (this.#options.before?.(request) ?? null) : null;
    const attempt = new RemoteAttempt({
      ...{ job, hooks, clock, bundle: packed.path },
      onEvidence: measurement?.onEvidence ?? ((evidence) => this.#options.onEvidence(request.issue, evidence)),
      order: {
        ...this.#order(request, packed),
        ...(measurement === undefined ? {} : { measures: true }),
        ...(span.traceparent === null ? {} : { traceparent: span.traceparent }),
      },
      usedBefore: before?.used ?? null,
      onTaken: (worker) => queued.end(undefined, { worker }),
      handler: coordinator.handlerOf(request.env),
      packSince: (have, to) => carrier.packSince(request.issue, packed, have, to, hooks.signal),
      // What only measures has nothing to hand in.
      adopt: async (path, work, base) => {
        if (measurement !== undefined) return;
        await inSpan(span, 'adopt', () =>
          inTime(clock, (limit) => carrier.adopt(task, path, work, { base, maxBundleBytes }, limit)),
        );
      },
    });
    coordinator.add(attempt);
    const needs = job.labels.length === 0 ? '' : ` with ${job.labels.join(', ')}`;
    hooks.onEvent({ type: 'message', text: `waits for a worker${needs}` });
    try {
      const priority = priorityOf(workflow().agent.priorityLabels, request.labels ?? []);
      const isAwaited = before?.isAwaited ?? (() => false);
      return await this.#see(attempt, { job, priority, isAwaited }, hooks.signal);
    } finally {
      coordinator.remove(attempt);
      queued.end('not_taken');
      await coordinator.options.queue.remove(job).catch(() => undefined);
    }
  }

  /** Sees to it that the job is in the queue until a worker has it, and that this worker lives. */
  async #see(attempt: RemoteAttempt, { job, priority, isAwaited }: Seen, signal: AbortSignal): Promise<RunEnd> {
    const { queue, leaseMs } = this.#options.coordinator.options;
    const { clock } = this.#options;
    const over = new AbortController();
    const ended = attempt.ended.finally(() => over.abort());
    // Made once: Node 20 keeps each of them as long as the signals that it is made of.
    const either = AbortSignal.any([over.signal, signal]);
    let stoppedAt: number | null = null;
    while (!over.signal.aborted) {
      if (signal.aborted) {
        stoppedAt ??= clock.elapsed();
        const isEmpty = attempt.worker === null || job.measurement !== undefined;
        // Its worker goes on with it under the next coordinator.
        const isAnothers = this.#options.lost?.aborted === true;
        if (isEmpty || isAnothers || clock.elapsed() - stoppedAt > STOP_MS) await attempt.lose();
        else attempt.stop();
      } else if (attempt.worker === null) {
        // A store that lost what it had gets the job again.
        if (!isAwaited()) await this.#put(attempt, job, priority);
      } else if (attempt.silentMs > leaseMs) {
        const isHeld = attempt.isInQueue ? await queue.isHeld(job).catch(() => null) : null;
        if (isLost(attempt.silentMs, leaseMs, isHeld)) await attempt.lose();
      }
      // A worker is lost just after its lease.
      const rest = attempt.worker === null || signal.aborted ? LOOK_MS : leaseMs - attempt.silentMs + 1;
      await clock.sleep(rest > 0 ? Math.min(rest, LOOK_MS) : LOOK_MS, signal.aborted ? over.signal : either);
    }
    return ended;
  }

  /** What goes wrong is said once for each new reason, and tried again. */
  async #put(attempt: RemoteAttempt, job: FleetJob, priority: number): Promise<void> {
    const { queue } = this.#options.coordinator.options;
    try {
      if ((await queue.has(job)) === false) await queue.add(job, priority);
    } catch (error) {
      attempt.say(messageOf(error));
    }
  }

  #job({ issue, life, attempt, labels = [] }: RunRequest, measurement: number | undefined): FleetJob {
    const { coordinator, repository, fence, workflow } = this.#options;
    const { address, insecure, version, leaseMs } = coordinator.options;
    return {
      ...{ coordinator: address(), insecure, repository, issue, life, attempt, fence, version, lease_ms: leaseMs },
      labels: neededLabels(workflow().agent.workerLabels, labels),
      ...(measurement === undefined ? {} : { measurement }),
    };
  }

  #order(request: RunRequest, packed: PackedWork): Order {
    const { workflow, author, coordinator } = this.#options;
    const { hooks, gate, tool, tracker } = workflow();
    const { command, allowedTools, env } = tool;
    return {
      ...{ issue: request.issue, life: request.life, attempt: request.attempt, slug: tracker.slug },
      branch: request.env.TOOL_BRANCH ?? '',
      ...{ default_branch: packed.defaultBranch, base: packed.base, head: packed.head, files: packed.files },
      ...(packed.defaultHead === null ? {} : { default_head: packed.defaultHead }),
      prompt: request.resume === null ? request.prompt : `${request.prompt}\n\n${SESSION_GONE}`,
      ...{ issue_text: request.issueText, budget_usd: request.budgetUsd },
      round: request.round ?? null,
      max_bundle_bytes: coordinator.options.maxBundleBytes,
      author: author ?? null,
      ...{ hooks, gate },
      tool: {
        ...tool,
        command: command === null || typeof command === 'string' ? command : [...command],
        allowedTools: [...allowedTools],
        env: [...env],
      },
    };
  }
}
