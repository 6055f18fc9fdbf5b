// Git in a workspace's clone. Once an agent has been there, every command runs inside its namespaces: what it planted
// reaches no further than it did itself.

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { shellWord } from '../base/rules/command-line.ts';
import { failure } from '../base/rules/errors.ts';
import { lastLines } from '../base/rules/text.ts';
import { asText, BYTES } from './byte-names.ts';
import { hasHistoryBetween, shallowCommits } from './clone-depth.ts';
import { cloneEnvironment, FILES, type GitOptions, git, type Launch, tryGit } from './git.ts';
import { unfinishedOperation } from './git-directory.ts';
import { copyIndex } from './index-copy.ts';
import { type Author, authorVariables } from './rules/author.ts';
import { GIT_CODES } from './rules/git-codes.ts';
import { areUntouched, dateIndex, LIST_BYTES, leaveOutUntouched, refreshUntouched } from './untouched.ts';

export type Clone = {
  readonly path: string;
  /** Has git run where the agent ran; undefined as long as none has been there, and where there are no namespaces. */
  readonly launch: Launch | undefined;
  readonly timeoutMs: number;
  /** Of the commits that are made in it; undefined: the usual one. */
  readonly author?: Author | undefined;
};

/** Where pushes from a workspace go: no transport has this name, so git refuses. */
export const NO_PUSH = 'no-push://the-daemon-pushes';

const CLEAN = ['clean', '--quiet', '--force', '-d'];

/** Git does not know the words. */
const USAGE = 129;

function optionsFor({ path, launch, timeoutMs }: Clone, signal?: AbortSignal): GitOptions {
  return { cwd: path, launch, timeoutMs, signal };
}

/**
 * Clones what the mirror shows. Its remote can be fetched from, never pushed to. No file is shared with the mirror: what
 * an agent does to the objects of its clone stays there.
 */
export async function cloneMirror(
  source: string,
  path: string,
  signal: AbortSignal,
  files: 'with files' | 'without files' = 'with files',
): Promise<void> {
  const push = ['--config', `remote.origin.pushurl=${NO_PUSH}`];
  const bare = files === 'without files' ? ['--no-checkout'] : [];
  // Without a template: its example hooks would be most of the files of a small clone.
  const args = ['clone', '--quiet', '--no-hardlinks', '--template=', ...bare, ...push];
  await git(['-c', FILES, ...args, source, path], { cwd: path, signal });
  await mkdir(join(path, '.git', 'info'), { recursive: true });
}

/** Takes the push addresses and credentials out of a clone that somebody's own script made. */
export async function removePushAccess(path: string, signal: AbortSignal): Promise<void> {
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

export type CloneStatus = { readonly oid: string | null; readonly branch: string | null; readonly dirty: boolean };

/** So much a list of all files may take, those in ignored directories with them. */
const FILES_BYTES = 4 * LIST_BYTES;
const STATUS = ['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=normal', '--ignore-submodules=all'];

export async function statusOf(clone: Clone, signal: AbortSignal): Promise<CloneStatus> {
  const options = optionsFor(clone, signal);
  return readStatus(await git(STATUS, { ...options, ...BYTES, maxBytes: LIST_BYTES }), options);
}

/** The status, with all that git lists by these words: for each start of git, namespaces are made that cost more than it does. */
export async function statusWithFiles(
  clone: Clone,
  list: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly status: CloneStatus; readonly files: string }> {
  const options = optionsFor(clone, signal);
  const both = `!git ${STATUS.join(' ')} && printf '\\0' && git ${list.map(shellWord).join(' ')}`;
  const args = ['-c', `alias.toolcrew-both=${both}`, 'toolcrew-both'];
  const text = await git(args, { ...options, ...BYTES, maxBytes: FILES_BYTES });
  // Each row of the status ends in NUL, and none is empty.
  const end = text.indexOf('\0\0');
  return { status: await readStatus(text.slice(0, end), options), files: asText(text.slice(end + 2)) };
}

async function readStatus(text: string, options: GitOptions): Promise<CloneStatus> {
  const rows = text.split('\0').filter((row) => row !== '');
  const header = (name: string) => {
    const start = `# branch.${name} `;
    const row = rows.find((one) => one.startsWith(start));
    return row === undefined ? undefined : asText(row.slice(start.length));
  };
  const oid = header('oid');
  if (oid === undefined)
    throw failure(GIT_CODES.git_failed, { command: 'status', directory: options.cwd, said: 'it named no commit' });
  const branch = header('head');
  const changes = rows.filter((row) => !row.startsWith('# '));
  return {
    oid: oid === '(initial)' ? null : oid,
    branch: branch === undefined || branch === '(detached)' ? null : branch,
    dirty: changes.length > 0 && !(await areUntouched(changes, options)),
  };
}

export async function refOf(clone: Clone, ref: string, signal?: AbortSignal): Promise<string | null> {
  const { exitCode, stdout } = await tryGit(
    ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`],
    optionsFor(clone, signal),
  );
  return exitCode === 0 ? stdout.trim() : null;
}

/**
 * Makes a commit of all changes that are not committed, untracked files too, and puts it under `ref`; neither the files
 * nor the index of the clone change. False when there is nothing to save.
 * @param worktree in place of the clone's own files: a directory, and the commit that it began from, null: HEAD's
 */
export async function saveUncommitted(
  clone: Clone,
  ref: string,
  signal: AbortSignal,
  worktree: { readonly path: string; readonly head: string | null } | null = null,
): Promise<boolean> {
  // In the Git directory, the one place that git can write to in namespaces and does not add.
  const scratch = await mkdtemp(join(clone.path, '.git', 'toolcrew-save-'));
  try {
    const env = {
      ...cloneEnvironment(process.env),
      ...authorVariables(clone.author),
      GIT_INDEX_FILE: join(scratch, 'index'),
    };
    const options = { ...optionsFor(clone, signal), env, ...(worktree === null ? {} : { cwd: worktree.path }) };
    // By the clone's own settings: a worktree's may be somebody else's.
    const where = worktree === null ? [] : [`--git-dir=${join(clone.path, '.git')}`, `--work-tree=${worktree.path}`];
    const head = worktree?.head ?? (await refOf(clone, 'HEAD', signal));
    if (head !== null) await git([...where, 'read-tree', head], options);
    const added = await tryGit([...where, 'add', '--all', '--ignore-errors', '.'], options);
    // 1: some file could not be read; the others are saved.
    if (added.exitCode !== 0 && added.exitCode !== 1)
      throw failure(GIT_CODES.git_failed, { command: 'add', said: lastLines(added.stderr, 8) });
    if (head !== null) await leaveOutUntouched(head, scratch, options, where);
    const tree = (await git([...where, 'write-tree'], options)).trim();
    if (head !== null && tree === (await git([...where, 'rev-parse', `${head}^{tree}`], options)).trim()) return false;
    const parents = head === null ? [] : ['-p', head];
    const commit = (
      await git([...where, 'commit-tree', tree, ...parents, '-m', `Uncommitted work, saved as ${ref}`], options)
    ).trim();
    await git([...where, 'update-ref', ref, commit], options);
    return true;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** The tree of all files as they are, untracked ones too; neither the files nor the index of the clone change. */
export async function writeTree(clone: Clone, signal: AbortSignal): Promise<string> {
  const scratch = await mkdtemp(join(clone.path, '.git', 'toolcrew-tree-'));
  try {
    const index = join(scratch, 'index');
    copyIndex(join(clone.path, '.git', 'index'), index);
    const env = { ...cloneEnvironment(process.env), GIT_INDEX_FILE: index };
    const options = { ...optionsFor(clone, signal), env };
    const added = await tryGit(['add', '--all', '--ignore-errors', '.'], options);
    // 1: some file could not be read.
    if (added.exitCode !== 0 && added.exitCode !== 1)
      throw failure(GIT_CODES.git_failed, { command: 'add', said: lastLines(added.stderr, 8) });
    return (await git(['write-tree'], options)).trim();
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Commands of git one after the other, until one fails: for each start of git, namespaces are made that cost more than it does. */
async function gitEach(commands: readonly (readonly string[])[], options: GitOptions): Promise<void> {
  const line = commands.map((args) => `git ${args.map(shellWord).join(' ')}`).join(' && ');
  await git(['-c', `alias.toolcrew-each=!${line}`, 'toolcrew-each'], options);
}

/**
 * Puts the files back to a tree, on a branch at a commit, or on no branch; files that git ignores stay.
 * @param tree or a commit that has it
 * @param before commands of git that come first
 */
export async function restoreTree(
  clone: Clone,
  { head, branch, tree }: { readonly head: string; readonly branch: string | null; readonly tree: string },
  signal: AbortSignal,
  before: readonly (readonly string[])[] = [],
): Promise<void> {
  const where = branch === null ? ['--detach'] : ['--no-track', '-B', branch];
  const checkout = ['checkout', '--quiet', '--force', ...where, head];
  const moves =
    tree === head
      ? []
      : [
          ['read-tree', '--reset', '-u', tree],
          ['read-tree', head],
        ];
  await gitEach([...before, checkout, CLEAN, ...moves], optionsFor(clone, signal));
}

/** Whether there is such a commit. */
export async function hasCommit(clone: Clone, sha: string, signal: AbortSignal): Promise<boolean> {
  return (await tryGit(['cat-file', '-e', `${sha}^{commit}`], optionsFor(clone, signal))).exitCode === 0;
}

/** The commit that a tag or a commit of that hash stands for; null: none. */
export async function commitOf(clone: Clone, sha: string, signal: AbortSignal): Promise<string | null> {
  const { exitCode, stdout } = await tryGit(['rev-parse', '--verify', `${sha}^{commit}`], optionsFor(clone, signal));
  return exitCode === 0 ? stdout.trim() : null;
}

/** The status, with those of the named refs that exist. */
export async function statusWithRefs(
  clone: Clone,
  names: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly status: CloneStatus; readonly refs: ReadonlySet<string> }> {
  const { status, files } = await statusWithFiles(clone, ['for-each-ref', '--format=%(refname)', ...names], signal);
  return { status, refs: new Set(files.split('\n').filter((name) => names.includes(name))) };
}

/** Starts the branch anew from `start`, changed files overwritten. */
export async function startBranch(clone: Clone, branch: string, start: string, signal: AbortSignal): Promise<void> {
  await git(['checkout', '--quiet', '--force', '--no-track', '-B', branch, start], optionsFor(clone, signal));
}

/** Moves the branch to where HEAD stands; changes in the files stay. */
export async function moveBranchToHead(clone: Clone, branch: string, signal: AbortSignal): Promise<void> {
  await git(['checkout', '--quiet', '--no-track', '-B', branch], optionsFor(clone, signal));
}

/** Removes files that git does not know; those that it ignores stay. */
export async function removeUntracked(clone: Clone, signal: AbortSignal): Promise<void> {
  await git(CLEAN, optionsFor(clone, signal));
}

export async function fetchOrigin(clone: Clone, signal: AbortSignal, ...more: readonly string[]): Promise<void> {
  const how = ['--quiet', '--prune', '--no-recurse-submodules', '--no-write-fetch-head', '--update-shallow'];
  await git(['fetch', ...how, ...more, 'origin'], optionsFor(clone, signal));
}

/** Whether the clone has all in which the histories of the two differ; one that ends early may not. */
export function hasAllBetween(clone: Clone, first: string, second: string, signal: AbortSignal): Promise<boolean> {
  const options = { ...optionsFor(clone, signal), maxBytes: LIST_BYTES };
  return hasHistoryBetween(shallowCommits(join(clone.path, '.git')), first, second, (args) => tryGit(args, options));
}

/** Whether the first commit is an ancestor of the second, or the same. */
export async function isAncestor(clone: Clone, first: string, second: string, signal: AbortSignal): Promise<boolean> {
  const { exitCode } = await tryGit(['merge-base', '--is-ancestor', first, second], optionsFor(clone, signal));
  return exitCode === 0;
}

/** Whether the two have any commit in common. */
export async function areRelated(clone: Clone, first: string, second: string, signal: AbortSignal): Promise<boolean> {
  return (await tryGit(['merge-base', first, second], optionsFor(clone, signal))).exitCode !== 1;
}

/**
 * Merges `from` when that is clean; otherwise everything stays as it was. No merge may be under way. What differs by
 * attributes alone, files or what was committed, is in no merge's way. Git's own merge, when it cannot begin, resets
 * all files first and may fail to put back what was not committed: here the merge is made apart, then moved to.
 */
export async function mergeIfClean(clone: Clone, from: string, signal: AbortSignal): Promise<boolean> {
  const options = {
    ...optionsFor(clone, signal),
    env: { ...cloneEnvironment(process.env), ...authorVariables(clone.author) },
  };
  if (await isAncestor(clone, from, 'HEAD', signal)) return true;
  if (await isAncestor(clone, 'HEAD', from, signal)) return moveForward(from, options);
  // With the second, what one side alone changed gets the endings of its attributes as well: the last resort.
  for (const renormalize of ['false', 'true']) {
    const merge = ['-c', `merge.renormalize=${renormalize}`, 'merge-tree', '--write-tree', 'HEAD', from];
    const { exitCode, stdout } = await tryGit(merge, options);
    signal.throwIfAborted();
    if (exitCode === USAGE) return mergeInPlace(clone, from, options);
    if (exitCode !== 0) continue;
    const message = `Merge ${from.replace(/^refs\/(heads|remotes)\//, '')}`;
    const commit = ['commit-tree', stdout.trim(), '-p', 'HEAD', '-p', from, '-m', message];
    return moveForward((await git(commit, options)).trim(), options);
  }
  return false;
}

/** Files that would be lost by it keep everything as it is. */
async function moveForward(to: string, options: GitOptions): Promise<boolean> {
  const move = async () => (await tryGit(['merge', '--quiet', '--ff-only', to], options)).exitCode === 0;
  if (await move()) return true;
  if (!(await refreshUntouched(options))) return false;
  try {
    return await move();
  } finally {
    await dateIndex(options, 0);
  }
}

/** For git before 2.38, which cannot merge apart, and does not reset before it begins. */
async function mergeInPlace(clone: Clone, from: string, options: GitOptions): Promise<boolean> {
  const { exitCode } = await tryGit(['merge', '--quiet', '--no-edit', from], options);
  if (exitCode === 0) return true;
  await abortMerge(clone);
  return false;
}

/** Whether it could; files that the merge did not touch stay as they are. */
export async function abortMerge(clone: Clone): Promise<boolean> {
  const options = optionsFor(clone);
  const abort = async () => (await tryGit(['merge', '--abort'], options)).exitCode === 0;
  if (await abort()) return true;
  if ((await unfinishedOperation(clone.path)) !== 'merge' || !(await refreshUntouched(options))) return false;
  return abort();
}

/** Moves to the branch, made from where the clone stands when it does not exist; changes in the files come along. */
export async function moveToBranch(clone: Clone, branch: string, signal: AbortSignal): Promise<void> {
  const exists = (await refOf(clone, `refs/heads/${branch}`, signal)) !== null;
  await git(['checkout', '--quiet', ...(exists ? [branch] : ['-b', branch])], optionsFor(clone, signal));
}

/** Makes files of the pointers of LFS whose objects the clone has; gives git's words when that fails. */
export async function checkoutLfs(clone: Clone, signal: AbortSignal): Promise<string | null> {
  const { exitCode, stdout, stderr } = await tryGit(['lfs', 'checkout'], optionsFor(clone, signal));
  signal.throwIfAborted();
  return exitCode === 0 ? null : lastLines(stderr || stdout, 4);
}
