// Teammates played by Claude Code, headless: one process each, a turn for each prompt; hooks and team server come by its arguments.

import { join } from 'node:path';
import { type AgentText, agentArguments, readAgent, runtimeVariables } from '../../agents/claude.ts';
import { converse, STREAMING } from '../../agents/claude-session.ts';
import type { RunEnd, RunHooks } from '../../agents/ports.ts';
import { parseFrontMatter } from '../../base/config/front-matter.ts';
import { packageRoot } from '../../base/package-root.ts';
import { messageOf } from '../../base/rules/errors.ts';
import { isNetworkError } from '../../base/rules/network-error.ts';
import { createMemberHome, type MemberHomeOptions, memberVariables } from './member-home.ts';
import type { MemberEnd, MemberRequest, Members } from './members-port.ts';

export type ClaudeMembersOptions = MemberHomeOptions & {
  /** The program and its first arguments. */
  readonly command: readonly [string, ...string[]];
  /** Its version, `x.y.z`. */
  readonly version: string;
  readonly permissionMode: string;
  /** Tools that run without being asked for, beside those of the team's server. */
  readonly allowedTools: readonly string[];
  /** Settings with the hooks of a teammate, JSON. */
  readonly settings: string;
  /** How long a process may stay after its input was closed. */
  readonly exitMs?: number;
};

/** The server's name is part of its tools' names, which agents and hooks know. */
const SERVER = 'team';

/** With one of them in its list an agent can say what came of its task. */
const TEAM_TOOLS = [`mcp__${SERVER}__TaskUpdate`, `mcp__${SERVER}`, `mcp__${SERVER}__*`, '*'];

/** What changes files by itself. */
const WRITERS = ['Edit', 'Write', 'MultiEdit', 'NotebookEdit'];

/** The team server, bound to one run of a teammate; it is the only one that it has. */
function serverConfig(run: MemberRequest): string {
  const server = {
    command: process.execPath,
    args: [join(packageRoot(), 'dist', 'hooks', 'team-server.js')],
    env: memberVariables(run),
    alwaysLoad: true,
  };
  return JSON.stringify({ mcpServers: { [SERVER]: server } });
}

/** The tools in an agent's front matter, as a list or as text with commas; null: all there are. */
function toolsOf(agent: string, found: AgentText | null): readonly string[] | null {
  if (found === null) return null;
  const { data } = parseFrontMatter(found.text, `${agent}.md`);
  const tools = typeof data === 'object' && data !== null && 'tools' in data ? data.tools : undefined;
  if (typeof tools === 'string') return tools.split(',').map((tool) => tool.trim());
  return Array.isArray(tools) ? tools.map((tool) => String(tool)) : null;
}

/**
 * The agent as it can take part: a list of tools without the team's would keep the team from it where the host itself reads
 * the file, so its text is passed on. The built-in ones of the list are given by arguments either way.
 */
function reaching(agent: string, found: AgentText | null): AgentText | null {
  const tools = toolsOf(agent, found);
  const isReached = tools === null || tools.some((tool) => TEAM_TOOLS.includes(tool));
  return found === null || isReached ? found : { ...found, isOwn: false };
}

/** The built-in tools that it gets; of those that only read none writes files. */
function toolArguments(run: MemberRequest, found: AgentText | null): readonly string[] {
  const tools = toolsOf(run.agent, found);
  const mayUse = (tool: string) => !run.readOnly || !WRITERS.includes(tool);
  const offered = tools?.filter((tool) => !tool.startsWith('mcp__') && mayUse(tool));
  return [
    ...(offered === undefined ? [] : ['--tools', offered.join(',')]),
    ...(run.readOnly ? ['--disallowedTools', WRITERS.join(',')] : []),
  ];
}

/** The arguments of a teammate's process, after the program's own. */
export function memberArguments(
  run: MemberRequest,
  found: AgentText | null,
  {
    version,
    permissionMode,
    allowedTools,
    settings,
  }: Pick<ClaudeMembersOptions, 'version' | 'permissionMode' | 'allowedTools' | 'settings'>,
): readonly string[] {
  const allowed = allowedTools.filter((tool) => !run.readOnly || !WRITERS.includes(tool));
  return [
    ...STREAMING,
    '--permission-mode',
    permissionMode,
    '--allowedTools',
    [...allowed, `mcp__${SERVER}`].join(','),
    ...toolArguments(run, found),
    '--mcp-config',
    serverConfig(run),
    '--strict-mcp-config',
    '--settings',
    settings,
    ...agentArguments(run.agent, reaching(run.agent, found), version),
    ...(run.model === 'inherit' ? [] : ['--model', run.model]),
    ...(run.budgetUsd === null ? [] : ['--max-budget-usd', String(run.budgetUsd)]),
  ];
}

export class ClaudeMembers implements Members {
  readonly #options: ClaudeMembersOptions;

  constructor(options: ClaudeMembersOptions) {
    this.#options = options;
  }

  async run(run: MemberRequest, hooks: RunHooks): Promise<MemberEnd> {
    const end = await this.#run(run, hooks);
    return end.ok ? end : { ...end, isNetwork: end.fault === 'runtime' && isNetworkError(end.words) };
  }

  async #run(run: MemberRequest, hooks: RunHooks): Promise<RunEnd> {
    const { command, version, runtime, env, exitMs } = this.#options;
    const [file, ...first] = command;
    const { tmp, program, end: endGuard } = await createMemberHome(this.#options, run);
    try {
      const found = await readAgent(run.cwd, run.agent);
      return await converse(
        {
          ...program(file, [...first, ...memberArguments(run, found, this.#options)], runtimeVariables(env, version)),
          prompt: run.prompt,
          ...(exitMs === undefined ? {} : { exitMs }),
        },
        hooks,
      );
    } catch (error) {
      return { ok: false, words: messageOf(error), fault: 'runtime', resumable: true };
    } finally {
      endGuard();
      runtime.remove(tmp);
    }
  }
}
