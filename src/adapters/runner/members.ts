// Teammates as programs: a process for each turn, its prompt on standard input; it reaches the team through `tool mcp`.

import { splitCommand } from '../../domain/command-line.ts';
import { messageOf } from '../../domain/errors.ts';
import type { CommandLine } from '../../domain/workflow.ts';
import type { RunEnd, RunHooks } from '../../engine/ports.ts';
import type { MemberRun, Members } from '../../engine/team/members-port.ts';
import { createMemberHome, type MemberHomeOptions } from './member-home.ts';
import { runTurn, turnResult } from './program-turn.ts';

export type CommandMembersOptions = MemberHomeOptions & {
  readonly command: CommandLine;
  /** Variables that the program needs beside an agent's usual ones. */
  readonly more: Readonly<Record<string, string>>;
};

export class CommandMembers implements Members {
  readonly #options: CommandMembersOptions;

  constructor(options: CommandMembersOptions) {
    this.#options = options;
  }

  async run(run: MemberRun, hooks: RunHooks): Promise<RunEnd> {
    const { runtime, more, command } = this.#options;
    const { tmp, program } = await createMemberHome(this.#options, run);
    try {
      const agent = program(...splitCommand(command), more);
      let words = '';
      for (let prompt: string | null = run.prompt; prompt !== null; prompt = await hooks.nextTurn()) {
        const end = await runTurn(agent, prompt, hooks);
        if (hooks.signal.aborted) return { ok: true, words: end.words };
        const result = turnResult(end, true);
        if (!result.ok) return result;
        words = result.words;
      }
      return { ok: true, words };
    } catch (error) {
      return { ok: false, words: messageOf(error), fault: 'runtime', resumable: true };
    } finally {
      runtime.remove(tmp);
    }
  }
}
