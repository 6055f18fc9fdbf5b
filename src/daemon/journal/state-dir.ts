// The daemon's state directory, held by one daemon at a time.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  describeHolder,
  readLockHolder as holderOfLock,
  type LockHolder,
  ProcessLock,
} from '../../base/files/process-lock.ts';
import { failure, messageOf, ToolError } from '../../base/rules/errors.ts';
import { CONFIG_CODES } from '../rules/codes/config-codes.ts';

function lockIn(directory: string): string {
  return join(directory, 'lock');
}

/** Who holds the directory now; undefined when nobody does. */
export function readStateDirHolder(directory: string): LockHolder | undefined {
  return holderOfLock(lockIn(directory));
}

function refuse(directory: string, holder: LockHolder): never {
  const { since, workflow, url } = holder;
  const page = url === null ? {} : { page: url };
  throw failure(CONFIG_CODES.state_in_use, { directory, holder: describeHolder(holder), since, workflow, ...page });
}

function unwritable(directory: string, error: unknown): ToolError {
  return failure(CONFIG_CODES.state_dir_unwritable, { directory, said: messageOf(error) }, { cause: error });
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
      throw unwritable(directory, error);
    }
    try {
      this.#lock = new ProcessLock({
        path: lockIn(directory),
        workflow,
        refuse: (holder) => refuse(directory, holder),
        giveUp: () => {
          throw failure(CONFIG_CODES.state_contended, { directory });
        },
      });
    } catch (error) {
      if (error instanceof ToolError) throw error;
      throw unwritable(directory, error);
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
