// Wires the rooms into the daemon, for `tool serve`.

import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { hookEnvironment } from '../agents/agent-home.ts';
import { boundsOf, GIT_SETTINGS, Isolation, notIsolated } from '../agents/isolation.ts';
import { systemClock } from '../base/clock.ts';
import { type Closer, closeAll } from '../base/close-all.ts';
import { createLogger, type LogFormat } from '../base/logger.ts';
import { packageRoot, packageVersion } from '../base/package-root.ts';
import { endProcessesOfRun, RUN_VARIABLE } from '../base/processes/processes.ts';
import { RuntimeDir } from '../base/processes/runtime-dir.ts';
import { proxyFor } from '../base/proxy-route.ts';
import { BASE_CODES } from '../base/rules/base-codes.ts';
import { type Refusal, refusal } from '../base/rules/codes.ts';
import { failure } from '../base/rules/errors.ts';
import { Supervisor } from '../base/supervisor.ts';
import { requireHome, requirePlaces } from '../daemon/config/required-paths.ts';
import { createTemplate } from '../daemon/config/template.ts';
import { WorkflowFile } from '../daemon/config/workflow-file.ts';
import { apiAuthorities, authorityForGit, readAuthorities } from '../daemon/github/authority.ts';
import { cloneUrlOf, hostOf } from '../daemon/github/clone-url.ts';
import { type HostingCredential, takeTokens } from '../daemon/github/credential.ts';
import { IssueHistories } from '../daemon/journal/issue-story.ts';
import { FileJournal } from '../daemon/journal/journal.ts';
import { holdStateDir } from '../daemon/journal/state-dir.ts';
import { Orchestrator } from '../daemon/orchestrator.ts';
import type { Journal } from '../daemon/ports.ts';
import { Publisher } from '../daemon/publish/publish.ts';
import { CONFIG_CODES } from '../daemon/rules/codes/config-codes.ts';
import { WORK_CODES } from '../daemon/rules/codes/work-codes.ts';
import { finishedIssueOf } from '../daemon/rules/finished-issues.ts';
import type { Workflow } from '../daemon/rules/workflow.ts';
import { createAgentSocket } from '../daemon/runners/agent-socket.ts';
import { FileAttemptOutputs, readAttemptOutput } from '../daemon/runners/attempt-output.ts';
import { openControlSocket } from '../daemon/runners/control-socket.ts';
import { GateRunner } from '../daemon/runners/gate-runner.ts';
import { Notifier } from '../daemon/runners/notifier.ts';
import { readReviewRole, requireReviewer } from '../daemon/runners/review-role.ts';
import { createRunner } from '../daemon/runners/runners.ts';
import { stateView, type ViewSource } from '../daemon/view.ts';
import { issueDetails } from '../daemon/view-issue.ts';
import { Mirror } from '../daemon/workspaces/mirror/mirror.ts';
import { ModuleCopies } from '../daemon/workspaces/mirror/module-copies.ts';
import { checkRoot, claimRoot } from '../daemon/workspaces/workspace-root.ts';
import { DiskWorkspaces } from '../daemon/workspaces/workspaces.ts';
import { requireGit, SETTINGS_VARIABLE } from '../git/git.ts';
import { detectRemote } from '../git/git-remote.ts';
import { writePersonSettings } from '../git/person-settings.ts';
import { dropRepositoryVariables } from '../git/repository-variables.ts';
import { formatSlug } from '../git/rules/repository.ts';
import { checkCredential, requireLogin } from './credential-check.ts';
import { credentialVariables, openCredential } from './open-credential.ts';
import { COMPOSE_CODES } from './rules/compose-codes.ts';
import { startServer, webhookFor } from './status-server.ts';
import { TRACKERS } from './trackers.ts';

export type DaemonOptions = {
  readonly workflowPath: string;
  /** The process's own environment: tokens are taken out of it. */
  readonly env: NodeJS.ProcessEnv;
  readonly port?: number;
  readonly logFormat: LogFormat;
  readonly once: boolean;
  /** Aborted when the daemon is to end: the reason is the name of the signal. Until then it also ends a wait of the start. */
  readonly ended: AbortSignal;
  /** Takes the log, line by line. */
  readonly write: (line: string) => void;
  /** For tests that follow every record. */
  readonly wrapJournal?: (journal: Journal) => Journal;
};

export type Daemon = {
  /** Runs until `close`, or with `once` until what one poll started is finished. */
  run(): Promise<void>;
  /** Ends everything in order; calling it twice is fine. */
  close(): Promise<void>;
  readonly url: string | null;
  /** Why the last poll came to nothing; null when it did not. */
  readonly trouble: string | null;
};

const LEFTOVER_GRACE_MS = 3_000;
const PREFIX_ANSWER_MS = 5_000;

function withPort(port: number | undefined): (workflow: Workflow) => Workflow {
  return (workflow) => {
    if (port === undefined) return workflow;
    if (port === 0 && workflow.server.webhookSecret !== null)
      throw failure(BASE_CODES.config_value, {
        key: '--port',
        expected: 'the port of a status server, which server.webhook_secret needs',
        got: '0',
      });
    return { ...workflow, server: { ...workflow.server, port } };
  };
}

/** Reads the workflow, takes lock, port and root, finds the credential. What cannot work is a ToolError before the first poll. */
export async function createDaemon(options: DaemonOptions): Promise<Daemon> {
  const clock = systemClock;
  requireHome();
  dropRepositoryVariables(options.env);
  const env = { ...options.env };
  let credential: HostingCredential | undefined;
  let webhookSecret: string | null = null;
  const secrets = (): string[] => [...(credential?.secrets ?? []), webhookSecret ?? ''];
  const log = createLogger({ format: options.logFormat, write: options.write, now: clock.now, secrets });
  const warn = (what: Refusal) => log.log('warn', 'serve', what);
  const sayEnd = () => {
    log.log(
      'info',
      'serve',
      `${options.ended.reason}: agents at work are ended, the next start goes on with their issues; once more ends it at once`,
    );
  };
  options.ended.addEventListener('abort', sayEnd, { once: true });
  const file = new WorkflowFile({
    path: options.workflowPath,
    source: { env, detectRemote },
    override: withPort(options.port),
    clock,
    onReload: (problem, pending) => {
      const later = pending.length === 0 ? '' : `; takes effect at the next start: ${pending.join(', ')}`;
      if (problem === null) log.log('info', 'workflow', `read again${later}`);
      else {
        const code = problem.kind === 'gone' ? CONFIG_CODES.workflow_gone : CONFIG_CODES.workflow_invalid;
        log.log('error', 'workflow', refusal(code, { said: problem.words }));
      }
      orchestrator?.refresh();
    },
  });
  const workflow = file.current;
  webhookSecret = workflow.server.webhookSecret;
  requirePlaces(workflow);
  const { tracker: trackerConfig, stateDir } = workflow;
  const { tokens, scrubbed } = takeTokens(options.env, credentialVariables(workflow, options.env));
  for (const name of tokens.keys()) delete env[name];

  requireGit(env);
  const cloneUrl = cloneUrlOf(trackerConfig.apiUrl, trackerConfig.slug);
  const authorities = readAuthorities(trackerConfig.caFile, env);
  // A proxy that the API cannot use is said before anything begins.
  for (const url of [trackerConfig.apiUrl, cloneUrl]) proxyFor(url, env);
  const host = hostOf(trackerConfig.apiUrl);
  const repository = `${host}/${formatSlug(trackerConfig.slug)}`;
  checkRoot(workflow.workspace.root, repository, stateDir);
  const state = holdStateDir(stateDir, workflow.path);
  const closers: Closer[] = [() => state.release()];
  const close = async () => {
    await closeAll(closers.splice(0).reverse());
  };
  let orchestrator: Orchestrator | undefined;
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  try {
    // After the lock: by that others see that the root is in use.
    const root = claimRoot(workflow.workspace.root, repository, stateDir);
    // Everything this daemon starts carries the mark of its state directory: what an earlier one left is known by it.
    const mark = createHash('sha256').update(stateDir).digest('hex').slice(0, 12);
    const left = await endProcessesOfRun(`${mark}.`, LEFTOVER_GRACE_MS);
    if (left > 0) warn(refusal(COMPOSE_CODES.leftovers_ended, { count: left }));
    options.env[RUN_VARIABLE] = `${mark}.daemon`;
    env[RUN_VARIABLE] = `${mark}.daemon`;
    const settings = join(stateDir, GIT_SETTINGS);
    await writePersonSettings(settings, env);
    options.env[SETTINGS_VARIABLE] = settings;
    env[SETTINGS_VARIABLE] = settings;

    const found = await openCredential(workflow, tokens, { authorities, env, clock });
    credential = found;
    if (found.fromClient) await requireLogin(host, env);

    const bounds = boundsOf({
      more: trackerConfig.app?.key.kind === 'file' ? [trackerConfig.app.key.path] : [],
      stateDir,
      workspaceRoot: root,
      workflowPath: workflow.path,
      packageRoot: packageRoot(),
      env,
    });
    const supervisor = new Supervisor({
      clock,
      onFailure: (task, said) => log.log('error', 'serve', refusal(WORK_CODES.background_task_failed, { task, said })),
    });
    closers.push(() => supervisor.close());
    const remote = {
      remoteUrl: cloneUrl,
      secret: () => found.gitSecret(),
      env: { ...env, ...(await authorityForGit(authorities, stateDir, cloneUrl, env)) },
      clock,
      silenceMs: () => file.current.workspace.cloneTimeoutMs,
    };
    const depth = () => file.current.workspace.cloneDepth;
    const mirror = new Mirror({ path: join(stateDir, 'repo.git'), ...remote, depth });
    // Three programs at work while the rest of this one is loaded: the copy of the repository, the namespaces, the client's login.
    supervisor.run('fetch', async (signal) => {
      await mirror.refresh(signal).catch(() => undefined);
    });
    const probing = Isolation.probe(workflow.tool.isolation, bounds);
    probing.catch(() => undefined);
    supervisor.run('credential', (signal) => checkCredential(found, host, env, log, begun, probing, signal));
    const opened = await TRACKERS[trackerConfig.kind].open({
      workflow,
      credential: found,
      authorities,
      stateDir,
      env,
      clock,
    });
    closers.push(() => opened.close());
    const { tracker } = opened;
    const isolation = await probing;
    const runtime = new RuntimeDir();
    closers.push(() => runtime.close());
    // Asked while the rest begins. Where no answer comes, the first poll says why.
    const answerTime = AbortSignal.timeout(PREFIX_ANSWER_MS);
    const untaken = opened
      .takenPrefix(AbortSignal.any([supervisor.signal, options.ended, answerTime]))
      .catch(() => undefined);
    const fileJournal = new FileJournal({ directory: stateDir, now: clock.now });
    closers.push(() => fileJournal.close());
    const { tornLines } = fileJournal;
    if (tornLines > 0)
      warn(refusal(COMPOSE_CODES.journal_torn, { path: `${stateDir}/journal.jsonl`, count: tornLines }));
    const notifier = new Notifier({
      workflow: () => file.current,
      log,
      hookEnv: () => hookEnvironment(env),
      env,
      authorities: apiAuthorities(authorities),
    });
    closers.push(() => notifier.close());
    const journal = notifier.watch(options.wrapJournal?.(fileJournal) ?? fileJournal);
    const workspaces = new DiskWorkspaces({
      root,
      claimRoot: () => claimRoot(root, repository, stateDir),
      clock,
      log,
      mirror,
      modules: new ModuleCopies({ directory: join(stateDir, 'submodules'), ...remote }),
      isolation,
      workflow: () => file.current,
      hookEnv: () => hookEnvironment(env),
      author: found.author ?? undefined,
    });
    supervisor.run('large files', async (signal) => {
      await begun;
      await workspaces.announce(signal).catch(() => undefined);
    });
    const attemptOutputs = new FileAttemptOutputs(
      stateDir,
      secrets,
      (message) => log.log('warn', 'serve', message),
      (issue) => finishedIssueOf(journal.state.past, issue)?.outcome === 'failed',
    );
    const newRun = () => `${mark}.${randomBytes(9).toString('base64url')}`;
    const author = found.author ?? undefined;
    const agents = { workflow: () => file.current, stateDir, runtime, isolation, env, author };
    const gate = new GateRunner({ ...agents, clock, newRun });
    const publisher = new Publisher({
      ...{ workflow: () => file.current, journal, tracker, workspaces, gate, attemptOutputs, log },
    });
    const made = new Orchestrator({
      workflow: () => file.current,
      journal,
      tracker,
      workspaces,
      publisher,
      runner: createRunner(agents),
      readRole: (name, base, signal) => readReviewRole(mirror.comparison, name, base, signal),
      leftovers: { end: (run) => endProcessesOfRun(run, LEFTOVER_GRACE_MS) },
      agentSocket: createAgentSocket(runtime),
      attemptOutputs,
      clock,
      log,
      newRun,
      random: Math.random,
      renderPrompt: (from, issue, attempt, workspace) =>
        createTemplate(from.prompt).render({
          issue,
          attempt: { number: attempt.number, last_error: attempt.lastError },
          repo: { ...from.tracker.slug, slug: formatSlug(from.tracker.slug) },
          workspace,
        }),
      once: options.once,
    });
    orchestrator = made;
    closers.push(() => made.close());
    const webhook = await webhookFor(workflow, {
      clock,
      log,
      deliver: (event, look) => made.looks.deliver(event, look),
    });
    const source = (): ViewSource => ({
      now: clock.now(),
      version: packageVersion(),
      workflow: file.current,
      loadedAt: file.loadedAt,
      workflowError: file.error,
      pendingRestart: file.pendingRestart,
      state: journal.state,
      statuses: made.statuses,
      waiting: made.waiting,
      follows: made.follower.waits,
      seen: made.follower.seen,
      poll: made.poll,
      stats: tracker.stats,
      rateLimit: tracker.rateLimit,
      webhook: webhook?.status ?? null,
    });
    const histories = new IssueHistories(stateDir);
    const server = await startServer(workflow, webhook, {
      state: (page) => stateView(source(), page),
      issue: (number) => issueDetails(source(), number),
      history: (issue) => histories.of(issue),
      output: (issue, asked) => readAttemptOutput(stateDir, issue, asked),
      refresh: () => made.refresh(),
      steer: (command, issue) => made.steering.steer(command, issue),
      tell: (issue, text) => made.steering.tell(issue, text),
      onChange: (listener) => made.onChange(listener),
      now: clock.now,
    });
    if (server !== undefined) {
      closers.push(() => server.close());
      log.log('info', 'http', `status on ${server.url}`);
    }
    closers.push(
      await openControlSocket(runtime, stateDir, (given) =>
        given.command === 'tell'
          ? made.steering.tell(given.issue, given.text)
          : made.steering.steer(given.command, given.issue),
      ),
    );
    state.announce(server?.url ?? null);
    log.log(
      'info',
      'serve',
      `watching ${repository} for ${workflow.labels.active.map((label) => `[${label}]`).join(' ')}, token from ${found.source}`,
    );
    if (isolation.active) log.log('info', 'serve', 'agents run in namespaces of their own');
    else log.log('warn', 'serve', notIsolated(isolation.reason));
    if (!scrubbed) warn(refusal(COMPOSE_CODES.token_not_removed, {}));
    const blocking = await untaken;
    if (blocking !== undefined)
      throw failure(WORK_CODES.branch_prefix_taken, { blocking, prefix: workflow.workspace.branchPrefix });
    await requireReviewer(workflow.review.agent, mirror, AbortSignal.any([supervisor.signal, options.ended]));
    supervisor.keep('workflow file', (signal) => file.watch(signal));
    begin();
    await made.recover();
    return {
      run: () => made.run(),
      close,
      url: server?.url ?? null,
      get trouble() {
        return made.poll.lastError;
      },
    };
  } catch (error) {
    begin();
    await close();
    throw error;
  }
}
