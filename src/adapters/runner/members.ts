// Teammates as programs: a process for each turn, its prompt on standard input; it reaches the team through `tool mcp`.

import { splitCommand } from '../../domain/command-line.ts';
import { messageOf } from '../../domain/errors.ts';
import { isNetworkError } from '../../domain/network-error.ts';
import { clip, visibleLines } from '../../domain/text.ts';
import type { CommandLine } from '../../domain/workflow.ts';
import type { RunHooks } from '../../engine/ports.ts';
import type { MemberEnd, MemberRun, Members } from '../../engine/team/members-port.ts';
import { type AgentProcess, startAgent } from './agent-process.ts';
import { createMemberHome, type MemberHomeOptions } from './member-home.ts';

export type CommandMembersOptions = MemberHomeOptions & {
  readonly command: CommandLine;
  /** Variables that the program needs beside an agent's usual ones. */
  readonly more: Readonly<Record<string, string>>;
};

/** So many of its last lines are the program's last words. */
const WORDS_LINES = 12;

type TurnEnd = { readonly exitCode: number | null; readonly signal: NodeJS.Signals | null; readonly words: string };

export class CommandMembers implements Members {
  readonly #options: CommandMembersOptions;

  constructor(options: CommandMembersOptions) {
    this.#options = options;
  }

  async run(run: MemberRun, hooks: RunHooks): Promise<MemberEnd> {
    const { runtime, more } = this.#options;
    const { id, tmp, variables: own } = await createMemberHome(this.#options, run);
    try {
      const variables = { ...more, ...own };
      let words = '';
      for (let prompt: string | null = run.prompt; prompt !== null; prompt = await hooks.nextTurn()) {
        const end = await this.#turn(run, id, prompt, variables, hooks);
        if (hooks.signal.aborted) return { ok: true, words: end.words };
        words = end.words;
        if (end.exitCode !== 0) return failed(end);
      }
      return { ok: true, words };
    } catch (error) {
      return { ok: false, words: messageOf(error), fault: 'runtime', resumable: true };
    } finally {
      runtime.remove(tmp);
    }
  }

  async #turn(
    run: MemberRun,
    id: string,
    prompt: string,
    env: Readonly<Record<string, string>>,
    hooks: RunHooks,
  ): Promise<TurnEnd> {
    const [file, args] = splitCommand(this.#options.command);
    let lines: string[] = [];
    const hear = (line: string) => {
      if (line.trim() !== '') lines = [...lines.slice(1 - WORDS_LINES), clip(visibleLines(clip(line, 400)), 400)];
      hooks.output(`${line}\n`);
      hooks.onEvent({ type: 'message', text: clip(line, 4_000) });
    };
    let agent: AgentProcess | undefined;
    try {
      agent = await startAgent({
        file,
        args,
        cwd: run.cwd,
        env,
        run: id,
        isIsolated: false,
        signal: hooks.signal,
        onLine: hear,
        onErrorText: hear,
        onPart: () => hooks.onEvent({ type: 'activity', name: 'output' }),
      });
      await hooks.onStarted(agent.pid);
      agent.write(prompt);
      agent.endInput();
      const { exitCode, signal } = await agent.ended;
      return { exitCode, signal, words: lines.join('\n') };
    } catch (error) {
      // Nobody waits for it any more: it must not go on beside its successor.
      agent?.terminate();
      await agent?.ended;
      throw error;
    }
  }
}

/** What programs end with for a service that they do not reach, or only later: EX_UNAVAILABLE and EX_TEMPFAIL of sysexits.h. */
const UNAVAILABLE = [69, 75];

function failed({ exitCode, signal, words }: TurnEnd): MemberEnd {
  const how = exitCode === null ? `was ended by ${signal ?? 'a signal'}` : `ended with exit code ${exitCode}`;
  return {
    ok: false,
    words: words === '' ? `it ${how} and printed nothing` : `it ${how}: ${words}`,
    fault: exitCode === 126 || exitCode === 127 ? 'runtime' : 'agent',
    resumable: true,
    // What it printed before may be of its work.
    isNetwork: UNAVAILABLE.includes(exitCode ?? 0) || isNetworkError(words.split('\n').at(-1) ?? ''),
  };
}
