// The beginnings of a lead's work, whoever watches it: a team is made, and what is there before it is measured.

import type { ComposedLead } from '../compose-lead.ts';
import { phaseOfTeam } from '../domain/team/team-name.ts';
import type { Decided } from '../engine/team/deciding.ts';
import { foundTeam } from '../engine/team/lead/founding.ts';

/** Makes the team that was decided on, or what takes its place. */
export function createTeam(
  { context, lead }: ComposedLead,
  decided: Extract<Decided, { kind: 'decided' }>,
): Promise<void> {
  const { phase, team } = decided.work;
  // What a lead that was killed at its very end left: it looks at what is there now.
  return foundTeam(context, decided, () => (phase === 'run' ? Promise.resolve() : lead.workshop.forget(team)));
}

/** Begins to measure what the tests reach before anything is built; nothing where work has been merged already. */
export async function coverageBefore({ context, lead }: ComposedLead, team: string, signal: AbortSignal) {
  const { base, head } = await lead.workshop.begin(team);
  const { hooks, quality } = await context.settings();
  if (phaseOfTeam(team) !== 'run' || base !== head || !hooks.taskCompleted.requireQualityCheck)
    return { coverage: Promise.resolve(null) };
  const { path } = await lead.workshop.view(team, 'base');
  const measured = lead.checksAt(path).run(quality, signal);
  return { coverage: measured.then(({ coverage }) => coverage).catch(() => null) };
}
