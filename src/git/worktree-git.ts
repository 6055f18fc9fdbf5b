// Git in a project's repository for the work of its teams: where that repository is, and how git is run in it.

import { join, relative } from 'node:path';
import type { Environment } from '../base/rules/environment.ts';
import { failure } from '../base/rules/errors.ts';
import { lastLines } from '../base/rules/text.ts';
import { cloneEnvironment, exitOf, type GitOptions, type GitResult, requireGit, tryGit } from './git.ts';
import { findProject } from './project.ts';
import { GIT_CODES } from './rules/git-codes.ts';
import { clearLock, lockInTheWay } from './stale-lock.ts';

/** The first that merges without a work tree. */
const OLDEST = [2, 38] as const;
/** Each try has another lock in its way. */
const MAX_TRIES = 5;
const MAX_BYTES = 256 * 1024 * 1024;

/** A person's repository is tidied when the person wants it; what git commits for a team has no editor, hook or signature. */
const QUIET = ['gc.auto=0', 'maintenance.auto=false', 'commit.gpgSign=false'];
const SETTINGS = QUIET.flatMap((setting) => ['-c', setting]);

export type Repository = {
  readonly root: string;
  /** The top of the checkout that `root` is in. */
  readonly top: string;
  /** From there to `root`: empty, or ending in `/`. */
  readonly prefix: string;
  /** The Git directory that all worktrees share. */
  readonly common: string;
  /** Holds all worktrees of teams. */
  readonly worktrees: string;
};

/** Runs git in a directory; a lock that a killed git left is no hindrance. */
export type RunGit = {
  readonly try: (cwd: string, args: readonly string[], options?: Partial<GitOptions>) => Promise<GitResult>;
  readonly git: (cwd: string, args: readonly string[], options?: Partial<GitOptions>) => Promise<string>;
};

/** No mail goes there. */
const DOMAIN = '.toolcrew.invalid';

/** Whether an address is a teammate's, or a lead's. */
export function isOfTeam(address: string): boolean {
  return address.endsWith(DOMAIN);
}

/** Name and address of whom a commit is by. */
export function identity(team: string, name: string): Record<string, string> {
  const email = `${name}@${team}${DOMAIN}`;
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  };
}

/** What a writer's environment needs besides its own: its name on commits, and none of the person's hooks and signatures. */
export function writerEnvironment(team: string, member: string): Record<string, string> {
  const settings = {
    'core.hooksPath': '/dev/null',
    'commit.gpgSign': 'false',
    'tag.gpgSign': 'false',
    'gc.auto': '0',
    // It writes where a writer may not.
    'rerere.enabled': 'false',
  };
  const rows = Object.entries(settings).flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return {
    ...identity(team, member),
    // Nobody sits at it: what would ask for words takes those that it has, as a step that goes on.
    GIT_EDITOR: 'true',
    GIT_CONFIG_COUNT: String(Object.keys(settings).length),
    ...Object.fromEntries(rows),
  };
}

/** @param within the Git directory of all worktrees, whose lock files are taken out of the way, and what marks git there */
export function createRunGit(
  env: Environment,
  within?: { readonly common: string; readonly mark: Readonly<Record<string, string>> },
): RunGit {
  const base = {
    ...cloneEnvironment(env),
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_LITERAL_PATHSPECS: '0',
    ...within?.mark,
    ...(within === undefined ? {} : { GIT_COMMON_DIR: within.common }),
  };
  const optionsFor = (cwd: string, options: Partial<GitOptions> = {}): GitOptions => ({
    cwd,
    maxBytes: MAX_BYTES,
    ...options,
    env: { ...base, ...options.env },
  });
  const run: RunGit['try'] = async (cwd, args, options) => {
    for (let tries = 0; ; tries++) {
      const result = await tryGit([...SETTINGS, ...args], optionsFor(cwd, options));
      const lock = result.exitCode === 0 || tries === MAX_TRIES ? null : lockInTheWay(result.stderr);
      if (lock === null || within === undefined) return result;
      await clearLock(lock, cwd, within.common);
    }
  };
  return {
    try: run,
    git: async (cwd, args, options) => {
      const { exitCode, stdout, stderr } = await run(cwd, args, options);
      if (exitCode === 0) return stdout;
      throw failure(GIT_CODES.git_failed, {
        command: args[0] ?? '',
        directory: cwd,
        ...exitOf(exitCode),
        said: lastLines(stderr || stdout, 8),
      });
    },
  };
}

/** Throws where git cannot do what the work of a team needs. */
export async function requireMergingGit(root: string, runGit: RunGit, env: Environment): Promise<void> {
  requireGit(env);
  const version = (await runGit.git(root, ['version'])).trim();
  const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/.exec(version) ?? [];
  const [needsMajor, needsMinor] = OLDEST;
  if (Number(major) < needsMajor || (Number(major) === needsMajor && Number(minor) < needsMinor))
    throw failure(GIT_CODES.git_too_old, { version, required: OLDEST.join('.') });
}

/** Finds the repository of a project; throws in words where there is none that worktrees can be made of. */
export async function findRepository(root: string, runGit: RunGit, env: Environment): Promise<Repository> {
  requireGit(env);
  const { exitCode, stdout, stderr } = await runGit.try(root, [
    'rev-parse',
    '--path-format=absolute',
    '--show-toplevel',
    '--git-common-dir',
    '--show-prefix',
  ]);
  const [top = '', common = '', prefix = ''] = stdout.split('\n');
  if (exitCode !== 0 || top === '' || common === '')
    throw failure(GIT_CODES.git_repository_missing, { path: root, said: stderr.trim() });
  const { main } = findProject(root);
  return { root, top, common, prefix, worktrees: join(main, '.tool', 'worktrees') };
}

/** From a path as git tells it to one from the project's root. */
export function fromRoot(path: string, { prefix }: Repository): string {
  if (path.startsWith(prefix)) return path.slice(prefix.length);
  return relative(`/${prefix}`, `/${path}`);
}
