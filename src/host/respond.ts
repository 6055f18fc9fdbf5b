// What is done with the answer to an event: printed, said on standard error, told by the exit code.

import { composeHooks } from '../compose-team.ts';
import { asLine } from '../domain/text.ts';
import type { HookAnswer, HostEvent } from '../engine/team/event.ts';
import type { HookContext } from '../engine/team/hook-context.ts';
import type { Raised } from './parse-event.ts';
import { renderJson } from './render.ts';

/** Answers one event; throws where it cannot. */
export type Respond = (raised: Raised, say: (words: string) => void) => Promise<void>;

export function responding(answerTo: (context: HookContext, event: HostEvent) => Promise<HookAnswer>): Respond {
  return async ({ event, raised }, say) => {
    const composed = composeHooks(event.cwd, process.env);
    const answer = await answerTo(composed.context, event);
    const problems = composed.problems();
    for (const problem of problems) say(`toolcrew: ${asLine(problem)}`);
    // A configuration that cannot be read says why already.
    if (answer.kind === 'note' && problems.length === 0) say(`toolcrew: ${event.name}: ${asLine(answer.text)}`);
    if (answer.kind === 'reject') {
      say(answer.reason);
      process.exitCode = 2;
      return;
    }
    const json = renderJson(answer, raised);
    if (json !== null) process.stdout.write(`${JSON.stringify(json)}\n`);
  };
}
