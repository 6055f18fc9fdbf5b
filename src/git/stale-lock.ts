// Lock files of git: one that is in use is waited for, one that a killed git left is removed.

import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { NAMESPACE_VARIABLE } from '../base/processes/processes.ts';
import { runProgram } from '../base/processes/program.ts';
import { failure } from '../base/rules/errors.ts';
import { cloneEnvironment, git } from './git.ts';
import { GIT_CODES } from './rules/git-codes.ts';

/** Less than the minute after which clients of the team server give up a call: its caller hears which lock it was. */
const WAIT_MS = 45_000;
const LOOK_MS = 50;
/** In the environment of the write guard's `git check-ignore`, which locks nothing and lives as long as the guarded command. */
const READER = 'TOOL_GIT_READER=1';
/** Where another's git cannot be seen: no git keeps a lock of what is shared for so long. */
const UNSEEN_MS = 10_000;

/** The lock file that git failed for, from its own words. */
export function lockInTheWay(stderr: string): string | null {
  return /Unable to create '(\/.+\.lock)': File exists/.exec(stderr)?.[1] ?? null;
}

/** Where a git is that may hold a lock; null: the process is none. */
function placeOfGit(pid: string): string | null {
  try {
    if (readFileSync(`/proc/${pid}/comm`, 'utf8') !== 'git\n') return null;
    const variables = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
    return variables.includes(READER) ? null : readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}

/** Whether a git is at work in one of the directories; where the system does not tell where one is, any counts. */
async function isGitAtWork(directories: readonly string[]): Promise<boolean> {
  if (process.platform !== 'linux') {
    const { exitCode, stdout } = await runProgram('ps', ['-ax', '-o', 'comm='], {
      cwd: '/',
      env: cloneEnvironment(process.env),
    });
    return exitCode !== 0 || /(^|\/)git$/m.test(stdout);
  }
  return readdirSync('/proc').some((pid) => {
    const place = /^\d+$/.test(pid) ? placeOfGit(pid) : null;
    return place !== null && directories.some((one) => place === one || place.startsWith(`${one}/`));
  });
}

/** The Git directory, its checkout and all worktrees: who uses what they share is in one of them. */
function placesOf(common: string): string[] {
  const admins = join(common, 'worktrees');
  const linked = existsSync(admins) ? readdirSync(admins) : [];
  const places = linked.flatMap((name) => {
    try {
      return [dirname(resolve(admins, name, readFileSync(join(admins, name, 'gitdir'), 'utf8').trim()))];
    } catch {
      return [];
    }
  });
  return [common, ...(basename(common) === '.git' ? [dirname(common)] : []), ...places];
}

function fileVersionOf(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.ino} ${stat.mtimeMs}`;
}

/** Whether somebody in another namespace may hold it. */
function mayBeUnseen(lock: string): boolean {
  if (process.env[NAMESPACE_VARIABLE] === undefined) return false;
  const at = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return Date.now() - at < UNSEEN_MS;
}

/** By git: the write guard of a teammate refuses what is git's to all other programs. Throws git's words. */
async function removeLock(lock: string, common: string): Promise<void> {
  const cwd = dirname(lock);
  const place = { GIT_DIR: common, GIT_WORK_TREE: cwd, GIT_INDEX_FILE: `${lock}.none` };
  const env = { ...cloneEnvironment(process.env), ...place };
  await git(['clean', '--force', '--quiet', '-x', '--', basename(lock)], { cwd, env });
}

/**
 * Resolves when the lock is gone. One of a worktree's own is used by those in the worktree alone.
 * @param common the Git directory of all worktrees
 */
export async function clearLock(lock: string, worktree: string, common: string): Promise<void> {
  const isOwn = lock.startsWith(`${common}/worktrees/`);
  const giveUpAt = Date.now() + WAIT_MS;
  for (let version = fileVersionOf(lock); version !== null; version = fileVersionOf(lock)) {
    const isHeld = (await isGitAtWork(isOwn ? [worktree] : placesOf(common))) || mayBeUnseen(lock);
    if (!isHeld && fileVersionOf(lock) === version) await removeLock(lock, common);
    if (!existsSync(lock)) return;
    if (Date.now() > giveUpAt) throw failure(GIT_CODES.git_lock_held, { path: lock, seconds: WAIT_MS / 1000 });
    await delay(LOOK_MS);
  }
}
