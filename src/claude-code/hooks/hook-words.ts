// Lines that a hook's process says itself, with their codes. Loaded late: most hooks say nothing, and the tables are large.

import { type Code, refusal, type ValuesOf, withCode } from '../../base/rules/codes.ts';
import { messageOf } from '../../base/rules/errors.ts';
import { asLine } from '../../base/rules/text.ts';
import { teamsUnreadable } from '../../team/log/team-list.ts';
import { teamsDirectory } from '../../team/log/team-names.ts';
import type { HostEventName } from '../../team/operations/host-event.ts';
import { HOOK_CODES } from '../rules/hook-codes.ts';
import { invalidInput } from './invalid-input.ts';
import type { InvalidInput } from './parse-event.ts';

function wordsOf<C extends Code>(of: C, values: ValuesOf<C>): string {
  return `toolcrew: ${withCode(refusal(of, values))}`;
}

export function invalidWords(event: HostEventName, invalid: InvalidInput): string {
  return `toolcrew: ${event}: ${withCode(invalidInput(invalid))}`;
}

export function duplicateWords(): string {
  return wordsOf(HOOK_CODES.plugin_hooks_idle, {});
}

export function forgedWords(event: HostEventName): string {
  return wordsOf(HOOK_CODES.hook_not_from_host, { event });
}

/** Message of an error. The list of teams is read without the table of codes: its errors get theirs here. */
function saidOf(error: unknown): string {
  const path = error instanceof Error && 'path' in error ? String(error.path) : '';
  return asLine(messageOf(path.endsWith(teamsDirectory('/')) ? teamsUnreadable(path, error) : error));
}

export function undecidedWords(event: HostEventName, error: unknown): string {
  return wordsOf(HOOK_CODES.guard_cannot_decide, { event, said: saidOf(error).replace(/\.$/, '') });
}

export function failedWords(event: HostEventName, error: unknown): string {
  return wordsOf(HOOK_CODES.host_hook_failed, { event, said: saidOf(error) });
}
