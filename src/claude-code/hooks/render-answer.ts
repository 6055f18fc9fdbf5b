// An answer to a host's event, in the host's words.

import type { HookAnswer } from '../../team/operations/host-event.ts';
import type { Reply } from './hook-reply.ts';
import type { HookEventName } from './parse-event.ts';

type Json = Readonly<Record<string, unknown>>;

/** `grant`: the call goes on as it is, without anybody being asked. */
export type Rendered = Exclude<HookAnswer, { readonly kind: 'caller' }> | { readonly kind: 'grant' };

/** What a hook prints; null: nothing. */
export function renderJson(answer: Rendered, event: HookEventName): Json | null {
  const own = (fields: Json): Json => ({ hookSpecificOutput: { hookEventName: event, ...fields } });
  switch (answer.kind) {
    case 'silent':
    case 'note':
    case 'wait':
      return null;
    case 'context':
      return {
        ...(answer.user === undefined ? {} : { systemMessage: answer.user }),
        ...own({ additionalContext: answer.text }),
      };
    case 'rewrite':
      return own({
        updatedInput: answer.input,
        ...(answer.grant ? { permissionDecision: 'allow' } : {}),
      });
    case 'grant':
      return own({ permissionDecision: 'allow' });
    case 'ask':
      return own({ permissionDecision: 'ask', permissionDecisionReason: answer.reason });
    case 'reject':
      return event === 'PreToolUse'
        ? own({ permissionDecision: 'deny', permissionDecisionReason: answer.reason })
        : { decision: 'block', reason: answer.reason };
  }
}

/**
 * Hosts put the hook's command before what an exit code 2 says, and nothing before what JSON says. The events of a teammate's
 * idleness and of a completed task are promised the exit code. Older hosts lose the reason in JSON when another hook hears the
 * same event.
 * @param heedsJson the host keeps that reason
 */
export function rejected(lines: readonly string[], raised: HookEventName, heedsJson: boolean): Reply {
  if (!heedsJson || raised === 'TeammateIdle' || raised === 'TaskCompleted')
    return { said: lines, printed: null, code: 2 };
  const json = renderJson({ kind: 'reject', reason: lines.join('\n') }, raised);
  return { said: [], printed: JSON.stringify(json), code: 0 };
}
