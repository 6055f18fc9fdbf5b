// Taking up what stands: who leads it from now on, and whether what went on one at a time is a team again.

import type { Refusal } from '../../base/rules/codes.ts';
import type { TeamLog } from '../ports.ts';
import { isOfPrerequisite } from '../rules/fallback.ts';
import type { TeamState } from '../rules/log/state.ts';
import { aloneOf, type ResumeMode, resumeMode } from '../rules/resume-mode.ts';
import { decideAgain, prerequisitesOf } from '../rules/select/activation.ts';
import type { Decided } from '../select/work-decision.ts';
import type { TeamContext } from './context.ts';
import type { HostFacts } from './context-parts.ts';
import { noteHolder } from './write-holder.ts';

/**
 * How what stands goes on; null: it is a team's.
 * @param decided what the command that takes it up comes to now; null: it is one that decides nothing
 */
export async function decideResumeMode(
  { project, problems, settings }: Pick<TeamContext, 'problems' | 'settings'> & { readonly project: HostFacts },
  state: TeamState,
  decided: Extract<Decided, { kind: 'decided' }> | null,
): Promise<ResumeMode | null> {
  const alone = aloneOf(state);
  if (alone === null) return null;
  const now = await settings();
  if (decided !== null) {
    const { decision, isAsked } = decided;
    return resumeMode(state, { mode: decision.mode, reasons: decision.reasons, isAsked }, now.maxTeammates);
  }
  const prerequisites = isOfPrerequisite(alone.trigger)
    ? prerequisitesOf(now, await project.hostVersion(), project.variable, problems()[0])
    : [];
  const again = decideAgain(prerequisites, state.proposal?.forced === true);
  return resumeMode(state, { ...again, isAsked: false }, now.maxTeammates);
}

type Taker = {
  readonly session: string | null;
  readonly keep: boolean;
  readonly isForced: boolean;
  readonly host: string | null;
  readonly wordsHash?: string | undefined;
};

/**
 * Whoever takes it up leads it from now on; gives why not.
 * @param session the host's; null: a terminal
 * @param host its process; null: not known
 * @param keep false: every task starts over
 * @param wordsHash of what people wrote so far; undefined: nothing new
 */
export async function recordTakeover(
  context: Pick<TeamContext, 'writesHeldBy'>,
  log: TeamLog,
  going: ResumeMode | null,
  by: Taker,
): Promise<Refusal | null> {
  const isFallen = log.state.session === 'fallback';
  const { refused } = await log.append({
    ...{ type: 'restarted', session: by.session, key_hash: null, keep: by.keep },
    ...(going?.as === 'team' ? {} : { alone: true }),
    ...(by.host === null ? {} : { host: by.host }),
    ...(by.isForced ? { forced: true } : {}),
    ...(by.wordsHash === undefined ? {} : { words_hash: by.wordsHash }),
  });
  if (refused === null) await noteHolder(log, context);
  // Whoever led before had not said it yet.
  if (refused !== null || going?.as !== 'alone' || isFallen) return refused;
  return (await log.append({ type: 'fell_back', ...going.alone })).refused;
}
