// The runner for any program: prompt on its standard input, what it prints are its life signs, exit code 0 is a good end.

import { splitCommand } from '../../domain/command-line.ts';
import { messageOf } from '../../domain/errors.ts';
import { clip, visibleLines } from '../../domain/text.ts';
import type { CommandLine, Workflow } from '../../domain/workflow.ts';
import type { RunEnd, RunHooks, Runner, RunRequest } from '../../engine/ports.ts';
import { createAgentHome } from '../agent-home.ts';
import type { Isolation } from '../isolation.ts';
import type { RuntimeDir } from '../runtime-dir.ts';
import { type AgentProcess, startAgent } from './agent-process.ts';

export type CommandOptions = {
  readonly name: string;
  /** The program, and variables it needs beside an agent's usual ones. */
  readonly program: () => { readonly command: CommandLine; readonly env: Readonly<Record<string, string>> };
  readonly workflow: () => Workflow;
  readonly stateDir: string;
  readonly runtime: RuntimeDir;
  readonly isolation: Isolation;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** So many of its last lines are the program's last words. */
const WORDS_LINES = 12;
const MESSAGE_MAX = 4_000;

/** Exit codes of a shell, and of what sets up isolation, for a program that is not there or cannot be run. */
const NOT_RUNNABLE = [126, 127];

export class CommandRunner implements Runner {
  readonly name: string;
  readonly #options: CommandOptions;

  constructor(options: CommandOptions) {
    this.name = options.name;
    this.#options = options;
  }

  async run(request: RunRequest, hooks: RunHooks): Promise<RunEnd> {
    const { stateDir, runtime, isolation, env, program, workflow } = this.#options;
    const tmp = runtime.make(`t${request.issue}-${request.attempt}`);
    const home = await createAgentHome({
      stateDir,
      issue: request.issue,
      attempt: request.attempt,
      run: request.run,
      tmp,
      env,
      passed: workflow().tool.env,
      carry: null,
    });
    const { command, env: more } = program();
    const [file, args] = isolation.wrap(...splitCommand(command), [request.cwd, home.path, tmp]);
    let lines: string[] = [];
    const hear = (line: string) => {
      if (line.trim() !== '') lines = [...lines.slice(1 - WORDS_LINES), clip(visibleLines(clip(line, 400)), 400)];
      hooks.output(`${line}\n`);
      hooks.onEvent({ type: 'message', text: clip(line, MESSAGE_MAX) });
    };
    let agent: AgentProcess | undefined;
    try {
      agent = await startAgent({
        file,
        args,
        cwd: request.cwd,
        env: { ...home.env, ...more, ...request.env },
        run: request.run,
        isIsolated: isolation.active,
        signal: hooks.signal,
        onLine: hear,
        onErrorText: hear,
        // A program may show its progress without ever ending the line.
        onPart: () => hooks.onEvent({ type: 'activity', name: 'output' }),
      });
      await hooks.onStarted(agent.pid);
      agent.write(request.prompt);
      agent.endInput();
      const { exitCode, signal } = await agent.ended;
      hooks.onEvent({ type: 'usage', usage: { input_tokens: 0, output_tokens: 0, cost_usd: 0, turns: 1 } });
      const words = lines.join('\n');
      if (exitCode === 0) return { ok: true, words };
      const how = exitCode === null ? `was ended by ${signal ?? 'a signal'}` : `ended with exit code ${exitCode}`;
      const fault =
        exitCode !== null && NOT_RUNNABLE.includes(exitCode) && (isolation.active || typeof command === 'string')
          ? 'runtime'
          : 'agent';
      return {
        ok: false,
        words: words === '' ? `it ${how} and printed nothing` : `it ${how}: ${words}`,
        fault,
        resumable: true,
      };
    } catch (error) {
      // Nobody waits for it any more: it must not go on beside the next attempt.
      agent?.terminate();
      await agent?.ended;
      return { ok: false, words: messageOf(error), fault: 'runtime', resumable: true };
    } finally {
      runtime.remove(tmp);
    }
  }
}
