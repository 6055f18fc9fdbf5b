// One hook from its input to its exit code: 0 accepts, 2 rejects with a reason on standard error.

import { readFileSync } from 'node:fs';
import { composeHooks } from '../compose-team.ts';
import { messageOf } from '../domain/errors.ts';
import { asLine } from '../domain/text.ts';
import type { HookAnswer, HostEvent, HostEventName } from '../engine/team/event.ts';
import type { HookContext } from '../engine/team/hook-context.ts';
import { parseEvent } from './parse-event.ts';
import { renderJson } from './render.ts';

export type Hook = {
  readonly event: HostEventName;
  readonly answer: (context: HookContext, event: HostEvent) => Promise<HookAnswer>;
  /** Whether it has something to say where no team stands. */
  readonly withoutTeam?: boolean;
  /** A failure of its own stops what it was asked about: for what must not go through unseen. */
  readonly failsClosed?: (event: HostEvent) => boolean;
};

function say(words: string): void {
  process.stderr.write(`${words}\n`);
}

/** Runs a hook on standard input; sets the exit code. */
export function runHook(hook: Hook): void {
  // Whatever goes wrong is said and decided in there.
  void run(hook);
}

/** What came on standard input; nothing where that cannot be read, which is no event. */
function readInput(): string {
  try {
    return readFileSync(0, 'utf8');
  } catch {
    return '';
  }
}

/** Hosts name the project to their hooks, and to no shell of an agent: there, nobody but the agent itself speaks. */
function isStartedByAgent(env: Readonly<Record<string, string | undefined>>): boolean {
  return env.CLAUDECODE !== undefined && env.CLAUDE_PROJECT_DIR === undefined;
}

async function run(hook: Hook): Promise<void> {
  if (isStartedByAgent(process.env)) {
    say(`toolcrew: ${hook.event}: hooks are for the host to start, not for the shell of an agent: nothing was done`);
    return;
  }
  const parsed = parseEvent(readInput(), hook.event, process.cwd());
  if (!parsed.ok) {
    say(`toolcrew: ${hook.event}: ${asLine(parsed.problem)}`);
    return;
  }
  const { event } = parsed;
  try {
    const composed = composeHooks(event.cwd, process.env);
    if (hook.withoutTeam !== true && composed.context.teams.list().length === 0) return;
    const answer = await hook.answer(composed.context, event);
    const problems = composed.problems();
    for (const problem of problems) say(`toolcrew: ${asLine(problem)}`);
    // A configuration that cannot be read says why already.
    if (answer.kind === 'note' && problems.length === 0) say(`toolcrew: ${hook.event}: ${asLine(answer.text)}`);
    if (answer.kind === 'reject') {
      say(answer.reason);
      process.exitCode = 2;
      return;
    }
    const json = renderJson(answer, parsed.raised);
    if (json !== null) process.stdout.write(`${JSON.stringify(json)}\n`);
  } catch (error) {
    const closed = hook.failsClosed?.(event) === true;
    say(
      closed
        ? `toolcrew: ${hook.event} cannot tell whether this may happen, so it does not: ${asLine(messageOf(error))}. \`tool doctor\` says more`
        : `toolcrew: ${hook.event} failed and lets this go on: ${asLine(messageOf(error))}`,
    );
    if (closed) process.exitCode = 2;
  }
}
