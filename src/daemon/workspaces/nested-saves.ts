// Repositories inside a workspace: a push carries none of their commits and files, so these are saved before they go.

import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { readRegular } from '../../base/files/safe-read.ts';
import { failure, messageOf, type ToolError } from '../../base/rules/errors.ts';
import { oneLine } from '../../base/rules/text.ts';
import { type Clone, saveUncommitted } from '../../git/clone.ts';
import { cloneEnvironment, git, isUnstarted, tryGit } from '../../git/git.ts';
import { readHeadAt, readHeadsAt, readOwnTagsAt, readStash } from '../../git/git-directory.ts';
import type { WorkspaceTask } from '../ports.ts';
import { WORKSPACES_CODES } from '../rules/codes/workspaces-codes.ts';
import type { Mirror } from './mirror/mirror.ts';

/** More of them, or of the heads of one, are too many to be work: the workspace is set aside then. */
const MAX_NESTED = 100;
const MAX_HEADS = 100;
const MAX_REMOTE = 1000;
const MAX_LIST_BYTES = 256 * 1024 * 1024;
const MAX_LINE_BYTES = 4096;
/** Addresses that lead to another machine, as git takes them. */
const NETWORK = /^(?:https?|ssh|git):\/\/|^[^/:]+@[^/:]+:/;
/** What teams keep is saved by its own rules. */
const TEAMS = `.tool${sep}`;

type Signal = AbortSignal;

function tooMany(path: string, limit: number, things: string): ToolError {
  return failure(WORKSPACES_CODES.nested_repository_unreadable, {
    path,
    why: `it has more than ${limit} ${things}`,
    limit,
  });
}

function optionsOf(clone: Clone, cwd: string, signal: Signal) {
  return { cwd, launch: clone.launch, timeoutMs: clone.timeoutMs, signal, maxBytes: MAX_LIST_BYTES };
}

/** Worktrees of the clone that lie inside it, ignored ones too. */
function linkedIn(path: string): readonly string[] {
  const places = join(path, '.git', 'worktrees');
  if (!existsSync(places)) return [];
  return readdirSync(places).flatMap((name) => {
    const file = readRegular(join(places, name, 'gitdir'), MAX_LINE_BYTES)?.trim();
    const place = file === undefined ? '' : relative(path, dirname(file));
    return place === '' || place.startsWith('..') ? [] : [place];
  });
}

/** A nested repository, relative to the clone. Files of one that git ignores are none of the work; its commits are. */
type NestedRepository = { readonly path: string; readonly isIgnored: boolean };

/** Git lists by these what is in the index and what is not, ignored or not. */
export const ALL_FILES = ['ls-files', '-z', '-t', '--stage', '-o'];

/**
 * Nested repositories below `place`: files that git would list of a repository end in a slash.
 * @param files of the clone itself, where they have been listed
 */
async function listedIn(
  clone: Clone,
  place: string,
  files: string | undefined,
  signal: Signal,
): Promise<readonly NestedRepository[]> {
  const isTop = place === '';
  const top = join(clone.path, place);
  const at = isTop ? [] : [`--git-dir=${join(clone.path, '.git')}`, `--work-tree=${top}`];
  const env = isTop
    ? {}
    : { env: { ...cloneEnvironment(process.env), GIT_INDEX_FILE: join(clone.path, '.git', 'toolcrew-none') } };
  const list = async (...how: string[]): Promise<string> => {
    const words = ALL_FILES.filter((word) => isTop || word !== '--stage');
    return git([...at, ...words, ...how], { ...optionsOf(clone, top, signal), ...env });
  };
  const nested = (text: string): readonly string[] =>
    text.split('\0').flatMap((row) => {
      const name = row.startsWith('?')
        ? row.slice(2)
        : /^[A-Z] 160000 .*\t/.test(row)
          ? row.slice(row.indexOf('\t') + 1)
          : '';
      const path = name.replace(/\/$/, '');
      const isNested = name.endsWith('/') || !row.startsWith('?');
      return name !== '' && isNested && existsSync(join(top, path, '.git')) ? [join(place, path)] : [];
    });
  const all = nested((isTop ? files : undefined) ?? (await list()));
  // Hardly any workspace has one: which of them git ignores is asked only then.
  const shown = all.length === 0 ? new Set() : new Set(nested(await list('--exclude-standard')));
  return [...new Set(all)].map((path) => ({ path, isIgnored: !shown.has(path) }));
}

/** All nested repositories, also those inside others. Throws where there are too many. */
async function nestedIn(clone: Clone, files: string | undefined, signal: Signal): Promise<readonly NestedRepository[]> {
  const found = new Map<string, NestedRepository>();
  const open = ['', ...linkedIn(clone.path)].map((path) => ({ path, isIgnored: false }));
  for (const place of open) {
    const path = join(clone.path, place.path);
    if (place.path !== '') {
      if (found.has(place.path) || place.path.startsWith(TEAMS) || !existsSync(path) || realpathSync(path) !== path)
        continue;
      found.set(place.path, place);
    }
    if (found.size > MAX_NESTED) throw tooMany(clone.path, MAX_NESTED, 'nested repositories');
    const inside = await listedIn(clone, place.path, files, signal);
    open.push(...inside.map((one) => ({ ...one, isIgnored: one.isIgnored || place.isIgnored })));
  }
  return [...found.values()];
}

/** A nested repository, read from files: git, started in it, would start what its own configuration names. */
type Nested = {
  readonly path: string;
  readonly objects: string;
  readonly head: string | null;
  readonly heads: readonly string[];
  readonly remotes: readonly string[];
};

/** Throws where the repository lies elsewhere, or has too many branches. */
async function readNested(clone: Clone, path: string, signal: Signal): Promise<Nested> {
  const own = join(path, '.git');
  const told = lstatSync(own).isDirectory() ? own : /^gitdir: (.+)$/m.exec(readRegular(own, MAX_LINE_BYTES) ?? '')?.[1];
  const directory = told === undefined ? '' : resolve(path, told.trim());
  const isInside =
    directory.startsWith(clone.path + sep) && existsSync(directory) && realpathSync(directory) === directory;
  if (!isInside) {
    const why = 'its Git directory is not in the workspace';
    throw failure(WORKSPACES_CODES.nested_repository_unreadable, { path, why });
  }
  const main = join(clone.path, '.git');
  // A worktree of the workspace's own clone: its branches are those of the clone, and are saved with them.
  const isLinked = directory.startsWith(join(main, 'worktrees') + sep);
  const shared = isLinked ? main : directory;
  const head = readHeadAt(directory, shared);
  const branches = isLinked ? [] : await readHeadsAt(shared, MAX_HEADS + 1);
  if (branches.length > MAX_HEADS) throw tooMany(path, MAX_HEADS, 'branches');
  const stash = isLinked ? [] : readStash(shared, MAX_HEADS);
  const tags = isLinked ? [] : await readOwnTagsAt(shared, MAX_HEADS + 1);
  if (tags.length > MAX_HEADS) throw tooMany(path, MAX_HEADS, 'tags of its own');
  const heads = new Set([head, ...branches, ...tags, ...stash].flatMap((sha) => (sha === null ? [] : [sha])));
  // What the workspace's own clone was given, the mirror knows.
  const names = isLinked ? [] : await networkRemotes(clone, shared, signal);
  const known = names.map((name) => readHeadsAt(shared, MAX_REMOTE, `refs/remotes/${name}`));
  return {
    path,
    objects: join(shared, 'objects'),
    head,
    heads: [...heads],
    remotes: (await Promise.all(known)).flat(),
  };
}

/** Remotes beyond the machine, by their names: what was pushed to a directory may go with the workspace. */
async function networkRemotes(clone: Clone, directory: string, signal: Signal): Promise<readonly string[]> {
  const how = ['--no-includes', '--null', '--get-regexp', '^remote\\..*\\.url$'];
  const told = await tryGit(
    ['config', '--file', join(directory, 'config'), ...how],
    optionsOf(clone, clone.path, signal),
  );
  return told.stdout.split('\0').flatMap((row) => {
    const [, name = '', url = ''] = /^remote\.(.+)\.url\n(.*)$/s.exec(row) ?? [];
    return NETWORK.test(url) && !name.includes('..') ? [name] : [];
  });
}

/** Has git of the workspace's clone, by its settings, see the objects of a nested repository. */
function throughClone(clone: Clone, { path, objects }: Nested, signal: Signal) {
  const env = { ...cloneEnvironment(process.env), GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(objects) };
  return { ...optionsOf(clone, path, signal), env };
}

/** Those heads that no remote on the network is known to have. */
async function unpublishedIn(clone: Clone, nested: Nested, signal: Signal): Promise<readonly string[]> {
  const options = throughClone(clone, nested, signal);
  const where = `--git-dir=${join(clone.path, '.git')}`;
  const own: string[] = [];
  for (const sha of nested.heads) {
    const args = ['rev-list', '--max-count=1', sha, '--not', ...nested.remotes];
    const { exitCode, stdout } = await tryGit([where, ...args], options);
    if (exitCode === 0 && stdout === '') continue;
    // An annotated tag stands for its commit.
    const commit = await tryGit([where, 'rev-parse', '--verify', `${sha}^{commit}`], options);
    own.push(commit.exitCode === 0 ? commit.stdout.trim() : sha);
  }
  return [...new Set(own)];
}

/** Whether all files of the repository are as its last commit has them. */
async function isClean(clone: Clone, nested: Nested, signal: Signal): Promise<boolean> {
  if (nested.head === null) return false;
  const scratch = await mkdtemp(join(clone.path, '.git', 'toolcrew-nested-'));
  try {
    const options = throughClone(clone, nested, signal);
    const env = { ...options.env, GIT_INDEX_FILE: join(scratch, 'index') };
    const where = [`--git-dir=${join(clone.path, '.git')}`, `--work-tree=${nested.path}`];
    const run = (...args: string[]) => tryGit([...where, ...args], { ...options, env });
    if ((await run('read-tree', nested.head)).exitCode !== 0) return false;
    if ((await run('add', '--all', '.')).exitCode !== 0) return false;
    const [now, committed] = [await run('write-tree'), await run('rev-parse', `${nested.head}^{tree}`)];
    return now.exitCode === 0 && committed.exitCode === 0 && now.stdout === committed.stdout;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

export type SavedNested = {
  readonly refs: readonly string[];
  /** Whether nothing is left that is in no ref; otherwise the workspace must stay. */
  readonly isWhole: boolean;
};

/**
 * Saves the commits that no remote has and the files that are not committed of every nested repository, each under a ref
 * of its own. What could not be saved of one is said, and keeps no other from it.
 * @param prefix of the refs: `…/issue-<n>-<life>-<attempt>`
 * @param files of the clone, as `ALL_FILES` lists them; undefined: they are listed
 */
export async function saveNested(
  clone: Clone,
  mirror: Mirror,
  task: WorkspaceTask,
  prefix: string,
  signal: AbortSignal,
  files?: string,
): Promise<SavedNested> {
  const refs: string[] = [];
  let isWhole = true;
  const trying = async (place: string, save: () => Promise<void>) => {
    try {
      await save();
    } catch (error) {
      signal.throwIfAborted();
      if (isUnstarted(error)) throw error;
      isWhole = false;
      task.output(`${place} could not be saved: ${oneLine(messageOf(error), 300)}\n`);
    }
  };
  const keep = async (name: string, what: string, place: string, save: (ref: string) => Promise<boolean>) => {
    const ref = await mirror.freeRef(`${prefix}-${name}`);
    if (await save(ref)) tell(ref, what, place);
  };
  const tell = (ref: string, what: string, place: string) => {
    refs.push(ref);
    task.output(`${what} of ${place} saved as ${ref}\n`);
  };
  const own = prefix.replace(/-\d+-\d+$/, '-');
  const saveOne = async ({ path: place, isIgnored }: NestedRepository) => {
    const path = join(clone.path, place);
    const name = place.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replace(/^-/, '');
    const nested = await readNested(clone, path, signal);
    for (const sha of await unpublishedIn(clone, nested, signal)) {
      const known = await mirror.refsOn(sha);
      const before = known.find((ref) => ref.startsWith(own));
      // Saved by an attempt, or by a daemon that was killed before it could say so: it is named all the same.
      if (before !== undefined) tell(before, 'unpublished commits', place);
      if (before !== undefined || (known.length > 0 && (await mirror.isPublished(sha)))) continue;
      await trying(`commit ${sha} of ${place}`, () =>
        keep(`${name}-commits`, 'unpublished commits', place, async (ref) => {
          await mirror.take({ ...clone, path }, sha, ref, signal);
          return true;
        }),
      );
    }
    if (isIgnored || (await isClean(clone, nested, signal))) return;
    await keep(name, 'files', place, async (ref) => {
      if (!(await saveUncommitted(clone, ref, signal, { path, head: null }))) return false;
      await mirror.take(clone, ref, ref, signal);
      return true;
    });
  };
  await trying('what lies in repositories', async () => {
    for (const place of await nestedIn(clone, files, signal)) await trying(place.path, () => saveOne(place));
  });
  return { refs, isWhole };
}
