// What of a writer's finished work no commit takes in: it is told before the work counts as done, and nothing of it is lost.

import { visible } from '../../domain/text.ts';
import type { TeamLog } from '../ports.ts';
import { type Somebody, tellLead } from './context.ts';
import type { Workshop } from './workshop-port.ts';

type Found = { readonly reason: string; readonly fingerprint: string; readonly stands?: true };

type Member = Extract<Somebody, { kind: 'member' }>;

/**
 * Gives what stands in the way; null: nothing. Files of the task that git ignores do so once: completed again, the work
 * goes on without them, they are kept under a ref and the lead is told.
 * @param before what was objected to the last time
 */
export async function leftOut(
  workshop: Workshop,
  log: TeamLog,
  taskId: string,
  caller: Member,
  before: string | undefined,
): Promise<Found | null> {
  const { team, tasks } = log.state;
  const { name } = caller;
  const { repositories, ignored } = await workshop.leftOut(team, name, tasks.get(taskId)?.files ?? []);
  const [repository] = repositories;
  if (repository !== undefined) {
    const shown = visible(repository);
    return {
      reason: `${shown} is a Git repository of its own: what is in it is no part of your work. If it is your work, make it plain files: git rm --cached -q --ignore-unmatch ${shown}; rm -rf ${shown}/.git. If not, remove it, or move it out of the worktree. Then complete again.`,
      fingerprint: `repositories ${repositories.join(' ')}`,
      stands: true,
    };
  }
  if (ignored.length === 0) return null;
  const shown = ignored.map(visible).join(', ');
  const fingerprint = `task ${taskId} ignored ${ignored.join(' ')}`;
  if (before !== fingerprint)
    return {
      reason: `Git ignores ${shown} (.gitignore), so it is no part of your work, though the task names it. If it belongs to the project: git add --force ${shown}. If not, complete again, and the lead is told.`,
      fingerprint,
    };
  const kept = await workshop.keep(team, name, ignored);
  await tellLead(log, caller, `task ${taskId} is done without ${shown}, which Git ignores; kept as ${kept}`);
  return null;
}
