// Refusals in answers to hooks: with their code for agents and the user, without it for the team's log.

import { type Refusal, textOf, withCode } from '../../base/rules/codes.ts';
import { messageOf, ToolError } from '../../base/rules/errors.ts';
import type { HookAnswer } from '../../team/operations/host-event.ts';

/** A refusal, or the text of one whose code is not known here. */
export type Reason = Refusal | string;

export function reasonWithoutCode(reason: Reason): string {
  return typeof reason === 'string' ? reason : textOf(reason);
}

export function reasonWithCode(reason: Reason): string {
  return typeof reason === 'string' ? reason : withCode(reason);
}

export function reasonOfError(error: unknown): Reason {
  return error instanceof ToolError ? error.refusal : messageOf(error);
}

export function reject(reason: Reason): Extract<HookAnswer, { readonly kind: 'reject' }> {
  return { kind: 'reject', reason: `toolcrew: ${reasonWithCode(reason)}` };
}
