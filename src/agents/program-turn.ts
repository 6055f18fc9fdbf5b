// One turn of any program: the prompt on its standard input, what it prints are its life signs, exit code 0 is a good end.

import type { ProgramExit } from '../base/processes/program.ts';
import { messageIn, refusal, textOf } from '../base/rules/codes.ts';
import { clip, lastLines, oneLine, visibleLines } from '../base/rules/text.ts';
import { type AgentProgram, runAgent } from './agent-process.ts';
import type { RunEnd, RunHooks } from './ports.ts';
import { AGENT_CODES } from './rules/agent-codes.ts';
import { announced, QUOTA_EXIT, retryAfterOf } from './rules/quota.ts';

/** So many of its last lines are the program's last words. */
const WORDS_LINES = 12;
const WORDS_MAX = 400;
const MESSAGE_MAX = 4_000;
/** Of words that are data, so much of each line. */
const DATA_MAX = 200_000;

/** Exit codes of a shell, and of what sets up isolation, for a program that is not there or cannot be run. */
const NOT_RUNNABLE = [126, 127];

/** `retryAfter`: value of the last line `Retry-After: …` on its standard error; null: it wrote none. */
export type TurnEnd = ProgramExit & { readonly words: string; readonly retryAfter: string | null };

/** A header of a longer value is none. */
const RETRY_AFTER_MAX = 100;

/**
 * Runs the program once. Rejects when it cannot be started.
 * @param isData whether its words are read as data: lines stay as they are
 */
export async function runTurn(
  program: AgentProgram,
  prompt: string,
  hooks: RunHooks,
  isData = false,
): Promise<TurnEnd> {
  let lines: string[] = [];
  let retryAfter: string | null = null;
  const hear = (line: string) => {
    const shown = isData ? clip(line, DATA_MAX) : clip(visibleLines(clip(line, WORDS_MAX)), WORDS_MAX);
    if (line.trim() !== '') lines = [...lines.slice(1 - WORDS_LINES), shown];
    hooks.output(`${line}\n`);
    hooks.onEvent({ type: 'message', text: clip(line, isData ? DATA_MAX : MESSAGE_MAX) });
  };
  // A program may show its progress without ever ending the line.
  const onPart = () => hooks.onEvent({ type: 'activity', name: 'output' });
  const onErrorText = (line: string) => {
    retryAfter = retryAfterOf(line) ?? retryAfter;
    hear(line);
  };
  const exit = await runAgent(program, { onLine: hear, onErrorText, onPart }, hooks, (agent) => {
    agent.write(prompt);
    agent.endInput();
  });
  return { ...exit, words: lines.join('\n'), retryAfter };
}

/**
 * What a turn's end is for whoever asked for it.
 * @param now ms since the epoch
 * @param isStarter whether those exit codes that tell of a program that cannot be run are a shell's, and not its own
 */
export function turnResult(
  { exitCode, signal, words: all, retryAfter }: TurnEnd,
  isStarter: boolean,
  now: number,
): RunEnd {
  if (exitCode === 0) return { ok: true, words: all };
  const words = lastLines(all, WORDS_LINES, WORDS_MAX);
  const how = exitCode === null ? `was ended by ${signal ?? 'a signal'}` : `ended with exit code ${exitCode}`;
  const failed = textOf(
    refusal(AGENT_CODES.turn_failed, words === '' ? { how: `${how} and printed nothing` } : { how, said: words }),
  );
  if (exitCode === QUOTA_EXIT && retryAfter !== null) {
    const { at, problem } = announced(oneLine(retryAfter, RETRY_AFTER_MAX), now);
    const told = problem === null ? failed : `${failed}. ${messageIn(problem)}`;
    const bad = { ok: false, words: told, fault: 'runtime', resumable: true } as const;
    return at === null ? bad : { ...bad, quotaAt: at };
  }
  return {
    ok: false,
    words: failed,
    fault: isStarter && exitCode !== null && NOT_RUNNABLE.includes(exitCode) ? 'runtime' : 'agent',
    resumable: true,
  };
}
