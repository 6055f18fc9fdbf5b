// Files that git reports as modified although nobody changed them, because an attribute for line endings was added later.

import { lutimes, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { quotedName } from './blob-hashes.ts';
import { asBytes, BYTES } from './byte-names.ts';
import { type GitOptions, git, tryGit } from './git.ts';

const STATUS = ['status', '--porcelain=v2', '-z', '--untracked-files=no', '--ignore-submodules=all'];
/** A regular file, its mode as in the index, that alone the worktree has otherwise. */
const MODIFIED = /^1 .M N\.\.\. \d+ (100\d+) \1 [0-9a-f]+ [0-9a-f]+ (.+)$/s;
/** The same, the index as HEAD has it. */
const UNSTAGED = /^1 \.M N\.\.\. (100\d+) \1 \1 ([0-9a-f]+) \2 (.+)$/s;
/** A change between a commit and the index, its modes the same. */
const CHANGED = /^:(100\d+) \1 ([0-9a-f]+) [0-9a-f]+ M$/;
/** The lists of a large repository are read whole. */
export const LIST_BYTES = 64 * 1024 * 1024;

/** Where git looks, when that is another place than its own: arguments before the command. */
type Where = readonly string[];

/**
 * Those of the files, names in bytes from the top, that hold to the byte what git writes for the index's entry.
 * @param directory the Git directory, where what git writes is put for the while
 */
async function asWritten(
  names: readonly string[],
  directory: string,
  options: GitOptions,
  where: Where = [],
): Promise<readonly string[]> {
  if (names.length === 0) return [];
  const scratch = await mkdtemp(join(directory, 'toolcrew-compare-'));
  try {
    const more = { ...options, ...BYTES, maxBytes: LIST_BYTES };
    const input = names.map((name) => `${name}\0`).join('');
    const written = await tryGit([...where, 'checkout-index', '-z', '--stdin', `--prefix=${scratch}/`], {
      ...more,
      input,
    });
    if (written.exitCode !== 0) return [];
    const places = names.flatMap((name) => [name, `${asBytes(scratch)}/${name}`]);
    const hashed = await tryGit(['hash-object', '--no-filters', '--stdin-paths'], {
      ...more,
      input: places.map(quotedName).join(''),
    });
    const ids = hashed.stdout.trim().split('\n');
    if (hashed.exitCode !== 0 || ids.length !== places.length) return [];
    return names.filter((_, index) => ids[2 * index] === ids[2 * index + 1]);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Whether all that the rows of a status name are files nobody changed. */
export async function areUntouched(rows: readonly string[], options: GitOptions): Promise<boolean> {
  const names: string[] = [];
  for (const row of rows) {
    const name = UNSTAGED.exec(row)?.[3];
    if (name === undefined) return false;
    names.push(name);
  }
  return (await asWritten(names, join(options.cwd, '.git'), options)).length === names.length;
}

/**
 * Puts the files that differ in the index from a commit, and that nobody changed, back into the index as the commit has
 * them. The index is the one that the environment names.
 * @param scratch a directory in the Git directory
 */
export async function leaveOutUntouched(
  head: string,
  scratch: string,
  options: GitOptions,
  where: Where,
): Promise<boolean> {
  const more = { ...options, ...BYTES, maxBytes: LIST_BYTES };
  const listed = await git(
    [...where, 'diff-index', '--cached', '--raw', '-z', '--no-renames', '--no-abbrev', head],
    more,
  );
  const fields = listed.split('\0');
  const entries = new Map<string, string>();
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, mode, id] = CHANGED.exec(fields[at] ?? '') ?? [];
    const name = fields[at + 1] ?? '';
    if (mode !== undefined) entries.set(name, `${mode} ${id}\t${name}\0`);
  }
  if (entries.size === 0) return false;
  const base = { ...options, env: { ...options.env, GIT_INDEX_FILE: join(scratch, 'base') } };
  await git([...where, 'read-tree', head], base);
  const untouched = await asWritten([...entries.keys()], scratch, base, where);
  if (untouched.length === 0) return false;
  const input = untouched.map((name) => entries.get(name) ?? '').join('');
  await git([...where, 'update-index', '-z', '--index-info'], { ...more, input });
  return true;
}

/**
 * Makes git report files that nobody changed as unchanged: writes them again, and dates the index after them, so that
 * git trusts their dates. False when there are none. `dateIndex` with the same options ends that.
 */
export async function refreshUntouched(options: GitOptions): Promise<boolean> {
  const more = { ...options, ...BYTES, maxBytes: LIST_BYTES };
  const rows = (await git(STATUS, more)).split('\0');
  const names = rows.flatMap((row) => MODIFIED.exec(row)?.[2] ?? []);
  const untouched = await asWritten(names, join(options.cwd, '.git'), options);
  if (untouched.length === 0) return false;
  const input = untouched.map((name) => `${name}\0`).join('');
  await git(['checkout-index', '--force', '--index', '-z', '--stdin'], { ...more, input });
  await dateIndex(options, 2);
  return true;
}

/** Dates the index: by whole seconds git tells whether a file may have changed after it. No link is followed. */
export async function dateIndex({ cwd }: GitOptions, secondsAhead: number): Promise<void> {
  const at = Date.now() / 1000 + secondsAhead;
  await lutimes(join(cwd, '.git', 'index'), at, at);
}
