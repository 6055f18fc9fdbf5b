// The daemon's state directory, held by one daemon at a time.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  describeHolder,
  readLockHolder as holderOfLock,
  type LockHolder,
  LockTaken,
  ProcessLock,
} from '../../base/files/process-lock.ts';
import { failure, messageOf } from '../../base/rules/errors.ts';
import { CONFIG_CODES } from '../rules/codes/config-codes.ts';

function lockIn(directory: string): string {
  return join(directory, 'lock');
}

/** undefined: no daemon holds the directory. */
export function readStateDirHolder(directory: string): LockHolder | undefined {
  return holderOfLock(lockIn(directory));
}

function tryTake(directory: string, workflow: string): ProcessLock | LockTaken {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return ProcessLock.tryTake({ path: lockIn(directory), workflow });
  } catch (error) {
    throw failure(CONFIG_CODES.state_dir_unwritable, { directory, said: messageOf(error) }, { cause: error });
  }
}

/** Creates the directory and takes its lock; throws if another daemon holds it. */
export function holdStateDir(directory: string, workflow: string): ProcessLock {
  const lock = tryTake(directory, workflow);
  if (!(lock instanceof LockTaken)) return lock;
  if (lock.holder === null) throw failure(CONFIG_CODES.state_contended, { directory });
  const { since, workflow: theirs, url } = lock.holder;
  const holder = describeHolder(lock.holder);
  const page = url === null ? {} : { page: url };
  throw failure(CONFIG_CODES.state_in_use, { directory, holder, since, workflow: theirs, ...page });
}
