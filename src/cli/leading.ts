// The beginnings of a lead's work, whoever watches it: a team is made, or taken up where an earlier lead left it.

import type { ComposedLead } from '../compose-lead.ts';
import { ToolError } from '../domain/errors.ts';
import { isStanding } from '../domain/team/state.ts';
import { phaseOfTeam } from '../domain/team/team-name.ts';
import { type Decided, propose } from '../engine/team/deciding.ts';
import { operate } from '../engine/team/operations.ts';
import { restartTeam } from '../engine/team/phases/restart.ts';

/** Makes the team that was decided on, and falls back at once where it is none. */
export async function createTeam(
  composed: ComposedLead,
  decided: Extract<Decided, { kind: 'decided' }>,
): Promise<void> {
  const { context } = composed;
  const { work, decision } = decided;
  const problem = await propose(context, decided);
  if (problem !== null) throw new ToolError('refused', problem);
  // What a lead that was killed at its very end left: it looks at what is there now.
  if (work.phase !== 'run') await composed.lead.workshop.forget(work.team);
  await operate(context, 'TeamCreate', { team_name: work.team }, { kind: 'environment', team: null, teammate: null });
  if (decision.mode === 'team') return;
  const log = context.teams.open(work.team);
  await log?.append({ type: 'fell_back', trigger: decision.trigger ?? 'solo', reason: decision.reasons.join('; ') });
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

/** Takes over a team that an earlier lead left; false when there is none. Refuses one that a host's session leads. */
export async function takeUp({ context }: ComposedLead, team: string): Promise<boolean> {
  const log = context.teams.list().includes(team) ? context.teams.open(team) : undefined;
  if (log === undefined || !isStanding(log.state)) return false;
  const { lead } = log.state;
  if (lead.session !== null)
    throw new ToolError(
      'refused',
      `team ${team} is led by a session of the host: \`/tool:team-restart ${team}\` goes on with it there, \`tool team delete ${team}\` ends it`,
    );
  const { preserveProgress } = (await context.settings()).fallback;
  await restartTeam(log, null, preserveProgress);
  return true;
}
