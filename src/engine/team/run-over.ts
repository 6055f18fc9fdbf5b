// A teammate whose run is over without its own hook having been asked, as when its model cannot be reached for good: the host
// tells the lead's session of it, and what the teammate had begun is anybody's again.

import { nextStep, spawnParameters, waitingRoles } from '../../domain/team/brief.ts';
import { withReadable } from './context.ts';
import { type HookAnswer, SILENT } from './event.ts';
import type { HookContext } from './hook-context.ts';

/** @param agentId of the agent that the host names */
export async function onRunOver(context: HookContext, agentId: string): Promise<HookAnswer> {
  return withReadable(context.teams, async (logs) => {
    for (const log of logs) {
      const run = log.state.bindings.get(agentId);
      const member = log.state.members.get(run?.name ?? '');
      // Whose own hook was asked has stopped already; another agent may be in its place.
      if (run === undefined || member === undefined || member.epoch !== run.epoch) continue;
      if (member.phase === 'stopped' || member.phase === 'over') continue;
      const { name, epoch } = member;
      await log.append({ type: 'member_idle', name, epoch, stopped: true });
      const { state } = log;
      const again = waitingRoles(state).map(
        (role) =>
          `- Task ${JSON.stringify(spawnParameters(state.team, role, `Do the open tasks that are meant for ${role}.`))}`,
      );
      return {
        kind: 'context',
        text: [
          `toolcrew: the run of ${name} ended before it could say so: what it had begun is open again.`,
          ...(again.length === 0
            ? [nextStep(state)]
            : ['Register who is missing with Task, and make the calls:', ...again]),
        ].join('\n'),
      };
    }
    return SILENT;
  });
}
