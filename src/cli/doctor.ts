// `tool doctor`: what the daemon needs, one line each: holds or not, why, and the command that mends it.

import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import kleur from 'kleur';
import { systemClock } from '../adapters/clock.ts';
import { readWorkflow } from '../adapters/config/workflow.ts';
import { EventLog } from '../adapters/event-log/event-log.ts';
import { decodeRecord } from '../adapters/event-log/journal-decoder.ts';
import { tryGit } from '../adapters/git.ts';
import { detectRemote } from '../adapters/git-remote.ts';
import { HostingClient } from '../adapters/github/client.ts';
import { hostOf } from '../adapters/github/clone-url.ts';
import { Credential, clientStatus, type Environment } from '../adapters/github/credential.ts';
import { readRepository } from '../adapters/github/repository.ts';
import { packageVersion } from '../adapters/package-root.ts';
import { claudeCommand, claudeVersion, isBefore, runtimeLogin } from '../adapters/runner/claude.ts';
import { type Holder, holderOf } from '../adapters/state-dir.ts';
import { objectionToRoot } from '../adapters/workspace-root.ts';
import { TOKEN_VARIABLES } from '../domain/credential.ts';
import { messageOf, ToolError } from '../domain/errors.ts';
import { formatSlug } from '../domain/repository.ts';
import { oneLine } from '../domain/text.ts';
import type { Workflow } from '../domain/workflow.ts';

/** `warn`: the daemon runs all the same. */
export type Check = {
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly says: string;
  /** What mends it; null when nothing needs to be mended. */
  readonly mend: string | null;
};

const OLDEST_NODE = '20.19.0';
const ADVISED_NODE = '22.0.0';
const OLDEST_GIT = '2.31.0';
const OLDEST_HOST = '2.1.32';

const ok = (name: string, says: string): Check => ({ name, status: 'ok', says, mend: null });
const warn = (name: string, says: string, mend: string): Check => ({ name, status: 'warn', says, mend });
const fail = (name: string, says: string, mend: string): Check => ({ name, status: 'fail', says, mend });

function checkNode(): Check {
  const version = process.versions.node;
  if (isBefore(version, OLDEST_NODE))
    return fail('node', `${version}; ${OLDEST_NODE} or later is needed`, 'install Node 24 from nodejs.org');
  if (isBefore(version, ADVISED_NODE))
    return warn('node', `${version}; works, but gets no security fixes any more`, 'install Node 24 from nodejs.org');
  return ok('node', version);
}

async function checkGit(): Promise<Check> {
  try {
    const { stdout } = await tryGit(['--version'], { cwd: '/' });
    const version = /\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? '0.0.0';
    return isBefore(version, OLDEST_GIT)
      ? fail('git', `${version}; ${OLDEST_GIT} or later is needed`, 'install a newer git')
      : ok('git', version);
  } catch (error) {
    return fail('git', messageOf(error), 'install git');
  }
}

async function checkHost(workflow: Workflow, env: Environment): Promise<Check[]> {
  if (workflow.tool.runtime !== 'claude') return [ok('runtime', `${workflow.tool.runtime}: no model is needed by it`)];
  const command = claudeCommand(workflow);
  const version = await claudeVersion(command, env);
  const shown = [workflow.tool.command ?? 'claude'].flat().join(' ');
  const program = 'npm install -g @anthropic-ai/claude-code';
  const install = shown === 'claude' ? program : `${program}, or mend tool.command`;
  if (version === null) return [fail('host', `${shown} cannot be run`, install)];
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
    isBefore(version, OLDEST_HOST)
      ? fail('host', `Claude Code ${version}; ${OLDEST_HOST} or later is needed`, install)
      : ok('host', `Claude Code ${version}`),
    known === undefined
      ? fail(
          'host login',
          'no key or login that an agent could be given',
          'claude setup-token, then export CLAUDE_CODE_OAUTH_TOKEN; or export ANTHROPIC_API_KEY',
        )
      : ok('host login', `given to agents as ${known}`),
  ];
}

async function checkTracker(workflow: Workflow, env: Environment): Promise<Check[]> {
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
    return [
      status.ok ? ok('hosting client', status.says) : fail('hosting client', status.says, login),
      fail('token', messageOf(error), named === null ? `${login}, or export GITHUB_TOKEN` : `export ${named}=…`),
    ];
  }
  const client = status.ok
    ? ok('hosting client', status.says)
    : credential.fromClient
      ? fail('hosting client', status.says, login)
      : warn('hosting client', status.says, login);
  return [client, ok('token', `from ${credential.source}`), await checkRepository(workflow, credential)];
}

async function checkRepository(workflow: Workflow, credential: Credential): Promise<Check> {
  const slug = formatSlug(workflow.tracker.slug);
  const client = new HostingClient({
    apiUrl: workflow.tracker.apiUrl,
    token: () => credential.token(),
    onUnauthorized: () => undefined,
    userAgent: `toolcrew/${packageVersion()}`,
    clock: systemClock,
  });
  try {
    const { mayPush, archived } = await readRepository(client, workflow.tracker.slug, AbortSignal.timeout(20_000));
    if (archived) return fail('repository', `${slug} is archived`, 'unarchive it, or name another one in tracker.repo');
    return mayPush
      ? ok('repository', `${slug} can be read and pushed to`)
      : fail(
          'repository',
          `the token may not push to ${slug}`,
          'give it write access to contents, issues and pull requests',
        );
  } catch (error) {
    return fail(
      'repository',
      `${slug}: ${messageOf(error)}`,
      'check tracker.repo, tracker.api_url and what the token may do',
    );
  } finally {
    await client.close();
  }
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

async function checkPort(workflow: Workflow, holder: Holder | undefined): Promise<Check> {
  const { host, port } = workflow.server;
  if (port === 0) return ok('port', 'the status server is off (server.port: 0)');
  const objection = await objectionToPort(host, port);
  if (objection === undefined) return ok('port', `${port} on ${host} is free`);
  if (holder?.url?.endsWith(`:${port}`) === true)
    return ok('port', `${port} on ${host} is held by the daemon that runs`);
  return fail('port', `${port} on ${host} ${objection}`, 'tool serve --port <n>, or server.port: 0');
}

/** Why a directory cannot be made or written to; undefined when it can. */
function objectionToWriting(path: string): string | undefined {
  let existing = path;
  while (!existsSync(existing)) existing = dirname(existing);
  if (!statSync(existing).isDirectory()) return `${existing} is not a directory`;
  try {
    accessSync(existing, constants.W_OK);
    return undefined;
  } catch {
    return `${existing} cannot be written to`;
  }
}

function checkRoot(workflow: Workflow, repository: string): Check {
  const { root } = workflow.workspace;
  const mend = 'name an empty directory in workspace.root';
  const objection = objectionToWriting(root);
  if (!existsSync(root))
    return objection === undefined
      ? ok('workspace root', `${root} will be made`)
      : fail('workspace root', `${root} cannot be made: ${objection}`, mend);
  const real = realpathSync(root);
  const why = objectionToRoot(real, repository, workflow.stateDir);
  if (why !== undefined) return fail('workspace root', `${real} ${why}`, mend);
  return objection === undefined ? ok('workspace root', real) : fail('workspace root', objection, mend);
}

/** Directories that a boot clears: a journal there is no journal. */
const CLEARED = ['/tmp/', '/var/run/', '/run/', '/dev/shm/'];

function checkState(workflow: Workflow, holder: Holder | undefined): Check {
  const { stateDir } = workflow;
  if (holder !== undefined)
    return ok('state', `${stateDir} is held by the daemon with process ${holder.pid}, since ${holder.since}`);
  const objection = objectionToWriting(stateDir);
  if (objection !== undefined)
    return fail('state', `${stateDir} cannot be written: ${objection}`, 'name another directory in state.dir');
  if (CLEARED.some((prefix) => `${stateDir}/`.startsWith(prefix)))
    return warn('state', `${stateDir} does not survive a boot`, 'name another directory in state.dir');
  return ok('state', stateDir);
}

/** The journal is only read: a torn line is said, a record of a newer version is a failure. */
function checkJournal(workflow: Workflow): Check {
  const path = join(workflow.stateDir, 'journal.jsonl');
  if (!existsSync(path)) return ok('journal', 'none yet');
  try {
    const log = new EventLog({ path, decode: decodeRecord, now: systemClock.now, onRecord: () => undefined });
    const torn = log.torn.length;
    void log.close();
    return torn === 0
      ? ok('journal', `${log.size} bytes`)
      : warn(
          'journal',
          `${torn === 1 ? 'a line was' : `${torn} lines were`} torn by a crash; nothing else is lost`,
          'none needed',
        );
  } catch (error) {
    const newer = /record of version/.test(messageOf(error));
    return fail('journal', messageOf(error), newer ? 'npm install -g toolcrew' : `move ${path} away to begin anew`);
  }
}

async function checkVersion(holder: Holder | undefined): Promise<Check> {
  const installed = packageVersion();
  if (holder === undefined) return ok('daemon', `not running; ${installed} is installed`);
  if (holder.url === null) return ok('daemon', `runs as process ${holder.pid}; ${installed} is installed`);
  try {
    const response = await fetch(`${holder.url}/api/v1/state`, { signal: AbortSignal.timeout(3_000) });
    const value: unknown = await response.json();
    const running =
      typeof value === 'object' && value !== null && 'version' in value ? String(value.version) : undefined;
    if (running === undefined)
      return warn('daemon', `runs at ${holder.url}, which wants a token`, 'compare versions on its page');
    return running === installed
      ? ok('daemon', `${running} runs at ${holder.url}`)
      : warn(
          'daemon',
          `${running} runs at ${holder.url}, ${installed} is installed`,
          `restart the daemon (process ${holder.pid})`,
        );
  } catch (error) {
    return warn(
      'daemon',
      `process ${holder.pid} runs, ${holder.url} does not answer: ${oneLine(messageOf(error), 80)}`,
      'look at its log',
    );
  }
}

/** All checks, in the order in which they are mended. */
export async function diagnose(path: string, env: Environment): Promise<Check[]> {
  const machine = [checkNode(), await checkGit()];
  let workflow: Workflow;
  try {
    workflow = readWorkflow(path, { env, detectRemote }).workflow;
  } catch (error) {
    return [
      ...machine,
      fail(
        'workflow',
        messageOf(error),
        error instanceof ToolError && /no such file/.test(error.message)
          ? 'tool serve init'
          : 'mend the keys named here',
      ),
    ];
  }
  const holder = holderOf(workflow.stateDir);
  const repository = `${hostOf(workflow.tracker.apiUrl)}/${formatSlug(workflow.tracker.slug)}`;
  return [
    ...machine,
    ok('workflow', workflow.path),
    ...(await checkHost(workflow, env)),
    ...(await checkTracker(workflow, env)),
    checkRoot(workflow, repository),
    checkState(workflow, holder),
    checkJournal(workflow),
    await checkPort(workflow, holder),
    await checkVersion(holder),
  ];
}

const MARKS = { ok: kleur.green('✔'), warn: kleur.yellow('!'), fail: kleur.red('✖') } as const;

export async function doctorCommand(path: string, options: { readonly json?: boolean }): Promise<void> {
  const checks = await diagnose(path, process.env);
  const failed = checks.some((check) => check.status === 'fail');
  process.exitCode = failed ? 1 : 0;
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify({ ok: !failed, checks }, null, 2)}\n`);
    return;
  }
  const width = Math.max(...checks.map((check) => check.name.length));
  for (const check of checks) {
    process.stdout.write(
      `${MARKS[check.status]} ${check.name.padEnd(width)}  ${check.says.split('\n').join(`\n  ${' '.repeat(width)}  `)}\n`,
    );
    if (check.mend !== null) process.stdout.write(`  ${' '.repeat(width)}  → ${check.mend}\n`);
  }
}
