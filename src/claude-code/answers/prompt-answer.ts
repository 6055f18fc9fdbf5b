// The answers to a prompt of the user, in words for the model that reads them.

import type { HookAnswer } from '../../team/operations/host-event.ts';
import { type Reason, reasonWithCode } from './rejection.ts';

/** Text that the model gets with the prompt. */
export function answerPrompt(lines: readonly string[]): HookAnswer {
  return { kind: 'context', text: `toolcrew: ${lines.join('\n')}` };
}

/** A command that is not carried out, with the reasons for the user. */
export function refuseCommand(problems: readonly Reason[]): HookAnswer {
  return answerPrompt([
    'the command cannot be carried out. Tell the user exactly this, and do nothing else:',
    ...problems.map((one) => `- ${reasonWithCode(one)}`),
  ]);
}
