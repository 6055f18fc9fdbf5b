// What an attempt left in its workspace, or why that could not be read: then there may be work, and it must not be lost.

import { messageOf } from '../../domain/errors.ts';
import type { Clock, Work, Workspaces, WorkspaceTask } from '../ports.ts';

export type Left = Work & { readonly unread: string | null };

/** Nothing is there, known without looking: no agent has been at work. */
export const NOTHING_LEFT: Left = { head: null, savedAs: null, unread: null };

/** Between one try and the next. */
const PAUSES_MS = [1_000, 3_000];

/** Reads the workspace, a few times if need be. `signal` cuts the pauses short, not the reading. Never rejects. */
export async function collectWork(
  workspaces: Workspaces,
  clock: Clock,
  task: WorkspaceTask,
  signal: AbortSignal,
): Promise<Left> {
  const unhurried = new AbortController();
  for (let tries = 0; ; tries++) {
    try {
      return { ...(await workspaces.collect(task, unhurried.signal)), unread: null };
    } catch (error) {
      const unread = `the work could not be collected: ${messageOf(error)}`;
      task.output(`${unread}\n`);
      const pause = PAUSES_MS[tries];
      if (pause === undefined) return { ...NOTHING_LEFT, unread };
      await clock.sleep(pause, signal);
    }
  }
}
