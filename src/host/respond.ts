// The answer to an event, composed: what the host is told, whichever process works it out.

import { composeHooks } from '../compose-team.ts';
import { asLine, problemsInLine } from '../domain/text.ts';
import type { Teams } from '../engine/ports.ts';
import type { HookAnswer, HostEvent } from '../engine/team/event.ts';
import type { HookContext } from '../engine/team/hook-context.ts';
import type { Raised } from './parse-event.ts';
import { renderJson } from './render.ts';
import type { Reply } from './reply.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Answers one event; throws where it cannot.
 * @param teams undefined: opened for this event alone
 */
export type Respond = (raised: Raised, env: Environment, teams?: Teams) => Promise<Reply>;

export function responding(answerTo: (context: HookContext, event: HostEvent) => Promise<HookAnswer>): Respond {
  return async (raised, env, teams) => {
    const said: string[] = [];
    const { context, problems } = composeHooks(raised.event.cwd, env, (words) => said.push(words), teams);
    return replyTo(raised, await answerTo(context, raised.event), said, problems());
  };
}

function replyTo(
  { event, raised }: Raised,
  answer: HookAnswer,
  noted: readonly string[],
  problems: readonly string[],
): Reply {
  const said = [...noted, ...problems.map((problem) => `toolcrew: ${problemsInLine(problem)}`)];
  // A configuration that cannot be read says why already.
  if (answer.kind === 'note' && problems.length === 0) said.push(`toolcrew: ${event.name}: ${asLine(answer.text)}`);
  if (answer.kind === 'wait') return { said: [], printed: null, code: 0, wait: true };
  if (answer.kind === 'reject') return { said: [...said, answer.reason], printed: null, code: 2 };
  const json = renderJson(answer, raised);
  return { said, printed: json === null ? null : JSON.stringify(json), code: 0 };
}
