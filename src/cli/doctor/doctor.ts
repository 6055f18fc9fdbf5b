// `tool doctor`: what the daemon and team mode need, one line each: holds or not, why, and the command that mends it.

import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { claudeCommand, claudeVersion, INSTALL_CLAUDE, runtimeLogin } from '../../agents/claude.ts';
import { systemClock } from '../../base/clock.ts';
import type { LockHolder } from '../../base/files/process-lock.ts';
import { packageVersion } from '../../base/package-version.ts';
import { refusal } from '../../base/rules/codes.ts';
import { TOKEN_VARIABLES } from '../../base/rules/credential.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { messageOf, ToolError } from '../../base/rules/errors.ts';
import { oneLine } from '../../base/rules/text.ts';
import { isVersionAtLeast } from '../../base/rules/version.ts';
import { credentialVariables, openCredential } from '../../compose/open-credential.ts';
import { TRACKERS } from '../../compose/trackers.ts';
import { readWorkflow } from '../../daemon/config/read-workflow.ts';
import { objectionToPlaces, requireHome } from '../../daemon/config/required-paths.ts';
import { hostOf } from '../../daemon/github/clone-url.ts';
import { Credential, clientStatus, type HostingCredential } from '../../daemon/github/credential.ts';
import { readStateDirHolder } from '../../daemon/journal/state-dir.ts';
import { isEvery, workflowOf } from '../../daemon/rules/repositories.ts';
import type { Workflow } from '../../daemon/rules/workflow.ts';
import { isOnPath, tryGit } from '../../git/git.ts';
import { detectRemote } from '../../git/git-remote.ts';
import { namePersonSettings } from '../../git/person-settings.ts';
import { findProject } from '../../git/project.ts';
import { formatSlug, type RepoSlug } from '../../git/rules/repository.ts';
import { CLI_CODES } from '../rules/cli-codes.ts';
import { DOCTOR_CODES } from '../rules/doctor-codes.ts';
import { neededNode } from '../rules/node-version.ts';
import { lineColumns } from '../screen/terminal.ts';
import { fixCommands } from './doctor-fix.ts';
import { checkLfs } from './doctor-lfs.ts';
import { checkApiRoute, checkGitRoute, type Network, readNetwork, withGitRoute } from './doctor-network.ts';
import { checkOwnFile, OWN_FILE_ROW } from './doctor-own-file.ts';
import {
  checkClone,
  checkDamaged,
  checkIsolation,
  checkJournal,
  checkSaved,
  checkState,
  checkWorkspaceRoot,
} from './doctor-places.ts';
import { actsFor, checkQueue, withoutQueue } from './doctor-queue.ts';
import { checkRepository, checkSubmodules } from './doctor-repository.ts';
import { type DoctorCheck, fail, failedBy, ok, warn } from './doctor-row.ts';
import { doctorRows } from './doctor-rows.ts';
import { diagnoseTeam, hasTeamMode, withoutTeamMode } from './doctor-team.ts';

const DEFAULT_PATH = './WORKFLOW.md';
const ADVISED_NODE = '22.0.0';
const NEWER_NODE = 'install Node 24 from nodejs.org';
const OLDEST_GIT = '2.32.0';
const OLDEST_HOST = '2.1.32';
const HOST = 'Claude Code';

function checkNode(): DoctorCheck {
  const version = process.versions.node;
  const required = neededNode(version);
  if (required !== null) return fail('node', refusal(CLI_CODES.node_unsupported, { version, required }), NEWER_NODE);
  if (!isVersionAtLeast(version, ADVISED_NODE))
    return warn('node', refusal(CLI_CODES.node_unmaintained, { version }), NEWER_NODE);
  return ok('node', version);
}

async function checkGit(env: Environment): Promise<DoctorCheck> {
  if (!isOnPath('git', env)) return fail('git', refusal(DOCTOR_CODES.git_not_on_path, {}), 'install git');
  try {
    const { stdout } = await tryGit(['--version'], { cwd: '/' });
    const version = /\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? '0.0.0';
    return !isVersionAtLeast(version, OLDEST_GIT)
      ? fail('git', refusal(DOCTOR_CODES.program_too_old, { version, required: OLDEST_GIT }), 'install a newer git')
      : ok('git', version);
  } catch (error) {
    return failedBy('git', error, 'install git');
  }
}

/** What of the person's git settings counts for the daemon's own git. */
async function checkGitSettings(env: Environment): Promise<DoctorCheck> {
  const { kept, ignored } = await namePersonSettings(env);
  const parts = [...(kept.length === 0 ? [] : [`kept: ${kept.join(', ')}`])];
  if (ignored.length > 0) parts.push(`ignored: ${ignored.join(', ')}`);
  return ok('git settings', parts.join('; ') || 'none of yours matters to the daemon');
}

function checkPaths(workflow: Workflow): DoctorCheck[] {
  const objection = objectionToPlaces(workflow);
  return objection === undefined
    ? []
    : [fail('paths', refusal(DOCTOR_CODES.paths_unusable, { said: objection }), 'name another directory')];
}

async function checkHost(workflow: Workflow, env: Environment): Promise<DoctorCheck[]> {
  if (workflow.queue !== null && workflow.review.agent === null) return [ok('runtime', 'agents run on the workers')];
  if (workflow.tool.runtime !== 'claude') return [ok('runtime', `${workflow.tool.runtime}: no model is needed by it`)];
  const command = claudeCommand(workflow);
  const version = await claudeVersion(command, env);
  const shown = [workflow.tool.command ?? 'claude'].flat().join(' ');
  const install = shown === 'claude' ? INSTALL_CLAUDE : `${INSTALL_CLAUDE}, or mend tool.command`;
  if (version === null) return [fail(HOST, refusal(CLI_CODES.claude_not_runnable, { command: shown }), install)];
  const login = runtimeLogin(env);
  const known = [
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'CLAUDE_CODE_USE_BEDROCK',
    'CLAUDE_CODE_USE_VERTEX',
    'CLAUDE_CODE_USE_FOUNDRY',
  ].find((name) => login[name] !== undefined);
  return [
    !isVersionAtLeast(version, OLDEST_HOST)
      ? fail(HOST, refusal(DOCTOR_CODES.program_too_old, { version, required: OLDEST_HOST }), install)
      : ok(HOST, version),
    known === undefined
      ? fail(
          `${HOST} login`,
          refusal(CLI_CODES.claude_login_missing, {}),
          'claude setup-token, then export CLAUDE_CODE_OAUTH_TOKEN; or export ANTHROPIC_API_KEY',
        )
      : ok(`${HOST} login`, `given to agents as ${known}`),
  ];
}

/** The credential's rows, the network's, and the repository's. */
async function checkTracker(workflow: Workflow, env: Environment): Promise<DoctorCheck[]> {
  const network = readNetwork(workflow, env);
  const isApp = workflow.tracker.app !== null;
  if (isApp && !('authorities' in network)) return [network];
  const { checks, credential } = isApp ? await checkApp(workflow, network, env) : await checkCredential(workflow, env);
  if (!('authorities' in network)) return [...checks, network];
  const { tracker, stateDir } = workflow;
  const opened = await TRACKERS[tracker.kind].open({
    workflow,
    credential: credential ?? { token: async () => '', reject: () => undefined, login: null },
    authorities: network.authorities,
    stateDir,
    env,
    clock: systemClock,
  });
  try {
    return await withGitRoute(workflow, network, env, async (git) => [
      ...checks,
      await checkApiRoute(workflow, network, opened, env),
      await checkGitRoute(workflow, network, credential, git),
      ...(credential === undefined ? [] : await checkRepository(workflow, opened)),
      ...(await checkSubmodules(workflow, credential, git)),
    ]);
  } finally {
    await opened.close();
  }
}

async function checkApp(
  workflow: Workflow,
  network: Network | DoctorCheck,
  env: Environment,
): Promise<{ readonly checks: DoctorCheck[]; readonly credential?: HostingCredential }> {
  const variables = credentialVariables(workflow, env);
  const tokens = new Map(variables.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
  const authorities = 'authorities' in network ? network.authorities : [];
  try {
    const credential = await openCredential(workflow, tokens, {
      authorities,
      env,
      clock: systemClock,
      warn: () => undefined,
    });
    return { checks: [ok('token', `from ${credential.source}`)], credential };
  } catch (error) {
    return { checks: [failedBy('token', error, null)] };
  }
}

async function checkCredential(
  workflow: Workflow,
  env: Environment,
): Promise<{ readonly checks: DoctorCheck[]; readonly credential?: HostingCredential }> {
  const host = hostOf(workflow.tracker.apiUrl);
  const status = await clientStatus(host, env);
  const { tokenVariable: named } = workflow.tracker;
  const login = `${status.installed ? '' : 'install gh from cli.github.com, then '}gh auth login --hostname ${host}`;
  const variables = [...TOKEN_VARIABLES, ...(named === null ? [] : [named])];
  const tokens = new Map(variables.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
  let credential: Credential;
  try {
    credential = await Credential.find(named, tokens, host, env);
  } catch (error) {
    // The variable that the file names comes before any login, which then mends nothing.
    const mend = named === null ? `${login}, or export GITHUB_TOKEN` : `export ${named}=…`;
    const missing = named === null ? fail : warn;
    const away = named === null ? mend : `${login}, or leave it so`;
    return {
      checks: [
        status.ok
          ? ok('hosting client', status.says)
          : missing('hosting client', refusal(DOCTOR_CODES.hosting_client_unusable, { said: status.says }), away),
        failedBy('token', error, mend),
      ],
    };
  }
  const { source } = credential;
  const client = status.ok
    ? ok('hosting client', status.says)
    : credential.fromClient
      ? fail('hosting client', refusal(DOCTOR_CODES.hosting_client_unusable, { said: status.says }), login)
      : warn(
          'hosting client',
          refusal(DOCTOR_CODES.hosting_client_unusable, { said: status.says, source }),
          `${login}, or leave it so`,
        );
  return { checks: [client, ok('token', `from ${credential.source}`)], credential };
}

/** Why nothing can listen there; undefined when it can. */
async function objectionToPort(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', (error) =>
      resolve('code' in error && error.code === 'EADDRINUSE' ? 'is in use by another program' : messageOf(error)),
    );
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}

async function checkPort(workflow: Workflow, holder: LockHolder | undefined): Promise<DoctorCheck> {
  const { host, port } = workflow.server;
  if (port === 0) return ok('port', 'the status server is off (server.port: 0)');
  const objection = await objectionToPort(host, port);
  if (objection === undefined) return ok('port', `${port} on ${host} is free`);
  if (holder?.url?.endsWith(`:${port}`) === true)
    return ok('port', `${port} on ${host} is held by the daemon that runs`);
  const what = refusal(DOCTOR_CODES.port_unusable, { port, host, said: objection });
  return fail('port', what, 'tool serve --port <n>, or server.port: 0');
}

async function checkVersion(holder: LockHolder | undefined): Promise<DoctorCheck> {
  const installed = packageVersion();
  if (holder === undefined) return ok('daemon', `not running; ${installed} is installed`);
  if (holder.url === null) return ok('daemon', `runs as process ${holder.pid}; ${installed} is installed`);
  try {
    const response = await fetch(`${holder.url}/api/v1/state`, { signal: AbortSignal.timeout(3_000) });
    const value: unknown = await response.json();
    const running =
      typeof value === 'object' && value !== null && 'version' in value ? String(value.version) : undefined;
    if (running === undefined)
      return warn(
        'daemon',
        refusal(DOCTOR_CODES.daemon_wants_token, { url: holder.url }),
        'compare versions on its page',
      );
    return running === installed
      ? ok('daemon', `${running} runs at ${holder.url}`)
      : warn(
          'daemon',
          refusal(CLI_CODES.daemon_version_differs, { running, url: holder.url, installed }),
          `restart the daemon (process ${holder.pid})`,
        );
  } catch (error) {
    return warn(
      'daemon',
      refusal(CLI_CODES.daemon_silent, { pid: holder.pid, url: holder.url, said: oneLine(messageOf(error), 80) }),
      'look at its log',
    );
  }
}

function mendOfWorkflow(error: unknown, path: string): string {
  const cause = error instanceof ToolError ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === undefined) return 'mend the keys named here';
  if (code === 'ENOENT') return 'tool serve init';
  return code === 'EISDIR'
    ? 'name the file: tool doctor <file>'
    : `make it a file that you may read: chmod u+r ${path}`;
}

async function diagnoseRepository(workflow: Workflow, env: Environment): Promise<DoctorCheck[]> {
  const holder = readStateDirHolder(workflow.stateDir);
  const repository = `${hostOf(workflow.tracker.apiUrl)}/${formatSlug(workflow.tracker.slug)}`;
  return [
    ...(await checkTracker(workflow, env)),
    checkWorkspaceRoot(workflow, repository),
    checkState(workflow, holder),
    checkJournal(workflow, holder),
    ...checkDamaged(workflow),
    ...(await checkSaved(workflow)),
    await checkClone(workflow),
    ...(await checkLfs(workflow, env)),
    ...(await checkOwnFile(workflow)),
  ];
}

/** A row for each of many repositories, and one for each check of it that does not hold. */
async function diagnoseMany(
  each: readonly Workflow[],
  repositories: readonly RepoSlug[],
  env: Environment,
): Promise<DoctorCheck[]> {
  const rows: DoctorCheck[] = repositories
    .filter(isEvery)
    .map(({ owner }) => ok(`${owner}/*`, 'tool serve reads the list; name a repository to have it checked'));
  for (const workflow of each) {
    const name = formatSlug(workflow.tracker.slug);
    const checks = await diagnoseRepository(workflow, env);
    const wrong = checks.filter(({ status }) => status !== 'ok');
    rows.push(ok(name, `${checks.length - wrong.length} of ${checks.length} checks hold`));
    const shown = checks.filter((check) => check.status !== 'ok' || check.name === OWN_FILE_ROW);
    rows.push(...shown.map((check) => ({ ...check, name: `${name}, ${check.name}` })));
  }
  return rows;
}

/** All checks, in the order in which they are mended. */
export async function diagnose(path: string, env: Environment): Promise<DoctorCheck[]> {
  const machine = [checkNode(), await checkGit(env)];
  let workflow: Workflow;
  try {
    workflow = await readWorkflow(path, { env, detectRemote });
  } catch (error) {
    return [...machine, failedBy('workflow', error, mendOfWorkflow(error, path))];
  }
  if (!isOnPath('git', env)) return [...machine, ok('workflow', workflow.path)];
  const { repositories } = workflow.tracker;
  const each =
    repositories === null
      ? [workflow]
      : repositories.filter((one) => !isEvery(one)).map((one) => workflowOf(workflow, one));
  const holder = each.map(({ stateDir }) => readStateDirHolder(stateDir)).find((one) => one !== undefined);
  return [
    ...machine,
    ok('workflow', workflow.path),
    await checkGitSettings(env),
    ...checkPaths(workflow),
    ...(await checkHost(workflow, env)),
    await checkIsolation(workflow, env),
    ...(repositories === null ? await diagnoseRepository(workflow, env) : await diagnoseMany(each, repositories, env)),
    await checkPort(workflow, holder),
    await checkVersion(holder),
    ...(workflow.queue === null ? [] : await queueRows(workflow, path, env)),
  ];
}

/** The rows of the queue alone: of the workflow file, or on a worker of its environment. */
async function queueRows(workflow: Workflow | null, path: string, env: Environment): Promise<DoctorCheck[]> {
  const { TOOL_QUEUE_URL: url, TOOL_FLEET_KEY: key = '' } = env;
  const queue = workflow?.queue ?? null;
  if (workflow !== null && queue !== null) return checkQueue(queue.url, queue.key, actsFor(workflow));
  return url === undefined ? [withoutQueue(path)] : checkQueue(url, key, null);
}

async function diagnoseQueue(path: string, env: Environment): Promise<DoctorCheck[]> {
  if (!existsSync(path)) return queueRows(null, path, env);
  try {
    return await queueRows(await readWorkflow(path, { env, detectRemote }), path, env);
  } catch (error) {
    return [failedBy('workflow', error, mendOfWorkflow(error, path))];
  }
}

/** What stands in the way of the daemon is nothing to a project that has team mode only. */
function withoutDaemon(checks: readonly DoctorCheck[]): readonly DoctorCheck[] {
  return checks.map((check) =>
    check.name === 'workflow' ? ok('daemon', 'no WORKFLOW.md here; `tool serve init` writes one') : check,
  );
}

export async function doctorCommand(
  path: string,
  options: { readonly json?: boolean; readonly fix?: boolean; readonly queue?: boolean },
): Promise<void> {
  requireHome();
  const { main } = findProject(process.cwd());
  const fixed = options.fix === true ? await fixCommands(main, process.env) : [];
  const hasTeams = hasTeamMode(main, process.env);
  // Nobody names another file that is not there but by mistake.
  const hasDaemon = path !== DEFAULT_PATH || existsSync(path);
  const all = async () => {
    const daemon = await diagnose(path, process.env);
    return [
      ...(hasTeams && !hasDaemon ? withoutDaemon(daemon) : daemon),
      ...(hasTeams || !hasDaemon ? await diagnoseTeam(main, process.env, process.cwd()) : withoutTeamMode(process.env)),
    ];
  };
  const checks = options.queue === true ? await diagnoseQueue(path, process.env) : await all();
  const failed = checks.some((check) => check.status === 'fail');
  process.exitCode = failed ? 1 : 0;
  if (options.json === true) {
    process.stdout.write(
      `${JSON.stringify({ ok: !failed, checks, ...(options.fix === true ? { fixed } : {}) }, null, 2)}\n`,
    );
    return;
  }
  for (const words of fixed) process.stdout.write(`${words}\n`);
  process.stdout.write(doctorRows(checks, lineColumns(process.stdout)));
}
