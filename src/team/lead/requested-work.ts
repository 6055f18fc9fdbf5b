// Turns requests beside the tasks, and changes that belong to no task, into tasks. For leads that are code.

import type { TeamWorktrees } from '../../git/worktrees/team-worktrees-port.ts';
import type { Ownership } from '../../guard/rules/ownership.ts';
import { makeTask } from '../operations/context.ts';
import { rulesFor } from '../operations/merge-work.ts';
import type { TeamLog } from '../ports.ts';
import { foreignFiles } from '../rules/integration.ts';
import { LEAD } from '../rules/message.ts';
import {
  hasTaskFor,
  mayLeaveChanges,
  type RequestTask,
  strayChangesTask,
  taskFor,
  unansweredRequests,
} from '../rules/requested-work.ts';

type Say = (words: string) => void;

async function addTask(log: TeamLog, { subject, description, owner, files }: RequestTask): Promise<string> {
  const words = { subject, description, owner, files, blocked_by: [], by: LEAD };
  return (await makeTask(log, { type: 'task_created', ...words }))?.id ?? '';
}

/** Requests that nobody reads become tasks, each once, and count as read with that; gives whether there were any. */
export async function assignRequests(
  log: TeamLog,
  ownership: readonly Ownership[],
  spent: ReadonlyMap<string, string>,
  say: Say,
): Promise<boolean> {
  const requests = unansweredRequests(log.state, spent);
  for (const request of requests) {
    const { recipient: reader, message } = request;
    // A lead that was killed in between has made it already.
    if (!hasTaskFor(log.state, message)) {
      const task = taskFor(request, log.state, ownership);
      const id = await addTask(log, task);
      say(
        `${message.type} #${message.seq} of ${message.from} to ${reader} is task ${id} for ${task.owner ?? 'whom it fits'}`,
      );
    }
    await log.append({ type: 'mail_seen', member: reader, seqs: [message.seq], how: 'read' });
  }
  return requests.length > 0;
}

/** What writers without open work have changed and the team's branch lacks becomes a task of theirs; gives whether there was any. */
export async function assignStrayChanges(
  teamWorktrees: TeamWorktrees,
  log: TeamLog,
  ownership: readonly Ownership[],
  names: Iterable<string>,
  say: Say,
): Promise<boolean> {
  let isAny = false;
  for (const name of names) {
    const member = log.state.members.get(name);
    if (member === undefined || !mayLeaveChanges(log.state, name)) continue;
    const changed = await teamWorktrees.unmerged(log.state.team, name);
    const foreign = foreignFiles({ files: changed }, name, rulesFor(log.state, member, ownership));
    const files = changed.filter((path) => !foreign.includes(path));
    if (files.length === 0) continue;
    const id = await addTask(log, strayChangesTask(name, files));
    say(`${name} has changed ${files.join(', ')} beside its tasks: task ${id} brings it in`);
    isAny = true;
  }
  return isAny;
}
