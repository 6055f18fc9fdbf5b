// Trust decision on an issue, from the write permissions of its author and of the person who labelled it.

import type { Actor } from './issue.ts';

export type TrustMode = 'write' | 'anyone';

/** Write permission of one person to the repository; `actor` null: nobody is known. */
export type Standing = { readonly actor: Actor | null; readonly mayWrite: boolean };

export type TrustVerdict = { readonly trusted: true } | { readonly trusted: false; readonly reason: string };

/**
 * A bot counts as a writer by its type: only an administrator can install it on a repository, and the service answers
 * no permission question about it.
 */
export function countsAsWriter(actor: Actor): boolean {
  return actor.type === 'Bot';
}

function objection(role: string, standing: Standing): string | undefined {
  if (standing.actor === null) return `nobody is known who ${role}`;
  return standing.mayWrite ? undefined : `${standing.actor.login}, who ${role}, may not write to the repository`;
}

/** Decides whether an issue may be worked on. Mode `write`: its author and its labeller must both be able to write. */
export function judgeTrust(mode: TrustMode, label: string, author: Standing, labeller: Standing): TrustVerdict {
  if (mode === 'anyone') return { trusted: true };
  const reasons = [objection('wrote it', author), objection(`put ${label} on it`, labeller)].filter(
    (reason) => reason !== undefined,
  );
  return reasons.length === 0 ? { trusted: true } : { trusted: false, reason: reasons.join('; ') };
}
