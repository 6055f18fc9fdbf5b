// Classification of prompts for a team: commands, approvals, change requests, and notices of ended runs.

import { isSpecId } from '../../team/rules/spec-documents/spec.ts';

/** Whether the prompt is a `/tool:` command. */
export function isTeamCommand(prompt: string): boolean {
  return /^\s*\/tool:/.test(prompt);
}

/** Id of the SPEC that a prompt approves; '' when it names none; null when it is no approval or holds other text. */
export function specApprovedBy(prompt: string): string | null {
  const [found, id = ''] = /^\s*(?:yes,?\s+)?approved?(?:\s+(\S+?))?[.!]?\s*$/i.exec(prompt) ?? [];
  return found === undefined || (id !== '' && !isSpecId(id)) ? null : id;
}

/** Whether a short prompt resembles an approval: its author may believe that it counts. Notices of a host never do. */
export function soundsLikeApproval(prompt: string): boolean {
  return (
    !/^\s*[<[]/.test(prompt) &&
    prompt.length <= 200 &&
    /\bapprov(?:e|ed|al|ing)\b/i.test(prompt) &&
    specApprovedBy(prompt) === null
  );
}

/** Changes that the user wants in the SPEC that awaits approval; null when the prompt has no leading `changes:`. */
export function changesOf(prompt: string): string | null {
  return /^\s*changes?:\s*(\S[\s\S]*?)\s*$/i.exec(prompt)?.[1] ?? null;
}

/**
 * Agents whose runs have ended, from a prompt of the host itself: a notice for each background run or, in auto mode, a
 * message in the agent's name. The quoted output of the agents is ignored.
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

/** Whether a prompt may concern a team; all others can be skipped. */
export function mayConcernTeam(prompt: string): boolean {
  const isWord = specApprovedBy(prompt) !== null || soundsLikeApproval(prompt) || changesOf(prompt) !== null;
  return isTeamCommand(prompt) || isWord || endedRunsOf(prompt).length > 0;
}
