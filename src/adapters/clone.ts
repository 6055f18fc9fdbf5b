// Git in a workspace's clone, where an agent has been: its configuration is put back before anything of ours runs there.

import { lstat, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ToolError } from '../domain/errors.ts';
import { cloneEnvironment, git, tryGit } from './git.ts';

/** Where pushes from a workspace go: no transport has this name, so git refuses. */
export const NO_PUSH = 'no-push://the-daemon-pushes';

const IDENTITY = {
  GIT_AUTHOR_NAME: 'toolcrew',
  GIT_AUTHOR_EMAIL: 'toolcrew@localhost',
  GIT_COMMITTER_NAME: 'toolcrew',
  GIT_COMMITTER_EMAIL: 'toolcrew@localhost',
};

/** Files of a Git directory that can send git elsewhere or make it start a program. */
const REDIRECTIONS = [
  'commondir',
  'config.worktree',
  'info/attributes',
  'info/grafts',
  'index.lock',
  'HEAD.lock',
  'config.lock',
];

const SHA = /^[0-9a-f]{40,64}$/;

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory();
  } catch {
    return false;
  }
}

/** The objects of a clone, for reading only. */
export function objectsOf(path: string): string {
  return join(path, '.git', 'objects');
}

/** Whether the directory holds a clone with a Git directory of its own. */
export async function isClone(path: string): Promise<boolean> {
  return (await isDirectory(join(path, '.git'))) && (await isDirectory(objectsOf(path)));
}

/** Clones the mirror, files not yet checked out. Its remote can be fetched from, never pushed to. */
export async function cloneMirror(mirror: string, path: string, signal: AbortSignal): Promise<void> {
  await git(
    ['clone', '--quiet', '--local', '--no-checkout', '--config', `remote.origin.pushurl=${NO_PUSH}`, mirror, path],
    { cwd: path, signal },
  );
}

/** Takes the push addresses and credentials out of a clone that somebody's own script made. */
export async function disarm(path: string, signal: AbortSignal): Promise<void> {
  const options = { cwd: path, signal };
  const { stdout } = await tryGit(['config', '--local', '--null', '--list'], options);
  for (const row of stdout.split('\0')) {
    const at = row.indexOf('\n');
    const key = row.slice(0, at === -1 ? undefined : at);
    const value = at === -1 ? '' : row.slice(at + 1);
    const remote = /^remote\.(.+)\.url$/s.exec(key)?.[1];
    if (remote !== undefined) {
      await git(['config', '--local', '--replace-all', `remote.${remote}.pushurl`, NO_PUSH], options);
      const clean = value.replace(/^([a-z+]+:\/\/)[^@/]+@/i, '$1');
      if (clean !== value) await git(['config', '--local', key, clean], options);
    } else if (/^(credential\.|http\..*extraheader$|http\.extraheader$|url\.)/i.test(key)) {
      await tryGit(['config', '--local', '--unset-all', key], options);
    }
  }
}

export function readConfig(path: string): Promise<string> {
  return readFile(join(path, '.git', 'config'), 'utf8');
}

/** Puts the clone's configuration back and takes out what an agent may have planted to have it run. */
export async function restoreConfig(path: string, config: string): Promise<void> {
  if (!(await isClone(path))) throw new ToolError('git', `${path} holds no Git clone of its own any more`);
  const gitDirectory = join(path, '.git');
  // Removed first: a link planted there would send the write elsewhere.
  await rm(join(gitDirectory, 'config'), { recursive: true, force: true });
  await writeFile(join(gitDirectory, 'config'), config, { flag: 'wx' });
  await rm(join(gitDirectory, 'hooks'), { recursive: true, force: true });
  await Promise.all(REDIRECTIONS.map((file) => rm(join(gitDirectory, file), { recursive: true, force: true })));
}

export type CloneStatus = { readonly oid: string | null; readonly branch: string | null; readonly dirty: boolean };

export async function statusOf(path: string, signal: AbortSignal): Promise<CloneStatus> {
  const text = await git(
    ['status', '--porcelain=v2', '--branch', '--untracked-files=normal', '--ignore-submodules=all'],
    { cwd: path, signal },
  );
  const header = (name: string) => new RegExp(`^# branch\\.${name} (.*)$`, 'm').exec(text)?.[1];
  const oid = header('oid');
  const branch = header('head');
  return {
    oid: oid === undefined || oid === '(initial)' ? null : oid,
    branch: branch === undefined || branch === '(detached)' ? null : branch,
    dirty: /^[^#]/m.test(text),
  };
}

export async function refOf(path: string, ref: string): Promise<string | null> {
  const { exitCode, stdout } = await tryGit(['rev-parse', '--verify', '--quiet', `${ref}^{commit}`], { cwd: path });
  return exitCode === 0 ? stdout.trim() : null;
}

/**
 * Saves all changes that are not committed, untracked files too, as a commit under `ref`; neither the files nor the
 * index of the clone change.
 */
export async function saveUncommitted(path: string, ref: string, signal: AbortSignal): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'toolcrew-save-'));
  try {
    const env = { ...cloneEnvironment(process.env), ...IDENTITY, GIT_INDEX_FILE: join(scratch, 'index') };
    const options = { cwd: path, env, signal };
    const head = await refOf(path, 'HEAD');
    if (head !== null) await git(['read-tree', head], options);
    await git(['add', '--all', '--ignore-errors', '.'], options);
    const tree = (await git(['write-tree'], options)).trim();
    const parents = head === null ? [] : ['-p', head];
    const commit = (
      await git(['commit-tree', tree, ...parents, '-m', `Uncommitted work, saved as ${ref}`], options)
    ).trim();
    await git(['update-ref', ref, commit], options);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** A ref's commit, read from the files alone. */
export async function readRef(path: string, ref: string): Promise<string | null> {
  const gitDirectory = join(path, '.git');
  const loose = await readFile(join(gitDirectory, ref), 'utf8').catch(() => undefined);
  if (loose !== undefined && SHA.test(loose.trim())) return loose.trim();
  const packed = await readFile(join(gitDirectory, 'packed-refs'), 'utf8').catch(() => '');
  const row = packed.split('\n').find((line) => line.endsWith(` ${ref}`));
  return row === undefined ? null : row.slice(0, row.indexOf(' '));
}

/** The commit that HEAD stands on, read from the files alone. */
export async function readHead(path: string): Promise<string | null> {
  const head = (await readFile(join(path, '.git', 'HEAD'), 'utf8').catch(() => '')).trim();
  if (SHA.test(head)) return head;
  const ref = /^ref: (refs\/heads\/[^\s]+)$/.exec(head)?.[1];
  return ref === undefined || ref.includes('..') ? null : readRef(path, ref);
}

/** Those of the named refs that exist. */
export async function refsOf(path: string, refs: readonly string[]): Promise<Set<string>> {
  const text = await git(['for-each-ref', '--format=%(refname)', ...refs], { cwd: path });
  return new Set(text.split('\n').filter((name) => refs.includes(name)));
}

/** Starts the branch anew from `start`, changed files overwritten. */
export async function startBranch(path: string, branch: string, start: string, signal: AbortSignal): Promise<void> {
  await git(['checkout', '--quiet', '--force', '--no-track', '-B', branch, start], { cwd: path, signal });
}

/** Removes files that git does not know; those that it ignores stay. */
export async function removeUntracked(path: string, signal: AbortSignal): Promise<void> {
  await git(['clean', '--quiet', '--force', '-d'], { cwd: path, signal });
}

export async function fetchOrigin(path: string, signal: AbortSignal): Promise<void> {
  await git(['fetch', '--quiet', '--prune', 'origin'], { cwd: path, signal });
}

/** Merges `from` when that is clean; otherwise everything stays as it was. */
export async function mergeIfClean(path: string, from: string, signal: AbortSignal): Promise<boolean> {
  const env = { ...cloneEnvironment(process.env), ...IDENTITY };
  const { exitCode } = await tryGit(['merge', '--quiet', '--no-edit', from], { cwd: path, env, signal });
  if (exitCode === 0) return true;
  await tryGit(['merge', '--abort'], { cwd: path, env });
  return false;
}

/** Moves to the branch, made from where the clone stands when it does not exist; changes in the files come along. */
export async function moveToBranch(path: string, branch: string, signal: AbortSignal): Promise<void> {
  const exists = (await refOf(path, `refs/heads/${branch}`)) !== null;
  await git(['checkout', '--quiet', ...(exists ? [branch] : ['-b', branch])], { cwd: path, signal });
}
