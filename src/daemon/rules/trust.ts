// Trust decision on an issue, from the write permissions of its author and of the person who labelled it.

import { type Refusal, refusal } from '../../base/rules/codes.ts';
import { WORK_CODES } from './codes/work-codes.ts';
import type { Actor } from './issue.ts';

export type TrustMode = 'write' | 'anyone';

/** Write permission of one person to the repository; `actor` null: nobody is known. */
export type WritePermission = { readonly actor: Actor | null; readonly mayWrite: boolean };

export type TrustVerdict = { readonly trusted: true } | { readonly trusted: false; readonly why: readonly Refusal[] };

/**
 * A bot counts as a writer by its type: only an administrator can install it on a repository, and the service answers
 * no permission question about it.
 */
export function countsAsWriter(actor: Actor): boolean {
  return actor.type === 'Bot';
}

function objection(role: string, { actor, mayWrite }: WritePermission): Refusal | undefined {
  if (actor === null) return refusal(WORK_CODES.issue_person_unknown, { role });
  return mayWrite ? undefined : refusal(WORK_CODES.issue_untrusted, { person: actor.login, role });
}

/** Decides whether an issue may be worked on. Mode `write`: its author and its labeller must both be able to write. */
export function judgeTrust(
  mode: TrustMode,
  label: string,
  author: WritePermission,
  labeller: WritePermission,
): TrustVerdict {
  if (mode === 'anyone') return { trusted: true };
  const why = [objection('wrote it', author), objection(`put ${label} on it`, labeller)].filter(
    (one) => one !== undefined,
  );
  return why.length === 0 ? { trusted: true } : { trusted: false, why };
}
