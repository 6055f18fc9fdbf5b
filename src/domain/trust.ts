// Who may set work going: the decision, from facts that the tracker found.

import type { Actor } from './issue.ts';

export type TrustMode = 'write' | 'anyone';

/** What is known of one person: whether they may write to the repository. */
export type Standing = { readonly actor: Actor | null; readonly mayWrite: boolean };

export type TrustVerdict = { readonly trusted: true } | { readonly trusted: false; readonly reason: string };

/**
 * A bot counts by its type: it can act on a repository only where someone who administers it installed it, and the
 * service answers no permission question about it.
 */
export function countsAsWriter(actor: Actor): boolean {
  return actor.type === 'Bot';
}

function objection(role: string, standing: Standing): string | undefined {
  if (standing.actor === null) return `nobody is known who ${role}`;
  return standing.mayWrite ? undefined : `${standing.actor.login}, who ${role}, may not write to the repository`;
}

/** Decides whether an issue may be worked on: both its author and whoever put the active label on it must be able to write. */
export function judgeTrust(mode: TrustMode, label: string, author: Standing, labeller: Standing): TrustVerdict {
  if (mode === 'anyone') return { trusted: true };
  const reasons = [objection('wrote it', author), objection(`put ${label} on it`, labeller)].filter(
    (reason) => reason !== undefined,
  );
  return reasons.length === 0 ? { trusted: true } : { trusted: false, reason: reasons.join('; ') };
}
