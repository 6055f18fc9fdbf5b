// A clone's Git directory as files, where an agent may have been: read and put in order without git, no link followed.

import { type Dirent, existsSync, lstatSync } from 'node:fs';
import { lstat, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { readRegular } from '../base/files/safe-read.ts';
import { failure } from '../base/rules/errors.ts';
import { GIT_CODES } from './rules/git-codes.ts';

/** Files of a Git directory that can send git elsewhere or make it start a program. */
const REDIRECTIONS = [
  'commondir',
  'config.worktree',
  'info/attributes',
  'info/grafts',
  'shallow.lock',
  'hooks',
  // Git writes to these two without looking where they lead.
  'logs',
  'FETCH_HEAD',
];

/** What is large, and written to by renaming alone. */
const OBJECTS = 'objects';
/** Git directories of submodules and work trees: nothing of ours goes there. */
const FOREIGN = new Set(['modules', 'worktrees', 'lfs']);

/** The one log that holds work: entries of the stash but the newest stand in no ref. */
const STASH_LOG = 'logs/refs/stash';
const MAX_STASH_LOG_BYTES = 1024 * 1024;

const SHA = /^[0-9a-f]{40,64}$/;
const MAX_REF_BYTES = 4096;
const MAX_PACKED_REFS_BYTES = 64 * 1024 * 1024;
const MAX_CONFIG_BYTES = 1024 * 1024;

function isDirectory(path: string): boolean {
  try {
    return lstatSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Whether the directory holds a clone with a Git directory of its own. */
export function isClone(path: string): boolean {
  return isDirectory(join(path, '.git')) && isDirectory(join(path, '.git', OBJECTS));
}

export function readConfig(path: string): string {
  const text = readRegular(join(path, '.git', 'config'), MAX_CONFIG_BYTES);
  if (text === null) throw failure(GIT_CODES.git_config_unreadable, { path: `${path}/.git/config` });
  return text;
}

/**
 * Removes what stands in git's way or would lead it elsewhere: lock files of a git that is gone, and whatever is
 * neither a file nor a directory. No git may be at work in the directory.
 */
export async function removeStrays(directory: string): Promise<void> {
  await walk(directory, true);
}

async function walk(directory: string, isTop: boolean): Promise<void> {
  await each(directory, async (entry, path) => {
    if (!entry.isDirectory() || (isTop && FOREIGN.has(entry.name))) return;
    if (!isTop || entry.name !== OBJECTS) return walk(path, false);
    await each(path, async (inner, innerPath) => {
      if (inner.isDirectory() && (inner.name === 'info' || inner.name === 'pack')) await walk(innerPath, false);
    });
  });
}

async function each(directory: string, visit: (entry: Dirent, path: string) => Promise<void>): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    const isStray = !entry.isDirectory() && (!entry.isFile() || entry.name.endsWith('.lock'));
    if (isStray) await rm(path, { force: true });
    else await visit(entry, path);
  }
}

export async function writeConfig(path: string, config: string): Promise<void> {
  const file = join(path, '.git', 'config');
  // Removed first: a file may be shared with another place.
  await rm(file, { recursive: true, force: true });
  await writeFile(file, config, { flag: 'wx' });
}

/** Puts the clone's configuration back and takes out what an agent may have planted to have it run or followed. */
export async function restoreConfig(path: string, config: string, branch: string): Promise<void> {
  if (!isClone(path)) throw failure(GIT_CODES.clone_gone, { path });
  const directory = join(path, '.git');
  await removeStrays(directory);
  const stashLog = readRegular(join(directory, STASH_LOG), MAX_STASH_LOG_BYTES);
  await writeConfig(path, config);
  await Promise.all(REDIRECTIONS.map((file) => rm(join(directory, file), { recursive: true, force: true })));
  await mkdir(join(directory, 'refs', 'heads'), { recursive: true });
  if (stashLog !== null) {
    await mkdir(dirname(join(directory, STASH_LOG)), { recursive: true });
    await writeFile(join(directory, STASH_LOG), stashLog, { flag: 'wx' });
  }
  if (readRegular(join(directory, 'HEAD'), MAX_REF_BYTES) !== null) return;
  await rm(join(directory, 'HEAD'), { recursive: true, force: true });
  await writeFile(join(directory, 'HEAD'), `ref: refs/heads/${branch}\n`, { flag: 'wx' });
}

/** What an agent had begun and not finished. */
export async function unfinishedOperation(path: string): Promise<'merge' | 'other' | null> {
  const has = (name: string) =>
    lstat(join(path, '.git', name)).then(
      () => true,
      () => false,
    );
  if (await has('MERGE_HEAD')) return 'merge';
  const others = await Promise.all(['CHERRY_PICK_HEAD', 'REVERT_HEAD', ...REBASES].map(has));
  return others.includes(true) ? 'other' : null;
}

const REBASES = ['rebase-merge', 'rebase-apply', 'sequencer'];

/** Forgets a rebase or a series of picks; git does so for single ones when the branch is taken anew. */
export async function abandonOperation(path: string): Promise<void> {
  await Promise.all(REBASES.map((name) => rm(join(path, '.git', name), { recursive: true, force: true })));
}

/** A ref's commit, read from the files alone. */
export function readRef(path: string, ref: string): string | null {
  return readRefAt(join(path, '.git'), ref);
}

/** The same, of a Git directory wherever it lies. */
export function readRefAt(directory: string, ref: string): string | null {
  const loose = readRegular(join(directory, ref), MAX_REF_BYTES)?.trim();
  if (loose !== undefined) return SHA.test(loose) ? loose : null;
  const row = readPackedRefs(directory)
    .split('\n')
    .find((line) => line.endsWith(` ${ref}`));
  const sha = row?.slice(0, row.indexOf(' ')) ?? '';
  return SHA.test(sha) ? sha : null;
}

/** The commits of the stash, the newest first, at most `limit`. */
export function readStash(directory: string, limit: number): string[] {
  const log = readRegular(join(directory, STASH_LOG), MAX_STASH_LOG_BYTES) ?? '';
  const entries = log.split('\n').map((line) => line.split(' ')[1] ?? '');
  const newest = readRefAt(directory, 'refs/stash');
  // Without the ref the log is of a stash that was dropped.
  if (newest === null) return [];
  return [...new Set([newest, ...entries.reverse().filter((sha) => SHA.test(sha))])].slice(0, limit);
}

/** The commits that the refs of a kind stand on, branches if none is named, `leftOut` those that do not count, at most `limit`, those moved last first, as far as they are written as git writes them. */
export function readHeads(
  path: string,
  limit: number,
  kind = 'refs/heads',
  leftOut: RegExp | null = null,
): Promise<string[]> {
  return readHeadsAt(join(path, '.git'), limit, kind, leftOut);
}

/** The same, of a Git directory wherever it lies. */
export async function readHeadsAt(
  top: string,
  limit: number,
  kind = 'refs/heads',
  leftOut: RegExp | null = null,
): Promise<string[]> {
  const rows = await readRefRows(top, kind, leftOut);
  return [...new Set(rows.map(({ sha }) => sha))].slice(0, limit);
}

type RefRow = { readonly ref: string; readonly sha: string };

/** The branches of a clone with their commits, at most `limit`, those moved last first, as `readHeads` reads them. */
export async function readBranches(path: string, limit: number): Promise<RefRow[]> {
  return (await readRefRows(join(path, '.git'), 'refs/heads', null)).slice(0, limit);
}

/** Its tags, as `readBranches` reads branches; of an annotated one, the tag's own hash. */
export async function readTags(path: string, limit: number): Promise<RefRow[]> {
  return (await readRefRows(join(path, '.git'), 'refs/tags', null)).slice(0, limit);
}

/** What the tags stand on that have a file each, as those made in a repository have; those that a clone brings are packed. */
export async function readOwnTagsAt(directory: string, limit: number): Promise<string[]> {
  const rows = await readLooseRefs(directory, 'refs/tags', null);
  return [...new Set(rows.map(({ sha }) => sha))].slice(0, limit);
}

/** Refs that have a file each, those moved last first. */
async function readLooseRefs(top: string, kind: string, leftOut: RegExp | null): Promise<RefRow[]> {
  const loose: (RefRow & { readonly at: number })[] = [];
  const collect = async (directory: string): Promise<void> => {
    await each(directory, async (entry, place) => {
      const ref = relative(top, place);
      if (entry.isDirectory()) return collect(place);
      if (leftOut?.test(ref) === true) return;
      const sha = readRegular(place, MAX_REF_BYTES)?.trim() ?? '';
      if (SHA.test(sha)) loose.push({ ref, sha, at: lstatSync(place).mtimeMs });
    });
  };
  if (isDirectory(join(top, kind))) await collect(join(top, kind));
  return loose.sort((a, b) => b.at - a.at);
}

async function readRefRows(top: string, kind: string, leftOut: RegExp | null): Promise<RefRow[]> {
  const rows = await readLooseRefs(top, kind, leftOut);
  for (const row of readPackedRefs(top).split('\n')) {
    const [sha = '', ref = ''] = row.split(' ');
    // Where the branch has a file of its own, that counts.
    if (ref.startsWith(`${kind}/`) && leftOut?.test(ref) !== true && SHA.test(sha) && !existsSync(join(top, ref)))
      rows.push({ ref, sha });
  }
  return rows;
}

/** Puts the clone, whose files are those of `sha`, on a branch of that name that it does not have yet. */
export async function placeBranch(path: string, branch: string, sha: string): Promise<void> {
  const ref = join(path, '.git', 'refs', 'heads', branch);
  await mkdir(dirname(ref), { recursive: true });
  await writeFile(ref, `${sha}\n`, { flag: 'wx' });
  await writeFile(join(path, '.git', 'HEAD'), `ref: refs/heads/${branch}\n`);
}

/** Whether the clone shows exactly these branches of its origin, and these tags. @param refs by their names in the origin */
export async function showsAllOf(path: string, refs: ReadonlyMap<string, string>): Promise<boolean> {
  const top = join(path, '.git');
  const branches = await readRefRows(top, 'refs/remotes/origin', null);
  const tags = await readRefRows(top, 'refs/tags', null);
  const names = branches.map(({ ref, sha }) => [ref.replace('refs/remotes/origin/', 'refs/heads/'), sha] as const);
  const own = new Map([...names, ...tags.map(({ ref, sha }) => [ref, sha] as const)]);
  const wanted = [...refs.keys()].filter((ref) => ref.startsWith('refs/heads/'));
  return branches.length === wanted.length && [...refs].every(([ref, sha]) => own.get(ref) === sha);
}

function readPackedRefs(directory: string): string {
  return readRegular(join(directory, 'packed-refs'), MAX_PACKED_REFS_BYTES) ?? '';
}

/** The branch that HEAD of a Git directory names, as its file says; null where refs are kept otherwise. */
export function readHeadBranch(directory: string): string | null {
  const head = readRegular(join(directory, 'HEAD'), MAX_REF_BYTES) ?? '';
  const [, branch = null] = /^ref: refs\/heads\/(\S+)\n$/.exec(head) ?? [];
  return branch === '.invalid' ? null : branch;
}

/** The commit that HEAD stands on, read from the files alone. */
export function readHead(path: string): string | null {
  return readHeadAt(join(path, '.git'));
}

/** The same, of a Git directory wherever it lies. @param refs where its refs lie, which worktrees share */
export function readHeadAt(directory: string, refs: string = directory): string | null {
  const head = (readRegular(join(directory, 'HEAD'), MAX_REF_BYTES) ?? '').trim();
  if (SHA.test(head)) return head;
  const ref = /^ref: (refs\/heads\/[^\s]+)$/.exec(head)?.[1];
  return ref === undefined || ref.includes('..') ? null : readRefAt(refs, ref);
}
