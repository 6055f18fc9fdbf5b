// The runner for Claude Code, headless: one process an attempt, a turn for each prompt, its event stream read as it comes.

import { existsSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseFrontMatter } from '../base/config/front-matter.ts';
import { readWithin } from '../base/files/safe-read.ts';
import { packageRoot } from '../base/package-root.ts';
import { runProgram } from '../base/processes/program.ts';
import type { RuntimeDir } from '../base/processes/runtime-dir.ts';
import type { Environment } from '../base/rules/environment.ts';
import { isVersionAtLeast, parseVersion } from '../base/rules/version.ts';
import type { Author } from '../git/rules/author.ts';
import { createAgentPlaces } from './agent-home.ts';
import { converse, STREAMING } from './claude-session.ts';
import { heldCommand } from './held-writes.ts';
import type { Isolation } from './isolation.ts';
import type { AgentRole, RunEnd, RunHooks, Runner, RunRequest } from './ports.ts';
import type { AgentSettings } from './rules/runtime.ts';

export type ClaudeOptions = {
  readonly workflow: () => { readonly tool: AgentSettings };
  readonly stateDir: string;
  readonly runtime: RuntimeDir;
  readonly isolation: Isolation;
  readonly env: Environment;
  /** Of commits; undefined: the usual one. */
  readonly author?: Author | undefined;
  /** How long the process may stay after its input was closed. */
  readonly exitMs?: number;
};

/** What the runtime needs to log in and to be configured: passed on by name, never the person's whole environment. */
const LOGIN =
  /^(ANTHROPIC_\w+|CLAUDE_CODE_(OAUTH_TOKEN|USE_\w+|MAX_\w+|SUBAGENT_MODEL|SKIP_\w+|DISABLE_\w+|API_KEY_\w+)|API_TIMEOUT_MS|BASH_\w+_MS|BASH_MAX_OUTPUT_LENGTH|MAX_THINKING_TOKENS|MAX_MCP_OUTPUT_TOKENS|MCP_TIMEOUT|MCP_TOOL_TIMEOUT|DISABLE_\w+|IS_SANDBOX|ENABLE_TOOL_SEARCH)$/;
const CLOUD = /^(AWS_\w+|GOOGLE_\w+|CLOUD_ML_REGION|VERTEX_\w+|AZURE_\w+)$/;

/** Tools that write, whatever the settings allow. */
const WRITING_TOOLS = ['Edit', 'Write', 'MultiEdit', 'NotebookEdit'];

/** More is no description of an agent, and would not fit into a command line. */
const MAX_AGENT_BYTES = 100_000;

/** The login of a person's own Claude Code, when no variable holds one: its access token alone, not what renews it. */
function storedLogin(env: ClaudeOptions['env']): Record<string, string> {
  const path = join(env.CLAUDE_CONFIG_DIR ?? join(env.HOME ?? homedir(), '.claude'), '.credentials.json');
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const login =
      typeof value === 'object' && value !== null && 'claudeAiOauth' in value ? value.claudeAiOauth : undefined;
    if (
      typeof login !== 'object' ||
      login === null ||
      !('accessToken' in login) ||
      typeof login.accessToken !== 'string'
    )
      return {};
    return { CLAUDE_CODE_OAUTH_TOKEN: login.accessToken };
  } catch {
    return {};
  }
}

export function runtimeLogin(env: ClaudeOptions['env']): Record<string, string> {
  const cloud =
    env.CLAUDE_CODE_USE_BEDROCK !== undefined ||
    env.CLAUDE_CODE_USE_VERTEX !== undefined ||
    env.CLAUDE_CODE_USE_FOUNDRY !== undefined;
  const picked: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && (LOGIN.test(name) || (cloud && CLOUD.test(name)))) picked[name] = value;
  }
  const loggedIn =
    cloud ||
    ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'].some((name) => picked[name] !== undefined);
  return loggedIn ? picked : { ...picked, ...storedLogin(env) };
}

/** What puts the host's program on a machine, or a newer one. */
export const INSTALL_CLAUDE = 'npm install -g @anthropic-ai/claude-code';

/** The program and its first arguments that `tool.command` names; text is the shell's to read, and gets the rest as its arguments. */
export function claudeCommand({
  tool,
}: {
  readonly tool: Pick<AgentSettings, 'command'>;
}): readonly [string, ...string[]] {
  const { command } = tool;
  if (typeof command === 'string') return ['/bin/sh', '-c', `${command} "$@"`, 'claude'];
  const [file = 'claude', ...args] = command ?? [];
  return [file, ...args];
}

export async function claudeVersion(
  command: readonly [string, ...string[]],
  env: ClaudeOptions['env'],
): Promise<string | null> {
  const [file, ...args] = command;
  const clean: Record<string, string> = { PATH: env.PATH ?? '/usr/local/bin:/usr/bin:/bin', HOME: '/nonexistent' };
  try {
    const result = await runProgram(file, [...args, '--version'], { cwd: '/', env: clean, timeoutMs: 20_000 });
    return result.exitCode === 0 ? parseVersion(result.stdout) : null;
  } catch {
    return null;
  }
}

export type AgentText = {
  readonly text: string;
  /** Whether it is the project's own, which the host finds by itself. */
  readonly isOwn: boolean;
};

/** An agent's file: the one in the clone, else the one that this package brings; null: there is none. */
export async function readAgent(cwd: string, agent: string): Promise<AgentText | null> {
  const own = await readWithin(cwd, join('.claude', 'agents', `${agent}.md`), MAX_AGENT_BYTES);
  if (own !== null) return { text: own, isOwn: true };
  const path = join(packageRoot(), 'agents', `${agent}.md`);
  return existsSync(path) ? { text: readFileSync(path, 'utf8'), isOwn: false } : null;
}

/** The agent's own file in the clone is the host's to read; otherwise its text is passed on. */
export function agentArguments(agent: string, found: AgentText | null, version: string | null): readonly string[] {
  if (found === null) return [];
  // 2.1.33 with --agent ends at once and says nothing.
  const supported = version !== null && isVersionAtLeast(version, '2.1.100');
  if (found.isOwn && supported) return ['--agent', agent];
  return ['--append-system-prompt', parseFrontMatter(found.text, `${agent}.md`).content.trim()];
}

/** An agent that only reads is given its text: what lies in the clone is the author's. */
function roleArguments({ text, model }: AgentRole): readonly string[] {
  const tools = ['--disallowedTools', WRITING_TOOLS.join(',')];
  return [...tools, '--append-system-prompt', text, ...(model === null ? [] : ['--model', model])];
}

/** The runtime's login and what it is told by variables. */
export function runtimeVariables(env: ClaudeOptions['env'], version: string | null): Record<string, string> {
  const login = runtimeLogin(env);
  // Without the events that say why it tries again, an early version would go on for minutes.
  const silent =
    version !== null && !isVersionAtLeast(version, '2.1.100') && login.CLAUDE_CODE_MAX_RETRIES === undefined;
  return { ...login, DISABLE_AUTOUPDATER: '1', ...(silent ? { CLAUDE_CODE_MAX_RETRIES: '3' } : {}) };
}

export class ClaudeRunner implements Runner {
  readonly name = 'claude';
  readonly #options: ClaudeOptions;
  readonly #versions = new Map<string, Promise<string | null>>();

  constructor(options: ClaudeOptions) {
    this.#options = options;
  }

  async #version(command: readonly [string, ...string[]]): Promise<string | null> {
    const key = command.join(' ');
    const known = this.#versions.get(key) ?? claudeVersion(command, this.#options.env);
    this.#versions.set(key, known);
    const version = await known;
    // It may be installed by the next attempt.
    if (version === null) this.#versions.delete(key);
    return version;
  }

  async run(request: RunRequest, hooks: RunHooks): Promise<RunEnd> {
    const { workflow, runtime, isolation, env } = this.#options;
    const { tool } = workflow();
    const command = claudeCommand(workflow());
    const { tmp, home, stateDir, writable } = await createAgentPlaces(this.#options, request, {
      passed: tool.env,
      carry: request.resume === null ? null : join('.claude', 'projects'),
    });
    const version = await this.#version(command);
    const { agent } = tool;
    const [file, ...first] = command;
    const args = [
      ...first,
      ...STREAMING,
      '--permission-mode',
      tool.permissionMode,
      ...(tool.allowedTools.length === 0 ? [] : ['--allowedTools', tool.allowedTools.join(',')]),
      ...(request.role === undefined
        ? agent === null
          ? []
          : agentArguments(agent, await readAgent(request.cwd, agent), version)
        : roleArguments(request.role)),
      ...(request.budgetUsd === null ? [] : ['--max-budget-usd', String(request.budgetUsd)]),
      ...((await sessionExists(home.path, request.resume)) ? ['--resume', request.resume ?? ''] : []),
    ];
    const [program, programArgs] = await heldCommand(isolation, env, request, stateDir, [file, args], writable);
    const { exitMs } = this.#options;
    try {
      return await converse(
        {
          file: program,
          args: programArgs,
          cwd: request.cwd,
          env: { ...home.env, ...runtimeVariables(env, version), ...request.env },
          run: request.run,
          isIsolated: isolation.active,
          prompt: request.prompt,
          ...(exitMs === undefined ? {} : { exitMs }),
        },
        hooks,
      );
    } finally {
      runtime.remove(tmp);
    }
  }
}

async function sessionExists(home: string, session: string | null): Promise<boolean> {
  if (session === null || !/^[\w-]+$/.test(session)) return false;
  const projects = join(home, '.claude', 'projects');
  if (!existsSync(projects)) return false;
  return (await readdir(projects)).some((project) => existsSync(join(projects, project, `${session}.jsonl`)));
}
