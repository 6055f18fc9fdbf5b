// A teammate whose run is over without its own hook having been asked, as when its model cannot be reached for good: the host
// tells the lead's session of it, and what the teammate had begun is anybody's again.

import { refusal, withCode } from '../../base/rules/codes.ts';
import { type TeamContext, tellLead, withReadable } from '../../team/operations/context.ts';
import { type HookAnswer, SILENT } from '../../team/operations/host-event.ts';
import type { TeamLog } from '../../team/ports.ts';
import { nextStepText, waitingRoles } from '../../team/rules/brief.ts';
import { startLines } from '../../team/rules/calls.ts';
import { WORK_CODES } from '../../team/rules/codes/work-codes.ts';
import type { Member, TeamState } from '../../team/rules/log/state.ts';
import { LEAD } from '../../team/rules/message.ts';
import { abandonedTasks, unfinishedTasks } from '../../team/rules/successors.ts';
import { HOOK_CODES } from '../rules/hook-codes.ts';

/** The calls that start again those who are needed, one a line. */
export function startAgain(state: TeamState): readonly string[] {
  const again = startLines(state.team, waitingRoles(state));
  return again.length === 0
    ? [nextStepText(state)]
    : ['Start the missing teammates again. Make these calls, then the calls that they return:', ...again];
}

/** Writes down that a member's run is over. A task that was left too often fails with it, and the lead is told to ask the user. */
export async function recordRunEnd(log: TeamLog, member: Member, flush = true): Promise<void> {
  const { name, epoch } = member;
  const left = unfinishedTasks(log.state, member);
  const tasks = left.length === 0 ? {} : { left };
  await log.append({ type: 'member_idle', name, epoch, stopped: true, ...tasks }, { flush });
  for (const { task, why } of abandonedTasks(log.state)) {
    const { id, subject } = task;
    const { refusal: problem } = await log.append({
      ...{ type: 'task_updated', task: id, status: 'failed', result: why, by: LEAD, epoch: 0 },
    });
    if (problem === null) await tellLead(log, withCode(refusal(WORK_CODES.task_failed, { task: id, subject, why })));
  }
}

/** Writes down that the runs of these members are over; gives their names. @param end how that is written down */
export async function releaseMembers(
  members: readonly Member[],
  end: (member: Member) => Promise<unknown>,
): Promise<readonly string[]> {
  const released: string[] = [];
  for (const member of members) {
    // Whose own hook was asked has stopped already.
    if (member.phase === 'stopped' || member.phase === 'over') continue;
    await end(member);
    released.push(member.name);
  }
  return released;
}

/** @param agents that the host names */
export async function onRunsEnded(context: Pick<TeamContext, 'teams'>, agents: readonly string[]): Promise<HookAnswer> {
  return withReadable(context.teams, async (logs) => {
    const lines: string[] = [];
    for (const log of logs) {
      const members = agents.flatMap((agent) => {
        const run = log.state.bindings.get(agent);
        const member = log.state.members.get(run?.name ?? '');
        // Another agent may be in its place.
        return run === undefined || member === undefined || member.epoch !== run.epoch ? [] : [member];
      });
      const released = await releaseMembers([...new Set(members)], (member) => recordRunEnd(log, member));
      if (released.length > 0) lines.push(...overWords(released), ...startAgain(log.state));
    }
    return lines.length === 0 ? SILENT : { kind: 'context', text: lines.join('\n') };
  });
}

function overWords(names: readonly string[]): readonly string[] {
  return names.map((member) => `toolcrew: ${withCode(refusal(HOOK_CODES.run_ended_unreported, { member }))}`);
}
