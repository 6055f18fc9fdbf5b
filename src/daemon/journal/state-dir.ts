// The daemon's state directory, held by one daemon at a time.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  describeHolder,
  readLockHolder as holderOfLock,
  type LockHolder,
  ProcessLock,
} from '../../base/files/process-lock.ts';
import { messageOf, ToolError } from '../../base/rules/errors.ts';

function lockIn(directory: string): string {
  return join(directory, 'lock');
}

/** Who holds the directory now; undefined when nobody does. */
export function readStateDirHolder(directory: string): LockHolder | undefined {
  return holderOfLock(lockIn(directory));
}

function refuse(directory: string, holder: LockHolder): never {
  const page = holder.url === null ? '' : `, ${holder.url}`;
  throw new ToolError(
    'state_in_use',
    `${directory} is in use by another daemon: ${describeHolder(holder)}, since ${holder.since}, for ${holder.workflow}${page}. Stop that one, or give this one its own state.dir.`,
  );
}

/** Makes the directory and takes its lock; throws when another daemon holds it. */
export class StateDir {
  readonly path: string;
  readonly #lock: ProcessLock;

  constructor(directory: string, workflow: string) {
    this.path = directory;
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw new ToolError('state_unusable', `state.dir: cannot make ${directory}: ${messageOf(error)}`, {
        cause: error,
      });
    }
    try {
      this.#lock = new ProcessLock({
        path: lockIn(directory),
        workflow,
        refuse: (holder) => refuse(directory, holder),
        giveUp: () => {
          throw new ToolError(
            'state_in_use',
            `${directory}: other daemons take its lock again and again; start one at a time`,
          );
        },
      });
    } catch (error) {
      if (error instanceof ToolError) throw error;
      throw new ToolError('state_unusable', `state.dir: cannot write in ${directory}: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  /** Says in the lock where the status page is, for whoever is refused. */
  announce(url: string | null): void {
    this.#lock.announce(url);
  }

  release(): void {
    this.#lock.release();
  }
}
