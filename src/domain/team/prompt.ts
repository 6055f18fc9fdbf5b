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

/** Whether a short prompt sounds like an approval and is none: its author may believe that it counts. Notices of a host are no prompts. */
export function soundsLikeApproval(prompt: string): boolean {
  return (
    !/^\s*[<[]/.test(prompt) &&
    prompt.length <= 200 &&
    /\bapprov(?:e|ed|al|ing)\b/i.test(prompt) &&
    approvalOf(prompt) === null
  );
}

/** What the user wants otherwise in the SPEC that waits for their word; null when the prompt is nothing like that. */
export function changesOf(prompt: string): string | null {
  return /^\s*changes?:\s*(\S[\s\S]*?)\s*$/i.exec(prompt)?.[1] ?? null;
}

/**
 * The agents whose runs are over, where a host says so in a prompt of its own: a notice for each run in the background, in its
 * auto mode a message in the agent's name. What the agents themselves have said stands in there too, and names nobody.
 */
export function endedRunsOf(prompt: string): readonly string[] {
  if (!/^\s*<(?:task-notification>|agent-message )/.test(prompt)) return [];
  const told = prompt
    .trimStart()
    .replaceAll(/<result>[\s\S]*?<\/result>/g, '')
    .replaceAll(/^(<agent-message [^>\n]*>)[\s\S]*?<\/agent-message>/gm, '$1');
  const named = /^<(?:task-notification>\s*<task-id>([\w-]+)<\/task-id>|agent-message from="([\w-]+)")/gm;
  return [...new Set([...told.matchAll(named)].map(([, notice, message]) => notice ?? message ?? ''))];
}

/** Whether there may be something to do about it; all others need not be looked at. */
export function mayConcernTeam(prompt: string): boolean {
  const isWord = approvalOf(prompt) !== null || soundsLikeApproval(prompt) || changesOf(prompt) !== null;
  return isCommand(prompt) || isWord || endedRunsOf(prompt).length > 0;
}
