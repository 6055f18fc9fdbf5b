// What of a writer's finished work no commit takes in: it is told before the work counts as done, and nothing of it is lost.

import { TOOLCREW } from '../../domain/team/message.ts';
import type { TeamState } from '../../domain/team/state.ts';
import { visible } from '../../domain/text.ts';
import type { TeamLog } from '../ports.ts';
import { type Somebody, tellLead } from './context.ts';
import type { Workshop } from './workshop-port.ts';

type Found = { readonly reason: string; readonly fingerprint: string; readonly stands?: true };

/** What stands in the way, or the files of the task that go on being ignored: they are kept when the work is accepted. */
type LeftOut = { readonly objection: Found } | { readonly ignored: readonly string[] };

/**
 * Files of the task that git ignores stand in the way once: completed again, the work goes on without them.
 * @param before what was objected to the last time
 */
export async function leftOut(
  workshop: Workshop,
  { team, tasks }: TeamState,
  taskId: string,
  name: string,
  before: string | undefined,
): Promise<LeftOut> {
  const { repositories, ignored } = await workshop.leftOut(team, name, tasks.get(taskId)?.files ?? []);
  const [repository] = repositories;
  if (repository !== undefined) {
    const shown = visible(repository);
    const reason = `${shown} is a Git repository of its own: what is in it is no part of your work. If it is your work, make it plain files: git rm --cached -q --ignore-unmatch ${shown}; rm -rf ${shown}/.git. If not, remove it, or move it out of the worktree. Then complete again.`;
    return { objection: { reason, fingerprint: `repositories ${repositories.join(' ')}`, stands: true } };
  }
  const fingerprint = `task ${taskId} ignored ${ignored.join(' ')}`;
  if (ignored.length === 0 || before === fingerprint) return { ignored };
  const shown = ignored.map(visible).join(', ');
  const reason = `Git ignores ${shown} (.gitignore), so it is no part of your work, though the task names it. If it belongs to the project: git add --force ${shown}. If not, complete again, and the lead is told.`;
  return { objection: { reason, fingerprint } };
}

/** Of work that is accepted without them: they are kept under a ref, and the lead is told, once. */
export async function keepIgnored(
  workshop: Workshop,
  log: TeamLog,
  taskId: string,
  caller: Extract<Somebody, { kind: 'member' }>,
  ignored: readonly string[],
): Promise<void> {
  if (ignored.length === 0) return;
  const { name } = caller;
  const kept = await workshop.keep(log.state.team, name, ignored);
  const words = `task ${taskId} is done without ${ignored.map(visible).join(', ')}, which Git ignores; kept as ${kept}`;
  if (!log.state.messages.some(({ from, content }) => from === TOOLCREW && content === words))
    await tellLead(log, words);
}
