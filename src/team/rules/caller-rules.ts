// The write guard's rules for one caller of a team: the part of its policy that the team's state and settings decide.

import type { Checkout } from '../../guard/rules/git-calls.ts';
import type { Ownership } from '../../guard/rules/ownership.ts';
import type { CallerRules } from '../../guard/rules/policy.ts';
import { PROTECTED_PATHS } from '../../guard/rules/policy.ts';
import type { Caller } from './caller.ts';
import { gitRowsFor } from './guard.ts';
import { LEAD } from './message.ts';
import type { TeamSettings } from './settings.ts';

const SPECS = '.tool/specs';

/** `alone`: the work goes on without a team, so the guard only records what is written. */
export type CallerSituation = {
  readonly checkout: Checkout;
  readonly alone: boolean;
  /** Whether the lead's own writes to SPECs must be visible, since a SPEC waits for the user's approval. */
  readonly approval: boolean;
  /** Calls of git that the caller is told to make. */
  readonly allowedGit: readonly string[];
};

function mayAll(name: string): readonly Ownership[] {
  return [{ owner: name, patterns: ['**'] }];
}

export function rulesOf(caller: Caller, settings: TeamSettings, place: CallerSituation): CallerRules {
  const { ownership, delegateMode } = settings;
  const git = gitRowsFor(caller, settings, place.checkout, place.allowedGit);
  const nothing = { member: null, ownership, claims: false, allow: [], keep: PROTECTED_PATHS, git };
  if (place.alone) return { ...nothing, member: LEAD, ownership: mayAll(LEAD), keep: [], git: [], writesHistory: true };
  if (caller.kind === 'member' && !caller.member.readOnly) {
    return { ...nothing, member: caller.name, claims: true, writesHistory: true };
  }
  if (caller.kind !== 'lead') return { ...nothing, writesHistory: caller.kind !== 'member' };
  const lead = delegateMode ? nothing : { ...nothing, member: LEAD, ownership: mayAll(LEAD) };
  return { ...lead, allow: place.approval ? [] : [SPECS], writesHistory: true };
}
