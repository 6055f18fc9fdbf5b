// Changes in a writer's worktree that it did not commit.

import { existsSync, lstatSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { failure } from '../../base/rules/errors.ts';
import { hashesOf, isUntouched, type TrackedFile } from '../blob-hashes.ts';
import { asBytes, asText, BYTES, pathBytes } from '../byte-names.ts';
import type { GitOptions } from '../git.ts';
import { copyIndex } from '../index-copy.ts';
import { GIT_CODES } from '../rules/git-codes.ts';
import { SUBMODULE } from '../tracked-files.ts';
import { identity, type Repository, type RunGit } from '../worktree-git.ts';
import { refAt } from './commits.ts';
import { keptRef } from './names.ts';
import { compareEnvironment } from './submodules.ts';
import type { WorkLeftOut } from './team-worktrees-port.ts';
import type { Worktree } from './worktree.ts';

/** What a team keeps for itself is none of its work. */
const LEFT_OUT = ['.tool/teams', '.tool/state', '.tool/cache', '.tool/worktrees'];

const MARKER = /^<{7} /m;

function lines(text: string): string[] {
  return text.split('\0').filter((line) => line !== '');
}

type Env = Readonly<Record<string, string>>;

/** Names are bytes, from the top. */
type Listing = {
  /** All that was changed, by more than a filter, and is not ignored; of a repository in the worktree its own, ending in `/`. */
  readonly names: readonly string[];
  /** What the index has: with `--stage` all of it, with `--unmerged` what a merge left open. */
  readonly entries: readonly Entry[];
};

/** `stage`: 1, 2 and 3 of what a merge left open; 0 of all else. */
type Entry = TrackedFile & { readonly stage: string };

/** What ls-files writes before a name that the index does not have, or has otherwise. */
const CHANGED = ['?', 'R', 'C'];

async function list(
  path: string,
  which: '--stage' | '--unmerged',
  { prefix }: Repository,
  runGit: RunGit,
  env: Env = {},
): Promise<Listing> {
  const how = ['ls-files', '-z', '-t', which, '-m', '-d', '-o', '--exclude-standard'];
  const without = LEFT_OUT.map((place) => `${asBytes(prefix)}${place}/`);
  const names = new Set<string>();
  const entries: Entry[] = [];
  const modified: TrackedFile[] = [];
  const gone = new Set<string>();
  for (const row of lines(await runGit.git(path, how, { env, ...BYTES }))) {
    const [tag = '', text] = [row[0], row.slice(2)];
    const name = tag === '?' ? text : text.slice(text.indexOf('\t') + 1);
    const [mode = '', id = '', stage = ''] = text.slice(0, text.indexOf('\t')).split(' ');
    if (!CHANGED.includes(tag)) entries.push({ mode, id, stage, name });
    else if (!without.some((place) => `${name}/`.startsWith(place))) names.add(name);
    if (tag === 'R') gone.add(name);
    if (tag === 'C' && stage === '0') modified.push({ mode, id, name });
  }
  for (const held of modified) if (!gone.has(held.name) && isUntouched(path, held)) names.delete(held.name);
  return { names: [...names], entries };
}

/** Repositories that the index has as links, though they are no submodules. */
async function linksIn(path: string, { entries }: Listing, runGit: RunGit): Promise<readonly string[]> {
  const links = entries.filter(({ mode }) => mode === SUBMODULE).map(({ name }) => name);
  const inside = links.filter((link) => existsSync(pathBytes(path, `${link}/.git`)));
  if (inside.length === 0) return [];
  const how = ['config', '--file', '.gitmodules', '-z', '--get-regexp', '^submodule\\..*\\.path$'];
  const known = lines((await runGit.try(path, how, BYTES)).stdout).map((row) => row.slice(row.indexOf('\n') + 1));
  return inside.filter((link) => !known.includes(link)).map((link) => `${link}/`);
}

type SubmoduleChange = { readonly name: string; readonly env: Env; readonly files: readonly string[] };

/** Files of submodules that are not as they were put there, told from the submodule. */
async function submoduleChanges(
  worktree: Worktree,
  { entries }: Listing,
  repository: Repository,
  runGit: RunGit,
): Promise<readonly SubmoduleChange[]> {
  const found: SubmoduleChange[] = [];
  for (const { name } of entries.filter(({ mode }) => mode === SUBMODULE)) {
    const env = await compareEnvironment(worktree, name, runGit);
    if (env === null) continue;
    const place = pathBytes(worktree.path, name).toString();
    const { names } = await list(place, '--stage', { ...repository, prefix: '' }, runGit, env);
    if (names.length > 0) found.push({ name, env, files: names });
  }
  return found;
}

function namesOf(changes: readonly SubmoduleChange[]): readonly string[] {
  return changes.flatMap(({ name, files }) => files.map((file) => `${name}/${file}`));
}

/** From now on what submodules hold is no change: it was kept. */
async function settleSubmodules(worktree: Worktree, repository: Repository, runGit: RunGit): Promise<void> {
  const listing = await list(worktree.path, '--stage', repository, runGit);
  for (const { name, env, files } of await submoduleChanges(worktree, listing, repository, runGit))
    await stage(pathBytes(worktree.path, name).toString(), files.filter(isFile), runGit, env);
}

function isFile(name: string): boolean {
  return !name.endsWith('/');
}

/**
 * What no commit of a worktree takes in: repositories in it and changed files of submodules, from its top, and those of the
 * files that git ignores and does not have.
 * @param root where in the worktree the files are told from
 */
export async function leftOutOf(
  worktree: Worktree,
  root: string,
  files: readonly string[],
  repository: Repository,
  runGit: RunGit,
): Promise<WorkLeftOut> {
  const { path } = worktree;
  const listing = await list(path, '--stage', repository, runGit);
  const { names, entries } = listing;
  const inside = [...names, ...(await linksIn(path, listing, runGit))].filter((name) => name.endsWith('/'));
  // What git names it does not ignore.
  const named = new Set([...names, ...entries.map(({ name }) => name)]);
  const others = files.filter((file) => !named.has(asBytes(`${repository.prefix}${file}`)));
  return {
    repositories: inside.map((name) => asText(name.slice(0, -1))),
    ignored: await ignoredOf(root, others, runGit),
    inSubmodules: namesOf(await submoduleChanges(worktree, listing, repository, runGit)).map(asText),
  };
}

/** Those of the paths, from a directory of the worktree, that are files and that git ignores and does not have. */
async function ignoredOf(root: string, paths: readonly string[], runGit: RunGit): Promise<readonly string[]> {
  const files = paths.filter((path) => {
    try {
      return lstatSync(join(root, path)).isFile();
    } catch {
      return false;
    }
  });
  if (files.length === 0) return [];
  return ignored(root, files, runGit);
}

async function ignored(root: string, files: readonly string[], runGit: RunGit, options: Partial<GitOptions> = {}) {
  // So that none is taken for a pattern.
  const input = files.map((file) => `./${file}\0`).join('');
  const told = lines((await runGit.try(root, ['check-ignore', '-z', '--stdin'], { ...options, input })).stdout);
  return told.map((file) => file.slice('./'.length));
}

/** The files in a repository inside the worktree, and in those inside that, by the ignore rules of the worktree's. */
async function filesBelow(
  { path, admin }: Worktree,
  name: string,
  runGit: RunGit,
  env: Env,
): Promise<readonly string[]> {
  const place = pathBytes(path, name.slice(0, -1)).toString();
  if (!existsSync(place)) return [];
  // An index that is not there: all files are told, known to the repository or not.
  const at = [`--git-dir=${admin}`, `--work-tree=${place}`];
  const options = { env: { ...env, GIT_INDEX_FILE: `${env.GIT_INDEX_FILE ?? ''}.none` }, ...BYTES };
  const listed = await runGit.try(place, [...at, 'ls-files', '-z', '-o', '--exclude-standard'], options);
  const all = lines(listed.stdout).map((file) => `${name}${file}`);
  const without = new Set(await ignored(path, all, runGit, options));
  const found = all.filter((file) => !without.has(file));
  const deeper = found
    .filter((file) => file.endsWith('/'))
    .map((file) => filesBelow({ path, admin }, file, runGit, env));
  return [...found.filter(isFile), ...(await Promise.all(deeper)).flat()];
}

/** Has the index hold these, told from the top as bytes. */
async function stage(path: string, files: readonly string[], runGit: RunGit, env: Env = {}): Promise<void> {
  const gone = new Set(files.filter((file) => isGone(path, file)));
  const update = async (how: readonly string[], some: readonly string[]) => {
    const input = some.map((file) => `${file}\0`).join('');
    if (input !== '') await runGit.git(path, ['update-index', '-z', ...how, '--stdin'], { env, input, ...BYTES });
  };
  await update(['--force-remove'], [...gone]);
  await update(
    ['--add', '--remove', '--replace'],
    files.filter((file) => !gone.has(file)),
  );
}

/** Also where a directory, or a link to one, has taken the place: git would take the name for what is in there. */
function isGone(top: string, file: string): boolean {
  try {
    const real = realpathSync(top);
    const directory = dirname(file);
    if (directory !== '.' && realpathSync(pathBytes(real, directory), 'latin1') !== `${asBytes(real)}/${directory}`)
      return true;
    return lstatSync(pathBytes(top, file)).isDirectory() && !existsSync(pathBytes(top, `${file}/.git`));
  } catch {
    return true;
  }
}

/** Files that a merge left with both sides in them. */
function conflictedFiles(top: string, { entries }: Listing): string[] {
  const files = new Set(entries.map(({ name }) => name));
  return [...files].filter((file) => {
    try {
      return MARKER.test(readFileSync(pathBytes(top, file), 'utf8'));
    } catch {
      return false;
    }
  });
}

/** Files that a merge left open and as one side has them: git could not bring both together, and nobody has said which stays. */
async function undecidedFiles(top: string, { entries }: Listing, runGit: RunGit): Promise<string[]> {
  const files = new Set(entries.filter(({ stage }) => stage !== '0').map(({ name }) => name));
  const there = [...files].filter((file) => {
    try {
      return lstatSync(pathBytes(top, file)).isFile();
    } catch {
      return false;
    }
  });
  const ids = (await hashesOf(top, there, runGit)) ?? [];
  return there.filter((file, index) =>
    entries.some(({ name, id, stage }) => name === file && stage !== '1' && id === ids[index]),
  );
}

/** Whether the index holds what HEAD does. */
async function isAsCommitted(path: string, runGit: RunGit): Promise<boolean> {
  const how = ['diff-index', '--cached', '--quiet', '--ignore-submodules=none', 'HEAD'];
  return (await runGit.try(path, how)).exitCode === 0;
}

/** Paths of all that differs from its last commit, from the top; what git ignores left out. */
export async function changedIn(
  { path }: Worktree,
  repository: Repository,
  runGit: RunGit,
): Promise<readonly string[]> {
  const staged = ['diff-index', '--cached', '--name-only', '--no-renames', '-z', '--ignore-submodules=none', 'HEAD'];
  const { names: changed } = await list(path, '--unmerged', repository, runGit);
  const names = [...changed, ...lines(await runGit.git(path, staged, BYTES))];
  return names.map(asText);
}

/** Commits all of it; null when there is nothing. Throws while files hold conflict markers. */
export async function commitAll(
  { path, admin }: Worktree,
  ref: string,
  message: string,
  team: string,
  member: string,
  repository: Repository,
  runGit: RunGit,
): Promise<string | null> {
  const listing = await list(path, '--unmerged', repository, runGit);
  const conflicted = conflictedFiles(path, listing).map(asText);
  if (conflicted.length > 0) throw failure(GIT_CODES.conflict_unresolved, { path, member, files: conflicted });
  const undecided = (await undecidedFiles(path, listing, runGit)).map(asText);
  if (undecided.length > 0) throw failure(GIT_CODES.conflict_undecided, { path, member, files: undecided });
  const files = listing.names.filter(isFile);
  await stage(path, files, runGit);
  const isNothing = async () => !existsSync(join(admin, 'MERGE_HEAD')) && (await isAsCommitted(path, runGit));
  if (files.length === 0 && (await isNothing())) return null;
  const how = ['--quiet', '--no-verify', '--no-gpg-sign', '--cleanup=whitespace'];
  try {
    await runGit.git(path, ['-c', 'rerere.enabled=false', 'commit', ...how, '--file=-'], {
      env: identity(team, member),
      input: message,
    });
  } catch (error) {
    // What was staged may be what there is already.
    if (await isNothing()) return null;
    throw error;
  }
  return refAt(ref, repository, runGit);
}

/**
 * A commit of all of it that no branch has, worktree and index left alone; null when there is nothing. The same work on
 * the same commit gives the same one. What lies in repositories inside the worktree is part of it, as is what was changed in
 * submodules: as files in their place.
 * @param further files, from the top, which git ignores
 */
export async function snapshot(
  worktree: Worktree,
  team: string,
  member: string,
  repository: Repository,
  runGit: RunGit,
  further: readonly string[] = [],
): Promise<string | null> {
  const { path, admin } = worktree;
  const scratch = mkdtempSync(join(tmpdir(), 'toolcrew-index-'));
  try {
    const index = join(scratch, 'index');
    copyIndex(join(admin, 'index'), index);
    const env = { GIT_INDEX_FILE: index };
    const listing = await list(path, '--stage', repository, runGit, env);
    const beside = namesOf(await submoduleChanges(worktree, listing, repository, runGit));
    const names = [...listing.names, ...(await linksIn(path, listing, runGit)), ...beside, ...further.map(asBytes)];
    if (names.length === 0 && (await isAsCommitted(path, runGit))) return null;
    const inside = names.filter((name) => name.endsWith('/')).map((name) => filesBelow(worktree, name, runGit, env));
    const files = [...names.filter(isFile), ...(await Promise.all(inside)).flat()];
    await stage(path, files, runGit, env);
    const tree = (await runGit.git(path, ['write-tree'], { env })).trim();
    const told = await runGit.git(path, ['show', '--no-patch', '--format=%H %T %ct', 'HEAD']);
    const [head = '', headTree = '', seconds = ''] = told.trim().split(' ');
    if (tree === headTree) return null;
    const date = `${seconds} +0000`;
    const by = { ...identity(team, member), GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
    const input = `Work of ${member} that was not committed\n`;
    return (await runGit.git(path, ['commit-tree', tree, '-p', head, '-F', '-'], { env: by, input })).trim();
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/**
 * Keeps that commit under a ref, and gives it.
 * @param at what is kept where there is none: the commit that the worktree stands at
 */
export async function saveSnapshot(
  worktree: Worktree,
  at: string,
  team: string,
  member: string,
  repository: Repository,
  runGit: RunGit,
  further: readonly string[] = [],
): Promise<string> {
  const all = (await snapshot(worktree, team, member, repository, runGit, further)) ?? at;
  const kept = keptRef('saved', team, member, all);
  await runGit.git(worktree.path, ['update-ref', kept, all]);
  return kept;
}

/**
 * The same of what an accepted task leaves out: the next task has nothing to do with what submodules hold by then.
 * @param ignored files, from the project's root
 */
export async function saveLeftOut(
  worktree: Worktree,
  at: string,
  team: string,
  member: string,
  repository: Repository,
  runGit: RunGit,
  ignored: readonly string[],
): Promise<string> {
  const paths = ignored.map((path) => `${repository.prefix}${path}`);
  const kept = await saveSnapshot(worktree, at, team, member, repository, runGit, paths);
  await settleSubmodules(worktree, repository, runGit);
  return kept;
}
