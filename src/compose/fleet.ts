// Wires a fleet: the queue, a coordinator with what a repository has in the place of its own agents, and a worker. One file, loaded at once.

import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { boundsOf, GIT_SETTINGS, Isolation } from '../agents/isolation.ts';
import type { Runner } from '../agents/ports.ts';
import type { IsolationMode } from '../agents/rules/runtime.ts';
import { systemClock } from '../base/clock.ts';
import { type Closer, closeAll } from '../base/close-all.ts';
import { createLogger, type LogFormat } from '../base/logger.ts';
import { programPlace } from '../base/package-root.ts';
import { packageVersion } from '../base/package-version.ts';
import type { Logger } from '../base/ports.ts';
import { endProcessesOfRun } from '../base/processes/processes.ts';
import { RuntimeDir } from '../base/processes/runtime-dir.ts';
import { failure, messageOf } from '../base/rules/errors.ts';
import { NO_TRACER, type Span } from '../base/rules/span.ts';
import { parseWorkflow } from '../daemon/config/read-workflow.ts';
import { requireHome } from '../daemon/config/required-paths.ts';
import { takeTokens } from '../daemon/github/credential.ts';
import { holdStateDir } from '../daemon/journal/state-dir.ts';
import type { AgentSocket, BringWork, WorkGate, WorkspaceTask } from '../daemon/ports.ts';
import { WORK_CODES } from '../daemon/rules/codes/work-codes.ts';
import type { QueueSettings } from '../daemon/rules/queue-settings.ts';
import type { DaemonState } from '../daemon/rules/state.ts';
import type { Workflow } from '../daemon/rules/workflow.ts';
import type { RunnersOptions } from '../daemon/runners/runners.ts';
import type { QueueSight } from '../daemon/view-source.ts';
import { checkRoot, claimRoot } from '../daemon/workspaces/workspace-root.ts';
import { AttemptQueue } from '../fleet/coordinator/attempt-queue.ts';
import { Coordinator } from '../fleet/coordinator/coordinator.ts';
import { CoordinatorRequests, type Shared } from '../fleet/coordinator/coordinator-requests.ts';
import { KeptCommits, type KeptCommitsOptions } from '../fleet/coordinator/kept-commits.ts';
import { Leases } from '../fleet/coordinator/leases.ts';
import { OtherCoordinators } from '../fleet/coordinator/other-coordinators.ts';
import { RemoteGate } from '../fleet/coordinator/remote-gate.ts';
import { RemoteRunner } from '../fleet/coordinator/remote-runner.ts';
import { WorkerRequests } from '../fleet/coordinator/worker-requests.ts';
import { provenAddress } from '../fleet/proofs.ts';
import { openStore } from '../fleet/store/open-store.ts';
import { type CarrierOptions, WorkCarrier } from '../fleet/work-carrier.ts';
import { CodeCache } from '../fleet/worker/code-cache.ts';
import { KeptOffers } from '../fleet/worker/kept-offers.ts';
import { KeptWork } from '../fleet/worker/kept-work.ts';
import { Leftovers } from '../fleet/worker/leftovers.ts';
import { LifeSigns } from '../fleet/worker/life-signs.ts';
import { FleetWorker, type TakenAttempt } from '../fleet/worker/worker.ts';
import { WorkerAttempt } from '../fleet/worker/worker-attempt.ts';
import type { Evidence } from '../gate/rules/evidence.ts';
import { requireGit } from '../git/git.ts';
import { writePersonSettings } from '../git/person-settings.ts';
import { dropRepositoryVariables } from '../git/repository-variables.ts';
import type { Source } from '../web/source.ts';
import { LEFTOVER_GRACE_MS, setMark, takeMark } from './process-mark.ts';
import { type OwnSource, withOthers } from './shared-source.ts';
import { openTraces } from './traces.ts';
import { WaitingCommands, type WaitingCommandsOptions } from './waiting-commands.ts';
import { keptIsolation } from './worker-isolation.ts';

export type Fleet = {
  /** The workflow as the coordinator itself follows it. */
  readonly followed: (workflow: () => Workflow) => () => Workflow;
  readonly partsOf: (parts: RepositoryParts) => RemoteParts;
  /** Takes jobs of an earlier coordinator of the repository out of the queue; says what goes wrong. */
  readonly removeOld: (repository: string, fence: number) => Promise<void>;
  readonly workerRequests: WorkerRequests;
  readonly leases: Leases;
  /** What other coordinators act for. */
  readonly others: OtherCoordinators;
  /** With that. */
  readonly shown: (own: OwnSource) => Source;
  readonly waitingCommands: (options: WaitingCommandsOptions) => WaitingCommands;
  /** Answers other coordinators. */
  readonly answers: (shared: Shared) => CoordinatorRequests;
  readonly sight: () => QueueSight;
  /** Begins to look at the queue. */
  readonly watch: (onChange: () => void) => void;
  /** Where the status server is. */
  readonly announce: (url: string | null) => void;
  readonly close: () => Promise<void>;
};

/** Throws a ToolError where the queue cannot be used. */
export async function openFleet(settings: QueueSettings, log: Logger): Promise<Fleet> {
  const { key, url, leaseMs, maxBundleBytes, insecure } = settings;
  const store = await openStore(url, 'tool serve', true);
  const queue = new AttemptQueue(store, key, log);
  let server = '';
  const coordinator = new Coordinator({
    ...{ queue, key, leaseMs, maxBundleBytes, insecure, version: packageVersion() },
    address: () => settings.address ?? server,
  });
  const workerRequests = new WorkerRequests(coordinator, log);
  const addressFor = (repository: string) => provenAddress(key, repository, coordinator.options.address());
  const leases = new Leases(store, leaseMs, systemClock, addressFor);
  const version = packageVersion();
  const others = new OtherCoordinators({
    ...{ store, key, version, clock: systemClock },
    address: coordinator.options.address,
  });
  return {
    others,
    shown: (own) => withOthers(own, others),
    waitingCommands: (options) => new WaitingCommands(options),
    answers: (shared) => new CoordinatorRequests({ key, version, shared, log }),
    followed: withoutHooks,
    partsOf: (parts) => remoteParts(coordinator, parts),
    removeOld: async (repository, fence) => {
      await queue.removeOld(repository, fence).catch((error: unknown) => log.log('warn', 'serve', messageOf(error)));
    },
    workerRequests,
    leases,
    sight: () => queue.sight,
    watch: (onChange) => queue.watch(onChange),
    announce: (found) => {
      server = found ?? '';
    },
    close: async () => {
      workerRequests.close();
      others.close();
      leases.close();
      await queue.close();
    },
  };
}

/** The workflow as the coordinator itself follows it: workers run the hooks. */
function withoutHooks(workflow: () => Workflow): () => Workflow {
  let made: { readonly from: Workflow; readonly to: Workflow } | undefined;
  return () => {
    const from = workflow();
    if (made?.from === from) return made.to;
    const none = { afterCreate: null, beforeRun: null, afterRun: null, beforeRemove: null };
    made = { from, to: Object.freeze({ ...from, hooks: { ...from.hooks, ...none } }) };
    return made.to;
  };
}

export type RepositoryParts = Omit<RunnersOptions, 'workflow'> &
  Pick<CarrierOptions, 'mirror'> & {
    readonly workspaces: KeptCommitsOptions['workspaces'] & Pick<CarrierOptions, 'places'>;
    readonly state: () => DaemonState;
    readonly wasElsewhere: (issue: number) => boolean;
    /** With the hooks. */
    readonly workflow: () => Workflow;
    readonly root: string;
    readonly repository: string;
    /** Number of the lease on it. */
    readonly fence: number;
    readonly lost: AbortSignal | undefined;
    /** For what happens to an issue outside of an attempt; undefined: it is not known. */
    readonly taskOf: (issue: number) => WorkspaceTask | undefined;
    readonly noteEvidence: (issue: number, evidence: Evidence) => Promise<void>;
    readonly log: Logger;
    readonly local: (name: string) => Runner;
    /** What the work on an issue belongs to. */
    readonly spanOf: (issue: number) => Span;
  };

/** What a repository has in the place of runners, sockets and checks of its own. */
export type RemoteParts = {
  readonly runner: (name: string) => Runner;
  readonly agentSocket: AgentSocket;
  readonly gate: WorkGate;
  readonly bringWork: BringWork;
  readonly requireCarried: (signal: AbortSignal) => Promise<void>;
  readonly close: () => void;
};

function remoteParts(coordinator: Coordinator, parts: RepositoryParts): RemoteParts {
  const { author, mirror, workspaces, stateDir, local, repository, fence, workflow, log } = parts;
  const carrier = new WorkCarrier({ mirror, places: workspaces.places });
  const directory = join(stateDir, 'fleet');
  // Bundles of an earlier process.
  rmSync(directory, { recursive: true, force: true });
  const { maxBundleBytes, leaseMs } = coordinator.options;
  const kept = new KeptCommits({
    ...{
      carrier,
      mirror,
      workspaces,
      state: parts.state,
      wasElsewhere: parts.wasElsewhere,
      directory,
      maxBundleBytes,
      leaseMs,
    },
    ...{ clock: systemClock, log },
  });
  const more = {
    ...{
      coordinator,
      carrier,
      workflow,
      repository,
      fence,
      directory,
      author,
      clock: systemClock,
      spanOf: parts.spanOf,
      before: kept.before,
      lost: parts.lost,
      labels: new Map<number, readonly string[]>(),
    },
    // What could not be written down is measured again.
    onEvidence: (issue: number, evidence: Evidence) =>
      parts.noteEvidence(issue, evidence).catch((error: unknown) => log.log('warn', 'publish', messageOf(error))),
  };
  const runner = (name: string) => new RemoteRunner({ ...more, local: local(name) });
  let measurements = 0;
  const gate = new RemoteGate((request, signal) => {
    const task = parts.taskOf(request.issue);
    if (task === undefined) throw failure(WORK_CODES.issue_not_known, { issue: request.issue });
    measurements += 1;
    return runner(workflow().tool.runtime).measure(task, measurements, request, signal);
  });
  const requireCarried = (signal: AbortSignal) => carrier.requireCarried(workflow().workspace.submodules, signal);
  const close = coordinator.keeps(repository, kept);
  return { runner, agentSocket: coordinator.socket, gate, bringWork: kept.bring, requireCarried, close };
}

export type WorkerCommand = {
  /** The process's own environment: secrets are taken out of it. */
  readonly env: NodeJS.ProcessEnv;
  /** Address of the queue; with the key, a value. */
  readonly url: string;
  readonly key: string;
  /** Variables with secrets, which no agent gets. */
  readonly secrets: readonly string[];
  readonly name: string;
  readonly labels: readonly string[];
  readonly slots: number;
  readonly once: boolean;
  readonly traces: boolean;
  readonly stateDir: string;
  readonly root: string;
  readonly logFormat: LogFormat;
  readonly write: (line: string) => void;
};

export type RunningWorker = {
  readonly run: () => Promise<void>;
  readonly drain: (how: 'finish' | 'return') => void;
  /** Ends what is left. */
  readonly end: () => void;
  readonly close: () => Promise<void>;
};

/** What the settings of an order are put into. */
function defaultsOf(stateDir: string): Workflow {
  return parseWorkflow('---\ntracker: { repo: none/none }\n---\n', join(stateDir, 'WORKFLOW.md'), {
    env: {},
    remote: null,
  });
}

/** Takes its places and reaches the queue. What cannot work is a ToolError. */
export async function createWorker(options: WorkerCommand): Promise<RunningWorker> {
  const { url, key, name, labels, slots, once, stateDir } = options;
  const clock = systemClock;
  requireHome();
  dropRepositoryVariables(options.env);
  const hidden = [key];
  const log = createLogger({ format: options.logFormat, write: options.write, now: clock.now, secrets: () => hidden });
  const traces = options.traces ? await openTraces(options.env, log, 'tool worker') : undefined;
  hidden.push(...(traces?.secrets ?? []));
  takeTokens(options.env, [...options.secrets, ...(traces?.variables ?? [])]);
  const env = { ...options.env };
  requireGit(env);
  const tracer = traces?.tracer ?? NO_TRACER;
  const closers: Closer[] = [() => traces?.close()];
  const close = () => closeAll(closers.splice(0).reverse());
  const store = await openStore(url, 'tool worker');
  closers.push(() => store.close());
  try {
    // Whatever its name: the records of what lies in the root are in there.
    const owner = `the worker with ${stateDir}`;
    checkRoot(options.root, owner, stateDir);
    const lock = holdStateDir(stateDir, owner);
    closers.push(() => lock.release());
    const root = claimRoot(options.root, owner, stateDir);
    const mark = await takeMark(stateDir, log);
    const settings = join(stateDir, GIT_SETTINGS);
    await writePersonSettings(settings, env);
    setMark(env, mark, settings);
    setMark(options.env, mark, settings);
    const runtime = new RuntimeDir();
    closers.push(() => runtime.close());
    const places = { attempts: join(stateDir, 'attempts'), workspaces: join(root, 'attempts') };
    const [keptDir, codeDir] = [join(stateDir, 'kept'), join(stateDir, 'code')];
    for (const place of [...Object.values(places), keptDir]) mkdirSync(place, { recursive: true, mode: 0o700 });
    const defaults = defaultsOf(stateDir);
    const bounds = boundsOf({
      ...{ stateDir, workspaceRoot: root, workflowPath: defaults.path, packageRoot: programPlace(), env },
      runtimeDir: runtime.path,
      // Of other attempts and repositories.
      more: [keptDir, codeDir],
    });
    const isolationHere = keptIsolation((mode) => Isolation.probe(mode, bounds), log);
    // What other attempts have, also later ones, may be of another repository.
    const isolationFor = (own: { readonly stateDir: string; readonly root: string }) => async (mode: IsolationMode) =>
      (await isolationHere(mode)).aloneIn([own.stateDir, own.root]);
    const signs = new LifeSigns(clock);
    const cache = new CodeCache(codeDir, (said) => log.log('info', 'serve', said));
    const kept = new KeptWork(keptDir);
    const attemptOf = (given: Omit<TakenAttempt, 'id'>, id: string) => {
      const own = { stateDir: join(places.attempts, id), root: join(places.workspaces, id) };
      const { job, order, askedAt } = given;
      const facts = {
        worker: name,
        repository: job.repository,
        issue: job.issue,
        life: job.life,
        attempt: job.attempt,
      };
      return new WorkerAttempt({
        ...{ ...given, id, kept, cache, signs, defaults, runtime, env, clock, log, ...own },
        isolation: isolationFor(own),
        span: tracer.start('worker', facts, { parent: order.traceparent, at: askedAt }),
        newRun: () => `${mark}.${randomBytes(9).toString('base64url')}`,
        endRun: (run) => endProcessesOfRun(run, LEFTOVER_GRACE_MS),
      });
    };
    const version = packageVersion();
    const leaving = new AbortController();
    const leftovers = new Leftovers({
      ...{ kept, places: Object.values(places), key, name, version, clock, log },
      attemptOf: (client, { job, order }, id) =>
        attemptOf({ client, job, order, askedAt: clock.now(), returning: leaving.signal }, id),
    });
    await leftovers.find();
    const offers = new KeptOffers({ kept, places: Object.values(places), store, key, name, clock, log });
    const worker = new FleetWorker({
      ...{ store, key, name, labels, slots, once, clock, log, version },
      make: ({ id, ...given }) => attemptOf(given, id).run(),
    });
    closers.push(() => worker.close());
    const shown = labels.length === 0 ? 'no labels' : `labels ${labels.join(', ')}`;
    log.log(
      'info',
      'serve',
      `worker ${name} takes attempts from ${store.address}: ${slots} ${slots === 1 ? 'slot' : 'slots'}, ${shown}`,
    );
    return {
      run: async () => {
        const over = new AbortController();
        const handingIn = leftovers.handIn(leaving.signal);
        const offering = offers.run(over.signal);
        try {
          await worker.run();
          await handingIn;
        } finally {
          leaving.abort();
          over.abort();
          await offering;
        }
      },
      drain: (how) => {
        leaving.abort();
        worker.drain(how);
      },
      end: () => worker.end(),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
