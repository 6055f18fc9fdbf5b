// One conversation with Claude Code, headless: a process, a turn for each prompt, its event stream read as it comes.

import { refusal, textOf } from '../base/rules/codes.ts';
import { messageOf } from '../base/rules/errors.ts';
import { type AgentProgram, runAgent } from './agent-process.ts';
import { ClaudeStream, type TurnResult } from './claude-stream.ts';
import type { RunEnd, RunHooks } from './ports.ts';
import { AGENT_CODES } from './rules/agent-codes.ts';

export type Conversation = AgentProgram & {
  readonly prompt: string;
  /** How long the process may stay after its input was closed. */
  readonly exitMs?: number;
};

/** What makes the program read prompts as lines, and print its events as lines. */
export const STREAMING = [
  '-p',
  '--output-format',
  'stream-json',
  '--input-format',
  'stream-json',
  '--verbose',
] as const;

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
  /** Whether the model has answered. */
  #hasWorked = false;
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
      if (item.type === 'event') {
        if (item.event.type === 'usage' && item.event.usage.output_tokens > 0) this.#hasWorked = true;
        this.#hooks.onEvent(item.event);
      } else if (item.type === 'text') this.#hooks.output(item.text);
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
        words: textOf(refusal(AGENT_CODES.runtime_unauthorized, { said: this.#unauthorized })),
        fault: 'runtime',
        resumable: true,
      };
    }
    if (this.#last !== undefined) return this.#last;
    const how =
      exit.exitCode === null ? `was ended by ${exit.signal ?? 'a signal'}` : `ended with exit code ${exit.exitCode}`;
    const said = this.#complaints.trim();
    const couldNotStart = !this.#hasWorked && exit.exitCode !== null && exit.exitCode !== 0;
    const fault = couldNotStart ? 'runtime' : 'agent';
    return {
      ok: false,
      words: textOf(
        refusal(AGENT_CODES.agent_ended_early, { program: 'claude', how, ...(said === '' ? {} : { said }) }),
      ),
      fault,
      resumable: true,
    };
  }
}

/** Starts the program, and talks with it until no prompt is left. */
export async function converse(conversation: Conversation, hooks: RunHooks): Promise<RunEnd> {
  const { prompt, exitMs = EXIT_MS, ...program } = conversation;
  const session = new ClaudeSession(hooks, exitMs);
  const listener = {
    onLine: (line: string) => session.take(line),
    onErrorText: (text: string) => session.complain(text),
    onAgent: (agent: Writer) => session.attach(agent),
  };
  try {
    return session.end(await runAgent(program, listener, hooks, (agent) => agent.write(userMessage(prompt))));
  } catch (error) {
    return { ok: false, words: messageOf(error), fault: 'runtime', resumable: true };
  } finally {
    session.close();
  }
}
