// An answer to a host's event, in the host's words.

import type { HookAnswer } from '../engine/team/event.ts';
import type { RaisedName } from './parse-event.ts';

type Json = Readonly<Record<string, unknown>>;

/** What a hook prints; null: nothing. A rejection is only printed where there is no exit code to tell it by. */
export function renderJson(answer: HookAnswer, event: RaisedName): Json | null {
  const own = (fields: Json): Json => ({ hookSpecificOutput: { hookEventName: event, ...fields } });
  switch (answer.kind) {
    case 'silent':
    case 'note':
    case 'wait':
      return null;
    case 'context':
      return own({ additionalContext: answer.text });
    case 'rewrite':
      return own({
        updatedInput: answer.input,
        ...(answer.grant ? { permissionDecision: 'allow' } : {}),
      });
    case 'ask':
      return own({ permissionDecision: 'ask', permissionDecisionReason: answer.reason });
    case 'reject':
      return event === 'PreToolUse'
        ? own({ permissionDecision: 'deny', permissionDecisionReason: answer.reason })
        : { decision: 'block', reason: answer.reason };
  }
}
