// What a lead has measured before its team begins, whoever watches it.

import type { ComposedLead } from '../compose-lead.ts';
import { phaseOfTeam } from '../domain/team/team-name.ts';

/** Begins to measure what the tests reach before anything is built; nothing where work has been merged already. */
export async function coverageBefore({ context, lead }: ComposedLead, team: string, signal: AbortSignal) {
  const { base, head } = await lead.workshop.begin(team);
  const { hooks, quality } = await context.settings();
  if (phaseOfTeam(team) !== 'run' || base !== head || !hooks.taskCompleted.requireQualityCheck)
    return { coverage: Promise.resolve(null) };
  const { path } = await lead.workshop.view(team, 'base');
  const measured = lead.checksAt(path, team).run(quality, signal);
  return { coverage: measured.then(({ coverage }) => coverage).catch(() => null) };
}
