// Collection of an attempt's work from its workspace, with retries. Work that could not be read must not be lost.

import type { Clock } from '../base/ports.ts';
import { messageIn, refusal } from '../base/rules/codes.ts';
import { messageOf } from '../base/rules/errors.ts';
import type { Work, Workspaces, WorkspaceTask } from './ports.ts';
import { WORK_CODES } from './rules/codes/work-codes.ts';
import { isDiskFull } from './rules/disk-full.ts';

export type CollectedWork = Work & { readonly unread: string | null };

/** Result for a workspace in which no agent has worked. */
export const NO_WORK: CollectedWork = { head: null, savedAs: null, unread: null };

/** Pauses between tries. */
const PAUSES_MS = [1_000, 3_000];

/** Pause while the disk is full: waiting costs nothing, another start of the agent does. */
const FULL_PAUSE_MS = 60_000;

/**
 * Reads the workspace, up to three times. `signal` shortens the pauses, not the reading. Never rejects.
 * @param onFull called once when the disk is full; then it is retried until `signal` aborts. Absent: no such wait
 */
export async function collectWork(
  workspaces: Workspaces,
  clock: Clock,
  task: WorkspaceTask,
  signal: AbortSignal,
  onFull?: (words: string) => void,
): Promise<CollectedWork> {
  const unhurried = new AbortController();
  let isFull = false;
  /** Last failure in the output: the same failure is not repeated there. */
  let said: string | null = null;
  for (let tries = 0; ; ) {
    try {
      return { ...(await workspaces.collect(task, unhurried.signal)), unread: null };
    } catch (error) {
      const why = { said: messageOf(error) };
      const unread = messageIn(refusal(WORK_CODES.work_uncollected, why));
      if (unread !== said) task.output(`${unread}\n`);
      said = unread;
      if (onFull !== undefined && isDiskFull(error) && !signal.aborted) {
        if (!isFull) onFull(messageIn(refusal(WORK_CODES.disk_full_waited, why)));
        isFull = true;
        await clock.sleep(FULL_PAUSE_MS, signal);
        continue;
      }
      const pause = PAUSES_MS[tries];
      tries += 1;
      if (pause === undefined) return { ...NO_WORK, unread };
      await clock.sleep(pause, signal);
    }
  }
}
