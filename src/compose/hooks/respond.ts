// The answer to an event, composed: what the host is told, whichever process works it out.

import { lineWithCode, type Refusal } from '../../base/rules/codes.ts';
import { asLine } from '../../base/rules/text.ts';
import type { Reply, Respond } from '../../claude-code/hooks/hook-reply.ts';
import type { ParsedEvent } from '../../claude-code/hooks/parse-event.ts';
import { type Rendered, rejected, renderJson } from '../../claude-code/hooks/render-answer.ts';
import { goesOnWithContext } from '../../claude-code/host-version.ts';
import { withCallerSignature } from '../../claude-code/older/caller-signature.ts';
import { projectState } from '../../git/project-state.ts';
import type { HookAnswer, HostEvent } from '../../team/operations/host-event.ts';
import type { HookContext } from '../hook-context.ts';
import { composeHooks } from '../team.ts';

export function createRespond(answerTo: (context: HookContext, event: HostEvent) => Promise<HookAnswer>): Respond {
  return async (raised, env, teams) => {
    const said: string[] = [];
    const { event } = raised;
    const { context, project, problems } = composeHooks(event.cwd, env, (words) => said.push(words), teams);
    const answer = await answerTo(context, event);
    const carried =
      answer.kind === 'caller'
        ? withCallerSignature(event.input, answer.caller, projectState(project.main, env))
        : answer;
    return replyTo(raised, advised(raised, carried), said, problems());
  };
}

/** The lead goes on with a text as it does with a rejection, which newer hosts show to people as an error. */
function advised({ raised, event }: ParsedEvent, answer: Rendered): Rendered {
  const isAdvice = answer.kind === 'reject' && raised === 'Stop' && goesOnWithContext(event.transcript);
  return isAdvice ? { kind: 'context', text: answer.reason } : answer;
}

function replyTo(
  { event, raised }: ParsedEvent,
  answer: Rendered,
  noted: readonly string[],
  problems: readonly Refusal[],
): Reply {
  const said = [...noted, ...problems.map((problem) => `toolcrew: ${lineWithCode(problem)}`)];
  // A configuration that cannot be read says why already.
  if (answer.kind === 'note' && problems.length === 0) said.push(`toolcrew: ${event.name}: ${asLine(answer.text)}`);
  if (answer.kind === 'wait') return { said: [], printed: null, code: 0, wait: true };
  if (answer.kind === 'reject') return rejected([...said, answer.reason], raised, goesOnWithContext(event.transcript));
  const json = renderJson(answer, raised);
  return { said, printed: json === null ? null : JSON.stringify(json), code: 0 };
}
