// Wires the rooms into the daemon, for `tool serve`: what a process has once, whatever its repositories.

import { notIsolated } from '../agents/isolation.ts';
import { systemClock } from '../base/clock.ts';
import { type Closer, closeAll } from '../base/close-all.ts';
import { createLogger, type LogFormat } from '../base/logger.ts';
import { packageVersion } from '../base/package-version.ts';
import type { Logger } from '../base/ports.ts';
import { RuntimeDir } from '../base/processes/runtime-dir.ts';
import { proxyFor } from '../base/proxy-route.ts';
import { BASE_CODES } from '../base/rules/base-codes.ts';
import { refusal } from '../base/rules/codes.ts';
import { failure } from '../base/rules/errors.ts';
import { Supervisor } from '../base/supervisor.ts';
import { requireHome, requirePlaces } from '../daemon/config/required-paths.ts';
import { WorkflowFile } from '../daemon/config/workflow-file.ts';
import { readAuthorities } from '../daemon/github/authority.ts';
import { cloneUrlOf } from '../daemon/github/clone-url.ts';
import { takeTokens } from '../daemon/github/credential.ts';
import type { Journal } from '../daemon/ports.ts';
import { CONFIG_CODES } from '../daemon/rules/codes/config-codes.ts';
import { WORK_CODES } from '../daemon/rules/codes/work-codes.ts';
import type { QueueSettings } from '../daemon/rules/queue-settings.ts';
import type { Workflow } from '../daemon/rules/workflow.ts';
import { requireGit } from '../git/git.ts';
import { detectRemote } from '../git/git-remote.ts';
import { dropRepositoryVariables } from '../git/repository-variables.ts';
import type { Fleet } from './fleet.ts';
import { credentialVariables } from './open-credential.ts';
import { Repositories } from './repositories.ts';
import type { ProcessParts } from './repository-parts.ts';
import { COMPOSE_CODES } from './rules/compose-codes.ts';
import { startServer, webhookFor } from './status-server.ts';
import { openTraces } from './traces.ts';

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

/** What only a queue needs is loaded with one alone. */
async function fleetOf(queue: QueueSettings | null, log: Logger): Promise<Fleet | undefined> {
  if (queue === null) return undefined;
  const { openFleet } = await import('./fleet.ts');
  return openFleet(queue, log);
}

function withPort(port: number | undefined): (workflow: Workflow) => Workflow {
  return (workflow) => {
    if (port === undefined) return workflow;
    const { webhookSecret } = workflow.server;
    const needs = webhookSecret !== null ? 'server.webhook_secret' : workflow.queue !== null ? 'queue.url' : null;
    if (port === 0 && needs !== null)
      throw failure(BASE_CODES.config_value, {
        key: '--port',
        expected: `the port of a status server, which ${needs} needs`,
        got: '0',
      });
    return { ...workflow, server: { ...workflow.server, port } };
  };
}

/** Reads the workflow, takes locks, port and roots, finds the credential. What cannot work is a ToolError before the first poll. */
export async function createDaemon(options: DaemonOptions): Promise<Daemon> {
  const clock = systemClock;
  requireHome();
  dropRepositoryVariables(options.env);
  const env = { ...options.env };
  const secrets: ProcessParts['secrets'] = new Set();
  const log = createLogger({
    format: options.logFormat,
    write: options.write,
    now: clock.now,
    secrets: () => [...secrets].flatMap((one) => one()),
  });
  const sayEnd = () => {
    log.log(
      'info',
      'serve',
      `${options.ended.reason}: agents at work are ended, the next start goes on with their issues; once more ends it at once`,
    );
  };
  options.ended.addEventListener('abort', sayEnd, { once: true });
  let repositories: Repositories | undefined;
  const file = await WorkflowFile.open({
    path: options.workflowPath,
    source: { env: { ...options.env }, detectRemote },
    override: withPort(options.port),
    clock,
    onReload: (problem, pending) => {
      const later = pending.length === 0 ? '' : `; takes effect at the next start: ${pending.join(', ')}`;
      if (problem === null) log.log('info', 'workflow', `read again${later}`);
      else {
        const code = problem.kind === 'gone' ? CONFIG_CODES.workflow_gone : CONFIG_CODES.workflow_invalid;
        log.log('error', 'workflow', refusal(code, { said: problem.words }));
      }
      repositories?.refresh();
    },
  });
  const workflow = file.current;
  const { webhookSecret, token } = workflow.server;
  const { queue } = workflow;
  secrets.add(() => [webhookSecret, token, workflow.notify.webhook, queue?.key].map((one) => one ?? ''));
  requirePlaces(workflow);
  const { apiUrl, caFile, slug } = workflow.tracker;
  // Its settings are read before they are taken out of the environment.
  const traces = workflow.telemetry.traces ? await openTraces(options.env, log, 'tool serve') : undefined;
  secrets.add(() => traces?.secrets ?? []);
  const { tokens, scrubbed } = takeTokens(options.env, [
    ...(traces?.variables ?? []),
    ...credentialVariables(workflow, options.env),
    ...(queue?.variables ?? []),
  ]);
  for (const name of tokens.keys()) delete env[name];

  requireGit(env);
  const authorities = readAuthorities(caFile, env);
  // A proxy that the API cannot use is said before anything begins.
  for (const url of [apiUrl, cloneUrlOf(apiUrl, slug)]) proxyFor(url, env);
  const closers: Closer[] = [() => traces?.close()];
  const close = async () => {
    await closeAll(closers.splice(0).reverse());
  };
  try {
    const runtime = new RuntimeDir();
    closers.push(() => runtime.close());
    const supervisor = new Supervisor({
      clock,
      onFailure: (task, said) => log.log('error', 'serve', refusal(WORK_CODES.background_task_failed, { task, said })),
    });
    closers.push(() => supervisor.close());
    const fleet = await fleetOf(queue, log);
    closers.push(() => fleet?.close());
    const parts: ProcessParts = {
      ...{ processEnv: options.env, env, tokens, authorities, runtime, log, secrets },
      once: options.once,
      ended: options.ended,
      fleet,
      tracer: traces?.tracer,
      ...(options.wrapJournal && { wrapJournal: options.wrapJournal }),
    };
    const made = await Repositories.open(parts, () => file.current);
    repositories = made;
    closers.push(() => made.close());
    const others = fleet?.others;
    const elsewhere = others && ((...delivery: Parameters<typeof others.deliver>) => others.deliver(...delivery));
    const webhook = await webhookFor(workflow, { clock, log, takes: (name) => made.deliveriesOf(name, elsewhere) });
    const source = made.source(() => ({
      now: clock.now(),
      version: packageVersion(),
      loadedAt: file.loadedAt,
      workflowError: file.error,
      pendingRestart: file.pendingRestart,
      webhook: webhook?.status ?? null,
      ...(fleet && { queue: fleet.sight() }),
    }));
    const shared = fleet && { fleet, source: fleet.shown(source) };
    const server = await startServer(workflow, webhook, source, log, shared);
    if (server !== undefined) {
      closers.push(() => server.close());
      // Workers hand in what they have while their attempts end.
      if (fleet !== undefined) closers.push(() => made.close());
      log.log('info', 'http', `status on ${server.url}`);
    }
    made.announce(server?.url ?? null);
    fleet?.announce(server?.url ?? null);
    fleet?.watch(() => made.tell());
    others?.watch(source, () => made.tell());
    if (others !== undefined) source.onChange(others.changed);
    if (shared !== undefined) {
      const parts = { members: () => made.members, source: shared.source, runtime, log };
      const commands = shared.fleet.waitingCommands(parts);
      closers.push(() => commands.close());
      made.onStanding(() => void commands.sync());
      await commands.sync();
    }
    const { isolation } = made;
    if (isolation?.active === true) log.log('info', 'serve', 'agents run in namespaces of their own');
    else if (isolation !== null) log.log('warn', 'serve', notIsolated(isolation.reason));
    if (!scrubbed) log.log('warn', 'serve', refusal(COMPOSE_CODES.token_not_removed, {}));
    supervisor.keep('workflow file', (signal) => file.watch(signal));
    await made.begin();
    return {
      run: () => made.run(),
      close,
      url: server?.url ?? null,
      get trouble() {
        return made.trouble;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
