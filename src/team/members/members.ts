// Teammates as programs: a process for each turn, its prompt on standard input; it reaches the team through `tool mcp`.

import type { RunHooks } from '../../agents/ports.ts';
import { runTurn, type TurnEnd, turnResult } from '../../agents/program-turn.ts';
import type { CommandLine } from '../../base/rules/command-line.ts';
import { splitCommand } from '../../base/rules/command-line.ts';
import { messageOf } from '../../base/rules/errors.ts';
import { isNetworkError } from '../../base/rules/network-error.ts';
import { createMemberHome, type MemberHomeOptions } from './member-home.ts';
import type { MemberEnd, MemberRequest, Members } from './members-port.ts';

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

  async run(run: MemberRequest, hooks: RunHooks): Promise<MemberEnd> {
    const { runtime, more, command } = this.#options;
    const { tmp, program, end: endGuard } = await createMemberHome(this.#options, run);
    try {
      const agent = program(...splitCommand(command), more);
      let words = '';
      for (let prompt: string | null = run.prompt; prompt !== null; prompt = await hooks.nextTurn()) {
        const end = await runTurn(agent, prompt, hooks);
        if (hooks.signal.aborted) return { ok: true, words: end.words };
        const result = turnResult(end, true, Date.now());
        if (!result.ok) return { ...result, isNetwork: isNetwork(end) };
        words = result.words;
      }
      return { ok: true, words };
    } catch (error) {
      return { ok: false, words: messageOf(error), fault: 'runtime', resumable: true };
    } finally {
      endGuard();
      runtime.remove(tmp);
    }
  }
}

/** What programs end with for a service that they do not reach, or only later: EX_UNAVAILABLE and EX_TEMPFAIL of sysexits.h. */
const UNAVAILABLE = [69, 75];

/** Whether it ended since it did not reach its model. What it printed before its last words may be of its work. */
function isNetwork({ exitCode, words }: TurnEnd): boolean {
  return UNAVAILABLE.includes(exitCode ?? 0) || isNetworkError(words.split('\n').at(-1) ?? '');
}
