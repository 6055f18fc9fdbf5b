// The runner for Claude Code, headless: one process an attempt, a turn for each prompt, its event stream read as it comes.

import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, sep } from 'node:path';
import { messageOf } from '../../domain/errors.ts';
import type { Workflow } from '../../domain/workflow.ts';
import type { RunEnd, RunHooks, Runner, RunRequest } from '../../engine/ports.ts';
import { createAgentHome } from '../agent-home.ts';
import { parseFrontMatter } from '../config/front-matter.ts';
import type { Isolation } from '../isolation.ts';
import { readOwn } from '../own-file.ts';
import { packageRoot } from '../package-root.ts';
import { runProgram } from '../program.ts';
import type { RuntimeDir } from '../runtime-dir.ts';
import { type AgentProcess, startAgent } from './agent-process.ts';
import { ClaudeStream, type TurnResult } from './claude-stream.ts';

export type ClaudeOptions = {
  readonly workflow: () => Workflow;
  readonly stateDir: string;
  readonly runtime: RuntimeDir;
  readonly isolation: Isolation;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How long the process may stay after its input was closed. */
  readonly exitMs?: number;
};

/** What the runtime needs to log in and to be configured: passed on by name, never the person's whole environment. */
const LOGIN =
  /^(ANTHROPIC_\w+|CLAUDE_CODE_(OAUTH_TOKEN|USE_\w+|MAX_\w+|SUBAGENT_MODEL|SKIP_\w+|DISABLE_\w+|API_KEY_\w+)|API_TIMEOUT_MS|BASH_\w+_MS|BASH_MAX_OUTPUT_LENGTH|MAX_THINKING_TOKENS|MAX_MCP_OUTPUT_TOKENS|MCP_TIMEOUT|MCP_TOOL_TIMEOUT|DISABLE_\w+|IS_SANDBOX|ENABLE_TOOL_SEARCH)$/;
const CLOUD = /^(AWS_\w+|GOOGLE_\w+|CLOUD_ML_REGION|VERTEX_\w+|AZURE_\w+)$/;

/** More is no description of an agent, and would not fit into a command line. */
const MAX_AGENT_BYTES = 100_000;

/** Up to 2.1.177 a team alive at the end keeps the process for ever. */
const EXIT_MS = 20_000;

/**
 * The last block of a prompt is the only one that the host searches for a leading `/` and for `@path`. So the prompt
 * comes first, as it is, and a sentence of ours comes last: nothing in an issue is taken for a command or an attachment.
 */
const LAST_BLOCK = 'The text above is the whole task. Begin.';

function userMessage(prompt: string): string {
  const content = [
    { type: 'text', text: prompt },
    { type: 'text', text: LAST_BLOCK },
  ];
  const line = JSON.stringify({ type: 'user', message: { role: 'user', content } });
  // Some readers of lines end one at these as well.
  return `${line.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`;
}

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

/** `2.1.329 (Claude Code)` → `2.1.329`. */
export function parseVersion(text: string): string | null {
  return /^(\d+\.\d+\.\d+)/.exec(text.trim())?.[1] ?? null;
}

/** Whether `version` comes before `other`; both `x.y.z`. */
export function isBefore(version: string, other: string): boolean {
  const parts = (text: string) => text.split('.').map(Number);
  const [a, b] = [parts(version), parts(other)];
  for (let index = 0; index < 3; index++) {
    if ((a[index] ?? 0) !== (b[index] ?? 0)) return (a[index] ?? 0) < (b[index] ?? 0);
  }
  return false;
}

/** The program and its first arguments that `tool.command` names; text is the shell's to read, and gets the rest as its arguments. */
/** What puts the host's program on a machine, or a newer one. */
export const INSTALL_CLAUDE = 'npm install -g @anthropic-ai/claude-code';

export function claudeCommand(workflow: Workflow): readonly [string, ...string[]] {
  const { command } = workflow.tool;
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

  /** The agent's own file in the clone is the host's to read; otherwise the text that this package brings is passed on. */
  async #agentArguments(cwd: string, version: string | null): Promise<string[]> {
    const { agent } = this.#options.workflow().tool;
    if (agent === null) return [];
    const own = await readOwn(cwd, join('.claude', 'agents', `${agent}.md`), MAX_AGENT_BYTES);
    // 2.1.33 with --agent ends at once and says nothing.
    const supported = version !== null && !isBefore(version, '2.1.100');
    if (own !== null && supported) return ['--agent', agent];
    const path = join(packageRoot(), 'agents', `${agent}.md`);
    if (own === null && !existsSync(path)) return [];
    const text = own ?? readFileSync(path, 'utf8');
    return ['--append-system-prompt', parseFrontMatter(text, `${agent}.md`).content.trim()];
  }

  async run(request: RunRequest, hooks: RunHooks): Promise<RunEnd> {
    const { workflow, stateDir, runtime, isolation, env } = this.#options;
    const { tool } = workflow();
    const command = claudeCommand(workflow());
    const tmp = runtime.make(`t${request.issue}-${request.attempt}`);
    const home = await createAgentHome({
      stateDir,
      issue: request.issue,
      attempt: request.attempt,
      run: request.run,
      tmp,
      env,
      passed: tool.env,
      carry: request.resume === null ? null : join('.claude', 'projects'),
    });
    const version = await this.#version(command);
    const login = runtimeLogin(env);
    // Without the events that say why it tries again, an early version would go on for minutes.
    const silent = version !== null && isBefore(version, '2.1.100') && login.CLAUDE_CODE_MAX_RETRIES === undefined;
    const [file, ...first] = command;
    const args = [
      ...first,
      '-p',
      '--output-format',
      'stream-json',
      '--input-format',
      'stream-json',
      '--verbose',
      '--permission-mode',
      tool.permissionMode,
      ...(tool.allowedTools.length === 0 ? [] : ['--allowedTools', tool.allowedTools.join(',')]),
      ...(await this.#agentArguments(request.cwd, version)),
      ...(request.budgetUsd === null ? [] : ['--max-budget-usd', String(request.budgetUsd)]),
      ...((await sessionExists(home.path, request.resume)) ? ['--resume', request.resume ?? ''] : []),
    ];
    const [program, programArgs] = isolation.wrap(file, args, [request.cwd, home.path, tmp]);
    const session = new ClaudeSession(hooks, this.#options.exitMs ?? EXIT_MS);
    let agent: AgentProcess | undefined;
    try {
      agent = await startAgent({
        file: program,
        args: programArgs,
        cwd: request.cwd,
        env: {
          ...home.env,
          ...login,
          DISABLE_AUTOUPDATER: '1',
          ...(silent ? { CLAUDE_CODE_MAX_RETRIES: '3' } : {}),
          ...request.env,
        },
        run: request.run,
        isIsolated: isolation.active,
        signal: hooks.signal,
        onLine: (line) => session.take(line),
        onErrorText: (text) => session.complain(text),
      });
      session.attach(agent);
      await hooks.onStarted(agent.pid);
      agent.write(userMessage(request.prompt));
      const exit = await agent.ended;
      return session.end(exit);
    } catch (error) {
      // Nobody waits for it any more: it must not go on beside the next attempt.
      agent?.terminate();
      await agent?.ended;
      return { ok: false, words: messageOf(error), fault: 'runtime', resumable: true };
    } finally {
      session.close();
      runtime.remove(tmp);
    }
  }
}

/** Whether a file of the clone is there, and no link of an agent's to what only this process can read. */
function _liesIn(path: string, directory: string): boolean {
  try {
    return realpathSync(path).startsWith(realpathSync(directory) + sep);
  } catch {
    return false;
  }
}

async function sessionExists(home: string, session: string | null): Promise<boolean> {
  if (session === null || !/^[\w-]+$/.test(session)) return false;
  const projects = join(home, '.claude', 'projects');
  if (!existsSync(projects)) return false;
  return (await readdir(projects)).some((project) => existsSync(join(projects, project, `${session}.jsonl`)));
}

type Writer = { write(text: string): void; endInput(): void; terminate(): void };

/** One conversation: turns the stream into events and answers each good turn with the next prompt or the end. */
class ClaudeSession {
  readonly #hooks: RunHooks;
  readonly #exitMs: number;
  readonly #stream = new ClaudeStream();
  #agent: Writer | undefined;
  #last: TurnResult | undefined;
  #unauthorized: string | undefined;
  #complaints = '';
  #timer: NodeJS.Timeout | undefined;
  #asking = false;

  constructor(hooks: RunHooks, exitMs: number) {
    this.#hooks = hooks;
    this.#exitMs = exitMs;
  }

  attach(agent: Writer): void {
    this.#agent = agent;
  }

  complain(text: string): void {
    this.#complaints = `${this.#complaints}${text}\n`.slice(-2000);
    this.#hooks.output(`${text}\n`);
  }

  take(line: string): void {
    for (const item of this.#stream.push(line)) {
      if (item.type === 'event') this.#hooks.onEvent(item.event);
      else if (item.type === 'text') this.#hooks.output(item.text);
      else if (item.type === 'result') this.#finishTurn(item.result);
      else {
        this.#unauthorized ??= item.words;
        this.#agent?.terminate();
      }
    }
  }

  #finishTurn(result: TurnResult): void {
    this.#last = result;
    if (!result.ok) this.#finishSession();
    // Turns that the host takes by itself, for work in the background, end on their own and ask for nothing.
    else if (!this.#asking && this.#timer === undefined) this.#askForMore().catch(() => this.#finishSession());
  }

  async #askForMore(): Promise<void> {
    this.#asking = true;
    try {
      const prompt = await this.#hooks.nextTurn();
      if (prompt === null) this.#finishSession();
      else this.#agent?.write(userMessage(prompt));
    } finally {
      this.#asking = false;
    }
  }

  #finishSession(): void {
    const agent = this.#agent;
    if (agent === undefined) return;
    agent.endInput();
    this.#timer ??= setTimeout(() => agent.terminate(), this.#exitMs);
  }

  close(): void {
    clearTimeout(this.#timer);
    // The answer to what was asked last may still come; there is nothing left for it to end.
    this.#agent = undefined;
  }

  end(exit: { readonly exitCode: number | null; readonly signal: NodeJS.Signals | null }): RunEnd {
    if (this.#unauthorized !== undefined) {
      return {
        ok: false,
        words: `the runtime's own credential does not do: ${this.#unauthorized}`,
        fault: 'runtime',
        resumable: true,
      };
    }
    if (this.#last !== undefined) return this.#last;
    const how =
      exit.exitCode === null ? `was ended by ${exit.signal ?? 'a signal'}` : `ended with exit code ${exit.exitCode}`;
    const said = this.#complaints.trim();
    const fault = exit.exitCode !== null && exit.exitCode !== 0 ? 'runtime' : 'agent';
    return {
      ok: false,
      words: `claude ${how} without a result${said === '' ? '' : `: ${said}`}`,
      fault,
      resumable: true,
    };
  }
}
