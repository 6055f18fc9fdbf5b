// Events that a host reports through its hooks, and the answers to them.

import type { HookCaller } from '../rules/caller.ts';

export type HostEventName =
  | 'SessionStart'
  | 'UserPromptSubmit'
  | 'PreToolUse'
  | 'PostToolUse'
  | 'SubagentStart'
  | 'SubagentStop'
  | 'Stop'
  | 'TeammateIdle'
  | 'TaskCompleted';

export type HostEvent = {
  readonly name: HostEventName;
  readonly session: string;
  readonly cwd: string;
  readonly agentId: string | null;
  readonly agentType: string | null;
  readonly tool: string;
  readonly toolUseId: string | null;
  readonly input: Readonly<Record<string, unknown>>;
  /** Of a tool's call that failed: its error; null when it did not. */
  readonly failure: string | null;
  /** UserPromptSubmit: as it was typed. */
  readonly prompt: string;
  /** SessionStart: startup, resume, clear or compact. */
  readonly source: string;
  /** Of the main agent's conversation. */
  readonly transcript: string | null;
  /** TeammateIdle and TaskCompleted. */
  readonly teammate: string | null;
  readonly team: string | null;
  readonly task: { readonly id: string; readonly subject: string } | null;
};

/** Set by a hook's process that asks again when it is answered with `wait`. */
export const MAY_WAIT = 'TOOL_HOOK_MAY_WAIT';

export type HookAnswer =
  | { readonly kind: 'silent' }
  /** It goes on, and whoever reads along is told why nothing was done about it. */
  | { readonly kind: 'note'; readonly text: string }
  /** Text that the agent gets to see; `user`: what stands on the user's screen too. */
  | { readonly kind: 'context'; readonly text: string; readonly user?: string }
  /** The call goes on with another input; `grant`: without anybody being asked. */
  | { readonly kind: 'rewrite'; readonly input: Readonly<Record<string, unknown>>; readonly grant: boolean }
  /** It does not happen, and the agent is told why and what to do instead. */
  | { readonly kind: 'reject'; readonly reason: string }
  /** It is a call of the team's server; null: the event does not tell who makes it. */
  | { readonly kind: 'caller'; readonly caller: HookCaller | null }
  /** A person decides. */
  | { readonly kind: 'ask'; readonly reason: string }
  /** Nothing is decided yet: whoever asks may wait, and asks again. */
  | { readonly kind: 'wait' };

export const SILENT = { kind: 'silent' } as const satisfies HookAnswer;
export const WAIT: HookAnswer = { kind: 'wait' };

/** Texts for the agent, one a line; silent when all are null. */
export function contextOf(texts: readonly (string | null)[]): HookAnswer {
  const text = texts.filter((one) => one !== null).join('\n');
  return text === '' ? SILENT : { kind: 'context', text };
}

/** Who the event says it is about. */
export function hookCallerOf(event: HostEvent): HookCaller {
  return { session: event.session, agentId: event.agentId, agentType: event.agentType, toolUseId: event.toolUseId };
}
