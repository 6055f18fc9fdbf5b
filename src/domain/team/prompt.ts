// What a prompt is to a team, at first sight.

import { isSpecId } from '../spec/spec.ts';

/** Whether it is typed like a command of ours. */
export function isCommand(prompt: string): boolean {
  return /^\s*\/tool:/.test(prompt);
}

/** The SPEC that a prompt approves; '' when it names none; null when it is no approval: nothing but the word itself is one. */
export function approvalOf(prompt: string): string | null {
  const [found, id = ''] = /^\s*(?:yes,?\s+)?approved?(?:\s+(\S+?))?[.!]?\s*$/i.exec(prompt) ?? [];
  return found === undefined || (id !== '' && !isSpecId(id)) ? null : id;
}

/** What the user wants otherwise in the SPEC that waits for their word; null when the prompt is nothing like that. */
export function changesOf(prompt: string): string | null {
  return /^\s*changes?:\s*(\S[\s\S]*?)\s*$/i.exec(prompt)?.[1] ?? null;
}

/**
 * The agent whose run in the background is over, where a host says so in a prompt of its own; null: it is none. What the agent
 * itself has said stands further down in it.
 */
export function endedRunOf(prompt: string): string | null {
  const [, agent = null] = /^\s*<task-notification>\s*<task-id>([\w-]+)<\/task-id>/.exec(prompt) ?? [];
  return agent;
}

/** Whether there may be something to do about it; all others need not be looked at. */
export function mayConcernTeam(prompt: string): boolean {
  return isCommand(prompt) || approvalOf(prompt) !== null || changesOf(prompt) !== null || endedRunOf(prompt) !== null;
}
