// How work that goes on one at a time is taken up again: so, or as the team that was to do it.

import type { Decision } from './activation.ts';
import { CHOSEN_ALONE, FALLBACK_TRIGGERS, isOfPrerequisite } from './fallback.ts';
import { isStanding, type TeamState } from './state.ts';

/** Why there is no team. */
type Alone = { readonly trigger: string; readonly reason: string };

/** `why`: what keeps it from being a team; empty where it is one from here on. */
export type GoingOn = { readonly as: 'team' | 'alone'; readonly why: readonly string[]; readonly alone: Alone };

/** What would be decided on now; `isAsked`: by a flag, and not by thresholds, settings or the past. */
export type Wish = Pick<Decision, 'mode' | 'reasons'> & { readonly isAsked: boolean };

/** Why a work that stands goes on one at a time; null: it is a team's. */
export function aloneOf(state: TeamState): Alone | null {
  const { fallback, proposal, session } = state;
  if (session === 'fallback') return fallback ?? { trigger: CHOSEN_ALONE, reason: 'no reason known' };
  // Whoever took it up was gone before this was on record.
  if (!isStanding(state) || proposal?.alone === undefined) return null;
  return { trigger: proposal.alone, reason: proposal.reasons.join('; ') };
}

/** The same in words. */
export function aloneWords({ trigger, reason }: Alone): string {
  if (trigger === CHOSEN_ALONE) return `no team was wanted: ${reason}`;
  const known = Object.entries(FALLBACK_TRIGGERS).find(([name]) => name === trigger)?.[1] ?? trigger;
  // What was missing says it; what failed is told by how.
  return isOfPrerequisite(trigger) ? known : `${known}: ${reason}`;
}

/**
 * A flag that asks for a team has one. Without a flag one comes of it where what was missing is there now, which can be
 * told; whether what failed would fail again, or what nobody wanted is wanted now, is the user's to say.
 */
export function goingOn(state: TeamState, wish: Wish, maxTeammates: number): GoingOn | null {
  const alone = aloneOf(state);
  if (alone === null) return null;
  const no = (...why: readonly string[]): GoingOn => ({ as: 'alone', why, alone });
  if (wish.mode !== 'team') return no(...wish.reasons);
  if (!wish.isAsked && !isOfPrerequisite(alone.trigger))
    return no(`${aloneWords(alone)}; its command with --team makes a team of it`);
  const open = [...state.tasks.values()].filter(({ status }) => status !== 'completed');
  const roles = [...new Set(open.flatMap(({ owner }) => owner ?? []))];
  if (roles.length > maxTeammates)
    return no(
      `its open tasks are meant for ${roles.length} teammates (${roles.join(', ')}), and max_teammates is ${maxTeammates}`,
    );
  return { as: 'team', why: [], alone };
}
