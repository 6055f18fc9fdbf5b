// Lock files of git: one that is in use is waited for, one that a killed git left is removed.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { ToolError } from '../../domain/errors.ts';

const WAIT_MS = 60_000;
const LOOK_MS = 50;

/** The lock file that git failed for, from its own words. */
export function lockInTheWay(stderr: string): string | null {
  return /Unable to create '(\/.+\.lock)': File exists/.exec(stderr)?.[1] ?? null;
}

function placeOfGit(pid: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8') === 'git\n' ? readlinkSync(`/proc/${pid}/cwd`) : null;
  } catch {
    return null;
  }
}

/** Whether a git is at work in the directory, null: in any; where the system does not tell where one is, any counts. */
function isGitAtWork(directory: string | null): boolean {
  if (process.platform !== 'linux')
    return /(^|\/)git$/m.test(spawnSync('ps', ['-ax', '-o', 'comm='], { encoding: 'utf8' }).stdout ?? '');
  return readdirSync('/proc').some((pid) => {
    const place = /^\d+$/.test(pid) ? placeOfGit(pid) : null;
    return place !== null && (directory === null || place === directory || place.startsWith(`${directory}/`));
  });
}

function stampOf(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.ino} ${stat.mtimeMs}`;
}

/** Resolves when the lock is gone. One of a worktree's own is used by those in the worktree alone, any other by all. */
export async function clearLock(lock: string, worktree: string): Promise<void> {
  const directory = /\/worktrees\/[^/]+\/[^/]+\.lock$/.test(lock) ? worktree : null;
  const giveUpAt = Date.now() + WAIT_MS;
  for (let stamp = stampOf(lock); stamp !== null; stamp = stampOf(lock)) {
    if (!isGitAtWork(directory)) {
      if (stampOf(lock) === stamp) rmSync(lock, { force: true });
    } else if (Date.now() > giveUpAt)
      throw new ToolError(
        'git',
        `${lock} is there, and a git has been at work in ${directory ?? 'the system'} for ${WAIT_MS / 1000} s: end it, or remove the lock`,
      );
    else await delay(LOOK_MS);
  }
}
