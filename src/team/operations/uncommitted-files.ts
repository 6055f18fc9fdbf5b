// Files of finished work that no commit includes: ignored files, changes in submodules, nested repositories.
// They are reported to the writer before its task completes.

import { type Refusal, refusal, withCode } from '../../base/rules/codes.ts';
import { visible } from '../../base/rules/text.ts';
import type { TeamWorktrees, WorkLeftOut } from '../../git/worktrees/team-worktrees-port.ts';
import type { TeamLog } from '../ports.ts';
import { WORK_CODES } from '../rules/codes/work-codes.ts';
import type { TeamState } from '../rules/log/state.ts';
import { LEAD, TOOLCREW } from '../rules/message.ts';
import { type TeamCaller, tellLead } from './context.ts';

type Found = { readonly refusal: Refusal; readonly fingerprint: string; readonly isFinal?: true };

/** Files outside the work; they are kept under a ref when the work is accepted. */
export type ExcludedFiles = Pick<WorkLeftOut, 'ignored' | 'inSubmodules'>;

type LeftOut = { readonly objection: Found } | { readonly without: ExcludedFiles };

export const NOTHING_EXCLUDED: ExcludedFiles = { ignored: [], inSubmodules: [] };

const FILES_SHOWN = 10;

function named(files: readonly string[]): string {
  const more = files.length - FILES_SHOWN;
  return `${files.slice(0, FILES_SHOWN).map(visible).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/**
 * Finds the files that no commit includes. A nested repository blocks completion every time. Ignored files of the task
 * and changes in submodules block it once: the next completion leaves them out.
 * @param before fingerprint of the last objection
 */
export async function findLeftOut(
  teamWorktrees: TeamWorktrees,
  { team, tasks }: TeamState,
  taskId: string,
  name: string,
  before: string | undefined,
): Promise<LeftOut> {
  const { repositories, ignored, inSubmodules } = await teamWorktrees.leftOut(
    team,
    name,
    tasks.get(taskId)?.files ?? [],
  );
  const [repository] = repositories;
  if (repository !== undefined) {
    const why = refusal(WORK_CODES.nested_repository, { path: visible(repository) });
    return { objection: { refusal: why, fingerprint: `repositories ${repositories.join(' ')}`, isFinal: true } };
  }
  const fingerprint = `task ${taskId} ignored ${[...ignored, ...inSubmodules].join(' ')}`;
  const without = { ignored, inSubmodules };
  if (ignored.length + inSubmodules.length === 0 || before === fingerprint) return { without };
  const shown = ignored.map(visible).join(', ');
  const reasons = [
    ...(ignored.length === 0
      ? []
      : [
          `Git ignores ${shown} (.gitignore), so it is no part of your work, though the task names it. If it belongs to the project: git add --force ${shown}.`,
        ]),
    ...(inSubmodules.length === 0
      ? []
      : [
          `${named(inSubmodules)} is in a submodule, which is a repository of its own: the team cannot commit it. If the task needs it, tell ${LEAD}. Otherwise revert it.`,
        ]),
  ];
  const why = refusal(WORK_CODES.files_left_out, {
    ...{ task: taskId, files: [...ignored, ...inSubmodules], reasons: reasons.join(' ') },
  });
  return { objection: { refusal: why, fingerprint } };
}

function withoutWords(taskId: string): string {
  return `task ${taskId} is done without `;
}

/** Whether a task was accepted without files that were written for it. */
export function isDoneWithout({ messages }: TeamState, taskId: string): boolean {
  return messages.some(
    ({ from, content }) => from === TOOLCREW && typeof content === 'string' && content.startsWith(withoutWords(taskId)),
  );
}

/** Keeps the files that accepted work leaves out under a ref, and notifies the lead once. */
export async function keepLeftOut(
  teamWorktrees: TeamWorktrees,
  log: TeamLog,
  taskId: string,
  caller: Extract<TeamCaller, { kind: 'member' }>,
  { ignored, inSubmodules }: ExcludedFiles,
): Promise<void> {
  if (ignored.length + inSubmodules.length === 0) return;
  const { name } = caller;
  const kept = await teamWorktrees.keep(log.state.team, name, ignored);
  const files = [
    ...(ignored.length === 0 ? [] : [`${named(ignored)}, which Git ignores`]),
    ...(inSubmodules.length === 0 ? [] : [`the change of ${named(inSubmodules)} in a submodule`]),
  ];
  const words = withCode(
    refusal(WORK_CODES.task_without_files, { task: taskId, files: files.join(', and without '), kept }),
  );
  if (!log.state.messages.some(({ from, content }) => from === TOOLCREW && content === words))
    await tellLead(log, words);
}
