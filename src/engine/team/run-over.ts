// A teammate whose run is over without its own hook having been asked, as when its model cannot be reached for good: the host
// tells the lead's session of it, and what the teammate had begun is anybody's again.

import { nextStep, spawnParameters, waitingRoles } from '../../domain/team/brief.ts';
import type { Member, TeamState } from '../../domain/team/state.ts';
import type { TeamLog } from '../ports.ts';
import { withReadable } from './context.ts';
import { type HookAnswer, SILENT } from './event.ts';
import type { HookContext } from './hook-context.ts';

/** The calls that start again those who are needed, one a line. */
export function startAgain(state: TeamState): readonly string[] {
  const again = waitingRoles(state).map(
    (role) =>
      `- Task ${JSON.stringify(spawnParameters(state.team, role, `Do the open tasks that are meant for ${role}.`))}`,
  );
  return again.length === 0
    ? [nextStep(state)]
    : ['Register who is missing with Task, and make the calls that it answers with:', ...again];
}

/** Writes down that the runs of these members are over; gives their names. */
export async function releaseMembers(log: TeamLog, members: readonly Member[]): Promise<readonly string[]> {
  const released: string[] = [];
  for (const { name, epoch, phase } of members) {
    // Whose own hook was asked has stopped already.
    if (phase === 'stopped' || phase === 'over') continue;
    await log.append({ type: 'member_idle', name, epoch, stopped: true });
    released.push(name);
  }
  return released;
}

/** @param agents that the host names */
export async function onRunsOver(context: HookContext, agents: readonly string[]): Promise<HookAnswer> {
  return withReadable(context.teams, async (logs) => {
    const lines: string[] = [];
    for (const log of logs) {
      const members = agents.flatMap((agent) => {
        const run = log.state.bindings.get(agent);
        const member = log.state.members.get(run?.name ?? '');
        // Another agent may be in its place.
        return run === undefined || member === undefined || member.epoch !== run.epoch ? [] : [member];
      });
      const released = await releaseMembers(log, [...new Set(members)]);
      if (released.length > 0) lines.push(...overWords(released), ...startAgain(log.state));
    }
    return lines.length === 0 ? SILENT : { kind: 'context', text: lines.join('\n') };
  });
}

function overWords(names: readonly string[]): readonly string[] {
  return names.map(
    (name) => `toolcrew: the run of ${name} ended before it could say so: what it had begun is open again.`,
  );
}
