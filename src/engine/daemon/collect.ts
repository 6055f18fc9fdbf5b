// What an attempt left in its workspace, or why that could not be read: then there may be work, and it must not be lost.

import { isDiskFull } from '../../domain/disk-full.ts';
import { messageOf } from '../../domain/errors.ts';
import type { Clock, Work, Workspaces, WorkspaceTask } from '../ports.ts';

export type Left = Work & { readonly unread: string | null };

/** Nothing is there, known without looking: no agent has been at work. */
export const NOTHING_LEFT: Left = { head: null, savedAs: null, unread: null };

/** Between one try and the next. */
const PAUSES_MS = [1_000, 3_000];

/** While the disk is full. To wait costs nothing; to start the agent again would. */
const FULL_PAUSE_MS = 60_000;

/**
 * Reads the workspace, a few times if need be. `signal` cuts the pauses short, not the reading. Never rejects.
 * @param onFull called once when the disk is full; then it is waited for, without it not
 */
export async function collectWork(
  workspaces: Workspaces,
  clock: Clock,
  task: WorkspaceTask,
  signal: AbortSignal,
  onFull?: (words: string) => void,
): Promise<Left> {
  const unhurried = new AbortController();
  let isFull = false;
  /** The output has it already: a try that fails in the same way adds nothing. */
  let said: string | null = null;
  for (let tries = 0; ; ) {
    try {
      return { ...(await workspaces.collect(task, unhurried.signal)), unread: null };
    } catch (error) {
      const unread = `the work could not be collected: ${messageOf(error)}`;
      if (unread !== said) task.output(`${unread}\n`);
      said = unread;
      if (onFull !== undefined && isDiskFull(error) && !signal.aborted) {
        if (!isFull) onFull(`${unread}; tried again until there is room`);
        isFull = true;
        await clock.sleep(FULL_PAUSE_MS, signal);
        continue;
      }
      const pause = PAUSES_MS[tries];
      tries += 1;
      if (pause === undefined) return { ...NOTHING_LEFT, unread };
      await clock.sleep(pause, signal);
    }
  }
}
