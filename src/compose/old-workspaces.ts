// Workspaces of issues that another coordinator has gone on with.

import { existsSync } from 'node:fs';
import type { Logger } from '../base/ports.ts';
import { refusal } from '../base/rules/codes.ts';
import { messageOf } from '../base/rules/errors.ts';
import type { WorkspaceTask } from '../daemon/ports.ts';
import { WORK_CODES } from '../daemon/rules/codes/work-codes.ts';
import type { DiskWorkspaces } from '../daemon/workspaces/workspaces.ts';

/** Saves what they hold, and removes them: nobody goes on from it. */
export async function dropOld(
  tasks: readonly WorkspaceTask[],
  workspaces: DiskWorkspaces,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  for (const task of tasks) {
    const { issue } = task;
    // Programs that clean up temporary files take the empty directory of a late clone.
    if (!existsSync(workspaces.pathOf(issue)) && !workspaces.places.isLate(issue)) continue;
    const output = (text: string) => log.log('info', 'workspace', `issue #${issue}: ${text.trim()}`, { issue });
    await workspaces.remove({ ...task, output }, signal).catch((error: unknown) => {
      const failed = { task: 'the removal of an old workspace', said: messageOf(error) };
      log.log('warn', 'workspace', refusal(WORK_CODES.background_task_failed, failed), { issue });
    });
  }
}
