// The runner for any program: prompt on its standard input, what it prints are its life signs, exit code 0 is a good end.

import type { RuntimeDir } from '../base/processes/runtime-dir.ts';
import type { CommandLine } from '../base/rules/command-line.ts';
import { splitCommand } from '../base/rules/command-line.ts';
import type { Environment } from '../base/rules/environment.ts';
import { messageOf } from '../base/rules/errors.ts';
import type { Author } from '../git/rules/author.ts';
import { createAgentPlaces } from './agent-home.ts';
import { heldCommand } from './held-writes.ts';
import type { Isolation } from './isolation.ts';
import type { RunEnd, RunHooks, Runner, RunRequest } from './ports.ts';
import { runTurn, turnResult } from './program-turn.ts';
import type { AgentSettings } from './rules/runtime.ts';

export type CommandOptions = {
  readonly name: string;
  /** The program, and variables it needs beside an agent's usual ones. */
  readonly program: () => { readonly command: CommandLine; readonly env: Readonly<Record<string, string>> };
  readonly workflow: () => { readonly tool: AgentSettings };
  readonly stateDir: string;
  readonly runtime: RuntimeDir;
  readonly isolation: Isolation;
  readonly env: Environment;
  /** Of commits; undefined: the usual one. */
  readonly author?: Author | undefined;
};

export class CommandRunner implements Runner {
  readonly name: string;
  readonly #options: CommandOptions;

  constructor(options: CommandOptions) {
    this.name = options.name;
    this.#options = options;
  }

  async run(request: RunRequest, hooks: RunHooks): Promise<RunEnd> {
    const { runtime, isolation, env, program, workflow } = this.#options;
    const { tmp, home, stateDir, writable } = await createAgentPlaces(this.#options, request, {
      passed: workflow().tool.env,
      carry: null,
    });
    const { command, env: more } = program();
    const [file, args] = await heldCommand(isolation, env, request, stateDir, splitCommand(command), writable);
    try {
      const end = await runTurn(
        {
          file,
          args,
          cwd: request.cwd,
          env: { ...home.env, ...more, ...request.env },
          run: request.run,
          isIsolated: isolation.active,
        },
        request.role === undefined ? request.prompt : `${request.role.text}\n\n${request.prompt}`,
        hooks,
        request.role !== undefined,
      );
      hooks.onEvent({ type: 'usage', usage: { input_tokens: 0, output_tokens: 0, cost_usd: 0, turns: 1 } });
      return turnResult(end, isolation.active || typeof command === 'string', Date.now());
    } catch (error) {
      return { ok: false, words: messageOf(error), fault: 'runtime', resumable: true };
    } finally {
      runtime.remove(tmp);
    }
  }
}
