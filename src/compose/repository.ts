// Wires the rooms for one repository: its state directory, copy, tracker and loop.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { hookEnvironment } from '../agents/agent-home.ts';
import { boundsOf, GIT_SETTINGS, Isolation } from '../agents/isolation.ts';
import { tracedRunner } from '../agents/traced-runner.ts';
import { systemClock } from '../base/clock.ts';
import { type Closer, closeAll } from '../base/close-all.ts';
import { programPlace } from '../base/package-root.ts';
import { endProcessesOfRun } from '../base/processes/processes.ts';
import { type Refusal, refusal } from '../base/rules/codes.ts';
import { failure } from '../base/rules/errors.ts';
import { NO_SPAN } from '../base/rules/span.ts';
import { Supervisor } from '../base/supervisor.ts';
import { AttemptTraces } from '../daemon/attempt-traces.ts';
import { RepositoryFile } from '../daemon/config/repository-file.ts';
import { createTemplate } from '../daemon/config/template.ts';
import { apiAuthorities, authorityForGit } from '../daemon/github/authority.ts';
import { cloneUrlOf, hostOf } from '../daemon/github/clone-url.ts';
import type { HostingCredential } from '../daemon/github/credential.ts';
import { IssueHistories } from '../daemon/journal/issue-story.ts';
import { FileJournal } from '../daemon/journal/journal.ts';
import { holdStateDir } from '../daemon/journal/state-dir.ts';
import { Orchestrator } from '../daemon/orchestrator.ts';
import { noteEvidence, Publisher, quietTask } from '../daemon/publish/publish.ts';
import { WORK_CODES } from '../daemon/rules/codes/work-codes.ts';
import { finishedIssueOf } from '../daemon/rules/finished-issues.ts';
import { LAST_GOOD_FILE, OWN_FILE } from '../daemon/rules/own-file.ts';
import type { Workflow } from '../daemon/rules/workflow.ts';
import { createAgentSocket } from '../daemon/runners/agent-socket.ts';
import { FileAttemptOutputs } from '../daemon/runners/attempt-output.ts';
import { openControlSocket, removeControlPlace } from '../daemon/runners/control-socket.ts';
import { GateRunner } from '../daemon/runners/gate-runner.ts';
import { Notifier } from '../daemon/runners/notifier.ts';
import { OwnHooks } from '../daemon/runners/own-hooks.ts';
import { readReviewRole, requireReviewer } from '../daemon/runners/review-role.ts';
import { createRunner } from '../daemon/runners/runners.ts';
import { issueDetails } from '../daemon/view-issue.ts';
import type { RepositoryView } from '../daemon/view-source.ts';
import { WaitingLine } from '../daemon/waiting-line.ts';
import { Mirror } from '../daemon/workspaces/mirror/mirror.ts';
import { ModuleCopies } from '../daemon/workspaces/mirror/module-copies.ts';
import { checkRoot, claimRoot } from '../daemon/workspaces/workspace-root.ts';
import { DiskWorkspaces } from '../daemon/workspaces/workspaces.ts';
import { WORKSPACE_PLACEHOLDER } from '../fleet/rules/placeholder.ts';
import { writePersonSettings } from '../git/person-settings.ts';
import { formatSlug } from '../git/rules/repository.ts';
import { checkCredential, requireLogin } from './credential-check.ts';
import { FirstFetch } from './first-fetch.ts';
import { dropOld } from './old-workspaces.ts';
import { openCredential } from './open-credential.ts';
import { LEFTOVER_GRACE_MS, setMark, takeMark } from './process-mark.ts';
import type { Beside, OpenRepository, ProcessParts } from './repository-parts.ts';
import { COMPOSE_CODES } from './rules/compose-codes.ts';
import { TRACKERS } from './trackers.ts';

/** The process as one issue sees it: nothing of an issue depends on it. */
const PROCESS = { version: '', loadedAt: 0, workflowError: null, pendingRestart: [], webhook: null };

const PREFIX_ANSWER_MS = 5_000;

/**
 * Takes lock and root of one repository, finds the credential. What cannot work is a ToolError before the first poll.
 * @param operator names one repository: the file of the operator
 */
export async function openRepository(
  parts: ProcessParts,
  operator: () => Workflow,
  beside?: Beside,
): Promise<OpenRepository> {
  const clock = systemClock;
  const { authorities, ended, log, processEnv, runtime } = parts;
  const env = { ...parts.env };
  const first = operator();
  const { tracker: trackerConfig, stateDir } = first;
  const warn = (what: Refusal) => log.log('warn', 'serve', what);
  const cloneUrl = cloneUrlOf(trackerConfig.apiUrl, trackerConfig.slug);
  const host = hostOf(trackerConfig.apiUrl);
  const repository = `${host}/${formatSlug(trackerConfig.slug)}`;
  checkRoot(first.workspace.root, repository, stateDir);
  const state = holdStateDir(stateDir, first.path);
  const closers: Closer[] = [() => state.release()];
  const close = async () => {
    await closeAll(closers.splice(0).reverse());
  };
  let start: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    start = resolve;
  });
  try {
    const lease = await parts.fleet?.leases.take(repository, stateDir, log);
    closers.push(() => lease?.release());
    if (lease !== undefined) await parts.fleet?.removeOld(repository, lease.fence);
    // After the lock: by that others see that the root is in use.
    const root = claimRoot(first.workspace.root, repository, stateDir);
    // Everything this daemon starts carries the mark of its state directory: what an earlier one left is known by it.
    const mark = await takeMark(stateDir, log);
    const settings = join(stateDir, GIT_SETTINGS);
    await writePersonSettings(settings, env);
    setMark(env, mark, settings);
    // The process's own git works for all of them: the end of one must not end the git of others.
    if (beside === undefined) setMark(processEnv, mark, settings);
    else await beside.mark.take(settings);

    const credential: HostingCredential = await openCredential(first, parts.tokens, { authorities, env, clock, warn });
    const ownSecrets = () => credential.secrets;
    parts.secrets.add(ownSecrets);
    closers.push(() => void parts.secrets.delete(ownSecrets));
    if (credential.fromClient) await requireLogin(host, env);

    const bounds = boundsOf({
      more: trackerConfig.app?.key.kind === 'file' ? [trackerConfig.app.key.path] : [],
      stateDir,
      workspaceRoot: root,
      workflowPath: first.path,
      packageRoot: programPlace(),
      env,
      runtimeDir: runtime.path,
    });
    const supervisor = new Supervisor({
      clock,
      onFailure: (task, said) => log.log('error', 'serve', refusal(WORK_CODES.background_task_failed, { task, said })),
    });
    closers.push(() => supervisor.close());
    const fetching = new FirstFetch(() => credential.gitSecret());
    const hosted = {
      remoteUrl: cloneUrl,
      secret: () => fetching.secret(),
      env: { ...env, ...(await authorityForGit(authorities, stateDir, cloneUrl, env)) },
      clock,
      silenceMs: () => operator().workspace.cloneTimeoutMs,
    };
    const depth = () => operator().workspace.cloneDepth;
    // The journal of the store may name any branch; a file of this machine's own is believed.
    const branchPrefix = parts.fleet && (() => operator().workspace.branchPrefix);
    const mirror = new Mirror({ path: join(stateDir, 'repo.git'), ...hosted, depth, branchPrefix });
    const ownFile = new RepositoryFile({
      ...{ workflow: operator, mirror, clock, log, path: join(stateDir, LAST_GOOD_FILE) },
      fetched: fetching.over,
      background: (work) => supervisor.run(OWN_FILE, work),
    });
    const withHooks = () => ownFile.workflow;
    const workflow = parts.fleet?.followed(withHooks) ?? withHooks;
    // Three programs at work while the rest of this one is loaded: the copy of the repository, the namespaces, the client's login.
    supervisor.run('fetch', (signal) =>
      fetching.run(mirror, (entering) => beside?.fetches.enter(repository, entering), signal),
    );
    const probing = Isolation.probe(first.tool.isolation, {
      ...bounds,
      readOnly: [...bounds.readOnly, ...(beside?.directories ?? [])],
      others: beside?.others ?? (() => []),
    });
    probing.catch(() => undefined);
    if (beside?.checked.has(credential.source) !== true) {
      supervisor.run('credential', async (signal) => {
        await checkCredential(credential, host, env, log, begun, probing, signal);
        if (signal.aborted) beside?.checked.delete(credential.source);
      });
      beside?.checked.add(credential.source);
    }
    // To load the rest keeps this process from starting any. One of many may have to wait for its fetch.
    if (beside === undefined) await fetching.started();
    const opened = await TRACKERS[trackerConfig.kind].open({
      workflow: first,
      credential,
      authorities,
      stateDir,
      env,
      clock,
    });
    closers.push(() => opened.close());
    const { tracker } = opened;
    const isolation = await probing;
    // Asked while the rest begins. Where no answer comes, the first poll says why.
    const answerTime = AbortSignal.timeout(PREFIX_ANSWER_MS);
    const untaken = opened.takenPrefix(AbortSignal.any([supervisor.signal, ended, answerTime])).catch(() => undefined);
    const shared = lease && (await parts.fleet?.leases.openJournal(lease, stateDir, log));
    closers.push(() => shared?.close());
    const fileJournal = new FileJournal({ directory: stateDir, now: clock.now, follower: shared?.follower });
    closers.push(() => fileJournal.close());
    const { tornLines } = fileJournal;
    if (tornLines > 0)
      warn(refusal(COMPOSE_CODES.journal_torn, { path: `${stateDir}/journal.jsonl`, count: tornLines }));
    const notifier = new Notifier({
      workflow,
      log,
      hookEnv: () => hookEnvironment(env),
      env,
      authorities: apiAuthorities(authorities),
    });
    closers.push(() => notifier.close());
    const followed = parts.wrapJournal?.(fileJournal) ?? fileJournal;
    const traces = parts.tracer && new AttemptTraces(parts.tracer, clock, repository);
    closers.push(() => traces?.close());
    const spanOf = (issue: number) => traces?.spanOf(issue) ?? NO_SPAN;
    const kept = shared?.over(followed, () => fileJournal.continue()) ?? followed;
    const journal = notifier.watch(traces?.watch(kept) ?? kept);
    const author = credential.author ?? undefined;
    const workspaces = new DiskWorkspaces({
      root,
      claimRoot: () => claimRoot(root, repository, stateDir),
      clock,
      log,
      mirror,
      modules: new ModuleCopies({ directory: join(stateDir, 'submodules'), ...hosted }),
      isolation,
      workflow,
      hookEnv: () => hookEnvironment(env),
      author,
      agentsElsewhere: parts.fleet !== undefined,
    });
    supervisor.run('large files', async (signal) => {
      await begun;
      await workspaces.announce(signal).catch(() => undefined);
    });
    const secrets = () => [...parts.secrets].flatMap((one) => one());
    const attemptOutputs = new FileAttemptOutputs(
      stateDir,
      secrets,
      (message) => log.log('warn', 'serve', message),
      (issue) => finishedIssueOf(journal.state.past, issue)?.outcome === 'failed',
    );
    const newRun = () => `${mark}.${randomBytes(9).toString('base64url')}`;
    const agents = { workflow, stateDir, runtime, isolation, env, author };
    const line = new WaitingLine<number>({ most: () => workflow().agent.maxConcurrent, shares: beside?.gateShares });
    closers.push(() => line.leave());
    const untraced = createRunner(agents);
    const local: typeof untraced =
      traces === undefined ? untraced : (name) => tracedRunner(untraced(name), ({ issue }) => spanOf(issue));
    const more = {
      workflow: withHooks,
      root,
      mirror,
      workspaces,
      repository,
      local,
      log,
      spanOf,
      fence: lease?.fence ?? 0,
      lost: lease?.lost,
    };
    const remote = parts.fleet?.partsOf({
      ...{ ...agents, ...more },
      state: () => journal.state,
      wasElsewhere: (issue) => shared?.wasElsewhere(issue) === true,
      taskOf: (issue) => {
        const entry = journal.state.entries.get(issue);
        return entry && quietTask(entry);
      },
      noteEvidence: (issue, evidence) => noteEvidence({ journal, log }, issue, evidence),
    });
    closers.push(() => remote?.close());
    const gate = remote?.gate ?? new GateRunner({ ...agents, line, clock, newRun });
    const ownHooks = new OwnHooks({ ...agents, newRun, defaultBranch: (signal) => mirror.defaultBranch(signal) });
    const publisher = new Publisher({ workflow, journal, tracker, workspaces, gate, attemptOutputs, log });
    const orchestrator = new Orchestrator({
      workflow,
      journal,
      tracker,
      workspaces,
      publisher,
      ownFile,
      ownHooks,
      runner: remote?.runner ?? local,
      bringWork: remote?.bringWork,
      requireCarried: remote?.requireCarried,
      readRole: (name, base, signal) => readReviewRole(mirror.comparison, name, base, signal),
      leftovers: { end: (run) => endProcessesOfRun(run, LEFTOVER_GRACE_MS) },
      agentSocket: remote?.agentSocket ?? createAgentSocket(runtime),
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
          workspace: remote === undefined ? workspace : { ...workspace, path: WORKSPACE_PLACEHOLDER },
        }),
      once: parts.once,
      ...(beside && { shares: beside.shares }),
    });
    closers.push(() => removeControlPlace(stateDir));
    closers.push(() => orchestrator.close());
    // At once, so that attempts at work end as at the end of the process.
    lease?.lost.addEventListener('abort', () => void orchestrator.close(), { once: true });
    const view = (): RepositoryView => ({
      workflow: workflow(),
      state: journal.state,
      statuses: orchestrator.statuses,
      waiting: orchestrator.waiting,
      follows: orchestrator.follower.waits,
      seen: orchestrator.follower.seen,
      gates: line.waiting,
      poll: orchestrator.poll,
      stats: tracker.stats,
      rateLimit: tracker.rateLimit,
      ownWarnings: ownFile.status.warnings,
    });
    closers.push(
      await openControlSocket(runtime, stateDir, (given) =>
        given.command === 'tell'
          ? orchestrator.steering.tell(given.issue, given.text)
          : given.command === 'show'
            ? Promise.resolve({
                details: issueDetails({ ...PROCESS, now: clock.now(), ...view() }, given.issue) ?? null,
              })
            : orchestrator.steering.steer(given.command, given.issue),
      ),
    );
    return {
      orchestrator,
      isolation,
      credentialSource: credential.source,
      histories: new IssueHistories(stateDir),
      lost: lease?.lost,
      view,
      announce: (url) => state.announce(url),
      begin: async () => {
        const blocking = await untaken;
        if (blocking !== undefined)
          throw failure(WORK_CODES.branch_prefix_taken, { blocking, prefix: first.workspace.branchPrefix });
        await requireReviewer(first.review.agent, mirror, AbortSignal.any([supervisor.signal, ended]));
        start();
        const old = [...journal.state.entries.values()].filter(({ number }) => shared?.wasElsewhere(number) === true);
        await dropOld(old.map(quietTask), workspaces, log, supervisor.signal);
        await orchestrator.recover();
      },
      close: async () => {
        start();
        await close();
      },
    };
  } catch (error) {
    start();
    await close();
    throw error;
  }
}
