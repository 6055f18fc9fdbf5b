// The runner that has a team work on an issue: a process of its own leads it, where agents run and with what they may do.

import { join } from 'node:path';
import { createAgentHome } from '../../agents/agent-home.ts';
import { type AgentProcess, startAgent } from '../../agents/agent-process.ts';
import { runtimeVariables } from '../../agents/claude.ts';
import type { Isolation } from '../../agents/isolation.ts';
import type { RunEnd, RunHooks, Runner, RunRequest } from '../../agents/ports.ts';
import { packageRoot } from '../../base/package-root.ts';
import type { RuntimeDir } from '../../base/processes/runtime-dir.ts';
import { messageIn, refusal } from '../../base/rules/codes.ts';
import type { Environment } from '../../base/rules/environment.ts';
import { messageOf } from '../../base/rules/errors.ts';
import { clip, lastLines, visibleLines } from '../../base/rules/text.ts';
import type { Author } from '../../git/rules/author.ts';
import { WORK_CODES } from '../rules/codes/work-codes.ts';
import type { Workflow } from '../rules/workflow.ts';
import { GO, readTeamLine, type TeamLine, type TeamOrder, type TeamWords } from './team-wire.ts';

export type TeamRunnerOptions = {
  readonly workflow: () => Workflow;
  readonly stateDir: string;
  readonly runtime: RuntimeDir;
  readonly isolation: Isolation;
  readonly env: Environment;
  /** Of commits; undefined: the usual one. */
  readonly author?: Author | undefined;
  /** Who works on what is none of a team's. */
  readonly alone: Runner;
};

/** What leads to the daemon is for the lead alone; teammates can see with what it was started. */
const SOCKET_VARIABLES = ['TOOL_SOCKET', 'TOOL_KEY'];

function withoutSocket(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !SOCKET_VARIABLES.includes(name)));
}

const MESSAGE_MAX = 4_000;
const COMPLAINTS_MAX = 8_000;
/** More lines of an attempt do not come into the daemon's log. */
const LOGGED_MAX = 10;
/** How often it is looked whether people wrote something. */
const WORDS_MS = 500;

export class TeamRunner implements Runner {
  readonly #options: TeamRunnerOptions;

  constructor(options: TeamRunnerOptions) {
    this.#options = options;
  }

  /** With `auto` it is decided when the issue has been looked at. */
  get name(): string {
    const { alone, workflow } = this.#options;
    return workflow().tool.mode === 'auto' ? `${alone.name}, or a team of it` : `a team of ${alone.name}`;
  }

  async run(request: RunRequest, hooks: RunHooks): Promise<RunEnd> {
    // One agent reviews, whatever made the work. Teammates cannot merge the base: one agent does.
    if (request.role !== undefined || request.round?.isMerge === true) return this.#options.alone.run(request, hooks);
    try {
      const end = await this.#lead(request, hooks);
      return end === 'alone' ? await this.#options.alone.run(request, hooks) : end;
    } catch (error) {
      return { ok: false, words: messageOf(error), fault: 'runtime', resumable: true };
    }
  }

  #order(request: RunRequest): TeamOrder {
    const { tool } = this.#options.workflow();
    const { runtime, command, stallTimeoutMs, turnTimeoutMs, startTimeoutMs } = tool;
    const { permissionMode, allowedTools, env } = tool;
    const { issue, life, round, issueText, prompt, budgetUsd } = request;
    return {
      mode: tool.mode,
      issue,
      life,
      text: issueText,
      round: { number: round?.number ?? 1, words: round?.words ?? null },
      instruction: prompt,
      budgetUsd,
      agentSocket: Object.fromEntries(Object.entries(request.env).filter(([name]) => SOCKET_VARIABLES.includes(name))),
      tool: {
        runtime,
        command: typeof command === 'string' || command === null ? command : [...command],
        stallTimeoutMs,
        turnTimeoutMs,
        startTimeoutMs,
        permissionMode,
        allowedTools: [...allowedTools],
        env: [...env],
      },
    };
  }

  async #lead(request: RunRequest, hooks: RunHooks): Promise<RunEnd | 'alone'> {
    const { stateDir, runtime, isolation, env, workflow, author } = this.#options;
    const { issue, attempt, run, cwd } = request;
    const { tool } = workflow();
    const tmp = runtime.make(`t${issue}-${attempt}`);
    try {
      const home = await createAgentHome({
        stateDir,
        issue,
        attempt,
        run,
        tmp,
        env,
        passed: tool.env,
        carry: null,
        author,
      });
      const program = [join(packageRoot(), 'dist', 'cli.js'), 'agent', 'team'];
      const [file, args] = isolation.wrap(process.execPath, program, [cwd, home.path, tmp]);
      // The teammates' login: the process hands it on to them.
      const login = tool.runtime === 'claude' ? runtimeVariables(env, null) : {};
      const conversation = new Conversation(hooks);
      const agent = await startAgent(
        {
          file,
          args,
          cwd,
          env: { ...home.env, ...login, ...withoutSocket(request.env) },
          run,
          isIsolated: isolation.active,
        },
        { onLine: (line) => conversation.hear(line), onErrorText: (text) => conversation.complain(text) },
        hooks.signal,
      );
      conversation.begin(agent);
      agent.write(`${JSON.stringify(this.#order(request))}\n`);
      const { exitCode, signal } = await agent.ended;
      return await conversation.end(exitCode, signal);
    } finally {
      runtime.remove(tmp);
    }
  }
}

/** Takes in what the leading process says, answers its one question, and passes on what people write meanwhile. */
class Conversation {
  readonly #hooks: RunHooks;
  #agent: AgentProcess | undefined;
  #isDecided = false;
  #isAlone = false;
  #end: RunEnd | undefined;
  #complaints = '';
  #logged = 0;
  #starting: Promise<void> = Promise.resolve();
  #words: NodeJS.Timeout | undefined;

  constructor(hooks: RunHooks) {
    this.#hooks = hooks;
  }

  begin(agent: AgentProcess): void {
    this.#agent = agent;
  }

  hear(line: string): void {
    const said = readTeamLine(line);
    if (said === null) this.complain(line);
    else this.#take(said);
  }

  complain(text: string): void {
    this.#complaints = `${this.#complaints}${text}\n`.slice(-COMPLAINTS_MAX);
    this.#hooks.output(`${text}\n`);
  }

  #take(said: TeamLine): void {
    const { output, onEvent } = this.#hooks;
    switch (said.type) {
      case 'decided':
        if (this.#isDecided) return;
        this.#isDecided = true;
        for (const reason of said.reasons) output(`[lead] ${reason}\n`);
        if (said.as === 'alone') this.#isAlone = true;
        else this.#start();
        return;
      case 'said':
        output(`[${said.who}] ${said.text}\n`);
        onEvent({ type: 'message', text: clip(`${said.who}: ${said.text}`, MESSAGE_MAX) });
        return;
      case 'log':
        output(`[lead] ${said.words}\n`);
        this.#logged += 1;
        if (this.#logged <= LOGGED_MAX)
          onEvent({ type: 'log', level: said.level, text: clip(visibleLines(said.words), MESSAGE_MAX) });
        return;
      case 'team':
        onEvent({ type: 'team', team: said.team });
        return;
      case 'usage':
        onEvent({ type: 'usage', usage: said.usage });
        return;
      case 'heard':
        this.#hooks.heardWords?.(said.keys);
        return;
      case 'sign':
        onEvent({ type: 'activity', name: 'team' });
        return;
      case 'done':
        this.#end = { ok: true, words: visibleLines(said.words), ...(said.isUnheard ? { isUnheard: true } : {}) };
        return;
      case 'failed':
        this.#end = {
          ...{ ok: false, words: visibleLines(said.words), fault: said.fault, resumable: true },
          ...(said.quotaAt === undefined ? {} : { quotaAt: said.quotaAt }),
        };
        return;
    }
  }

  /** It waits until it is written down that it runs. */
  #start(): void {
    const agent = this.#agent;
    if (agent === undefined) return;
    this.#starting = this.#hooks.onStarted(agent.pid).then(
      () => {
        agent.write(`${GO}\n`);
        this.#words = setInterval(() => this.#passWords(agent), WORDS_MS);
      },
      (error: unknown) => {
        this.#end = { ok: false, words: messageOf(error), fault: 'runtime', resumable: true };
        agent.terminate();
      },
    );
  }

  #passWords(agent: AgentProcess): void {
    const words = this.#hooks.takeWords?.() ?? null;
    if (words !== null) agent.write(`${JSON.stringify({ type: 'words', ...words } satisfies TeamWords)}\n`);
  }

  async end(exitCode: number | null, signal: NodeJS.Signals | null): Promise<RunEnd | 'alone'> {
    await this.#starting;
    clearInterval(this.#words);
    if (this.#isAlone) return 'alone';
    if (this.#end !== undefined && (!this.#end.ok || exitCode === 0)) return this.#end;
    const how = exitCode === null ? `was ended by ${signal ?? 'a signal'}` : `ended with exit code ${exitCode}`;
    const said = lastLines(visibleLines(this.#complaints));
    return {
      ok: false,
      words: messageIn(refusal(WORK_CODES.lead_ended, { how, ...(said === '' ? {} : { said }) })),
      fault: 'agent',
      resumable: true,
    };
  }
}
