// What a lead has measured before its team begins, whoever watches it.

import type { ComposedLead } from '../compose-lead.ts';
import { failsBefore } from '../domain/quality.ts';
import { phaseOfTeam } from '../domain/team/team-name.ts';

/**
 * Begins to measure what the tests reach where the team's branch began, also of one whose work goes on, and says what
 * fails there.
 */
export async function coverageBefore(
  { context, lead }: ComposedLead,
  team: string,
  say: (words: string) => void,
  signal: AbortSignal,
) {
  const { base } = await lead.workshop.begin(team);
  const { hooks, quality } = await context.settings();
  if (phaseOfTeam(team) !== 'run' || !hooks.taskCompleted.requireQualityCheck)
    return { coverage: Promise.resolve(null) };
  const { path } = await lead.workshop.view(team, 'base', base);
  const measured = lead.checksAt(path, team).run(quality, signal);
  const told = measured.then((result) => {
    for (const line of failsBefore(result))
      say(`warning: this fails without the team's work, which is held against it: ${line}`);
    return result.coverage;
  });
  return { coverage: told.catch(() => null) };
}
