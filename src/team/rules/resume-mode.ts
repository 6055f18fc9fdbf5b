// Decision on resumed work that has no team: one agent at a time again, or a team from here on.

import { CHOSEN_SOLO, isOfPrerequisite, triggerWords } from './fallback.ts';
import { isActive, type TeamState } from './log/state.ts';
import type { ModeDecision } from './select/activation.ts';

/** Reason why there is no team. */
type Alone = { readonly trigger: string; readonly reason: string };

/** `why`: reasons against a team; empty with `as: 'team'`. */
export type ResumeMode = { readonly as: 'team' | 'alone'; readonly why: readonly string[]; readonly alone: Alone };

/** Mode that activation would choose now. `isAsked`: a flag asks for it, not thresholds, settings or earlier work. */
export type WantedMode = Pick<ModeDecision, 'mode' | 'reasons'> & { readonly isAsked: boolean };

/** Reason why active work runs one agent at a time; null when a team does it. */
export function aloneOf(state: TeamState): Alone | null {
  const { fallback, proposal, session } = state;
  if (session === 'fallback') return fallback ?? { trigger: CHOSEN_SOLO, reason: 'no reason known' };
  // The process that began the work may have exited before it recorded the fallback.
  if (!isActive(state) || proposal?.alone === undefined) return null;
  return { trigger: proposal.alone, reason: proposal.reasons.join('; ') };
}

/** Reason as text. */
export function aloneWords({ trigger, reason }: Alone): string {
  if (trigger === CHOSEN_SOLO) return `no team was wanted: ${reason}`;
  const known = triggerWords(trigger);
  // A missing prerequisite explains itself; a failure needs its reason.
  return isOfPrerequisite(trigger) ? known : `${known}: ${reason}`;
}

/**
 * Null when a team does the work already. A flag that asks for a team starts one. Without a flag, a team starts only
 * when a missing prerequisite is met now. After a failure, or when no team was wanted, the user has to ask for one.
 */
export function resumeMode(state: TeamState, wish: WantedMode, maxTeammates: number): ResumeMode | null {
  const alone = aloneOf(state);
  if (alone === null) return null;
  const no = (...why: readonly string[]): ResumeMode => ({ as: 'alone', why, alone });
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
