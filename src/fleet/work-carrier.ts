// Work of an issue on its way between machines: commits and files of a workspace as a bundle of git, both ways.

import { copyFile, link, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { failure, messageOf } from '../base/rules/errors.ts';
import { lastLines } from '../base/rules/text.ts';
import type { WorkspaceTask } from '../daemon/ports.ts';
import { commitsOf, putWork } from '../daemon/workspaces/late-clone.ts';
import type { Mirror } from '../daemon/workspaces/mirror/mirror.ts';
import type { WorkspacePlaces } from '../daemon/workspaces/workspace-places.ts';
import { worksOf } from '../daemon/workspaces/workspace-saves.ts';
import { readBundleHeads } from '../git/bundle-heads.ts';
import { type Clone, statusOf, writeTree } from '../git/clone.ts';
import { cloneEnvironment, type GitResult, git, tryGit } from '../git/git.ts';
import { readHead, readRefAt } from '../git/git-directory.ts';
import { authorVariables } from '../git/rules/author.ts';
import { GIT_CODES } from '../git/rules/git-codes.ts';
import { type TreeSize, treeSizeUpTo } from '../git/tree-size.ts';
import { FLEET_CODES } from './rules/fleet-codes.ts';
import type { WorkCommits } from './wire.ts';

export type CarrierOptions = {
  readonly mirror: Mirror;
  readonly places: WorkspacePlaces;
};

/** What a worker begins with. */
export type PackedWork = WorkCommits & {
  readonly defaultBranch: string;
  readonly base: string;
  /** Where the default branch stands in the bundle, which holds nothing else; null: it holds more. */
  readonly defaultHead: string | null;
  /** The bundle. */
  readonly path: string;
};

const GITMODULES = '.gitmodules';
/** In the repository that a worker's copy is cloned from. */
const HANDED_OUT = 'refs/toolcrew/handed-out';

/** A commit that is handed in may have so many files more than its base. */
const MOST_FILES = 100_000;
/** And so many times the bytes of the largest bundle more. */
const BYTES_FACTOR = 4;

/** Whether the default branch holds all of it. */
function isOnDefault({ head, files, base }: WorkCommits & { readonly base: string }): boolean {
  return files === null && head === base;
}

/** Some file systems have no hard links. False: neither can be had. */
async function linkOrCopy(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to).catch(() => copyFile(from, to));
    return true;
  } catch {
    return false;
  }
}

export class WorkCarrier {
  readonly #options: CarrierOptions;
  /** The bundle of the default branch that was made last. */
  #default: { readonly sha: string; readonly path: string; readonly made: Promise<boolean> } | null = null;

  constructor(options: CarrierOptions) {
    this.#options = options;
  }

  #git(args: readonly string[], signal: AbortSignal): Promise<string> {
    const { path } = this.#options.mirror;
    return git(args, { cwd: path, env: cloneEnvironment(process.env), signal });
  }

  #try(args: readonly string[], signal: AbortSignal): Promise<GitResult> {
    const { path } = this.#options.mirror;
    return tryGit(args, { cwd: path, env: cloneEnvironment(process.env), signal });
  }

  /** All of a workspace as commits that the mirror has. No agent may be at work in it. */
  async read(task: WorkspaceTask, signal: AbortSignal): Promise<WorkCommits> {
    const { mirror, places } = this.#options;
    const clone = await commitsOf(places, mirror, task, signal);
    const { oid, dirty } = clone.settled ?? (await statusOf(clone, signal));
    places.settle(task.issue, clone.settled);
    if (oid === null)
      throw failure(GIT_CODES.git_failed, { command: 'status', directory: clone.path, said: 'no commit is there' });
    const head = oid;
    const files = dirty ? await this.#commitFiles(clone, head, signal) : null;
    const [tip, ref] = [files ?? head, `${worksOf(task.issue)}/${files ?? head}`];
    if (!(await mirror.holds(tip))) await mirror.take(clone, tip, ref, signal);
    else if (!(await mirror.hasRef(ref, tip))) await mirror.keep(tip, ref);
    return { head, files };
  }

  /** All files as a commit on top of the one that they began from; null: they are its own. */
  async #commitFiles(clone: Clone, head: string, signal: AbortSignal): Promise<string | null> {
    const { launch, timeoutMs } = clone;
    const env = { ...cloneEnvironment(process.env), ...authorVariables(clone.author) };
    const options = { cwd: clone.path, launch, timeoutMs, env, signal };
    const tree = await writeTree(clone, signal);
    if (tree === (await git(['rev-parse', `${head}^{tree}`], options)).trim()) return null;
    return (await git(['commit-tree', tree, '-p', head, '-m', 'Uncommitted work'], options)).trim();
  }

  /** Nobody has been in a workspace without files, or in that of a first attempt: its commit is that of its files. */
  async #handedOut(task: WorkspaceTask, signal: AbortSignal): Promise<WorkCommits> {
    const { mirror, places } = this.#options;
    const isFirst = task.life === 1 && task.attempt === 1;
    const head = places.lateOf(task.issue)?.head ?? (isFirst ? readHead(places.pathOf(task.issue)) : null);
    if (head === null || !(await mirror.holds(head))) return this.read(task, signal);
    return { head, files: null };
  }

  /** Has the workspace hold these commits, its branch and its files. No agent may be at work in it. */
  async write(task: WorkspaceTask, work: WorkCommits, signal: AbortSignal): Promise<void> {
    await putWork(this.#options.places, this.#options.mirror, task, work, signal);
  }

  /** Whether this machine has a commit of the issue's work. No agent may be at work in its workspace. */
  async has(task: WorkspaceTask, sha: string, signal: AbortSignal): Promise<boolean> {
    const { mirror, places } = this.#options;
    if (await mirror.holds(sha)) return true;
    if (!places.isOurs(task.issue) || places.isLate(task.issue)) return false;
    const { path, launch, timeoutMs } = await places.guarded(task, signal);
    const found = await tryGit(['cat-file', '-e', `${sha}^{commit}`], { cwd: path, launch, timeoutMs, signal });
    return found.exitCode === 0;
  }

  /** Has the mirror hold a commit of another repository on this machine. */
  async fetch(from: string, sha: string, issue: number, signal: AbortSignal): Promise<void> {
    const how = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance'];
    await this.#git(['fetch', ...how, from, `+${HANDED_OUT}:${worksOf(issue)}/${sha}`], signal);
  }

  /** Files on top of a later commit; null: they do not fit it. */
  async moved(task: WorkspaceTask, { head, files }: WorkCommits, now: string, signal: AbortSignal) {
    const { mirror, places } = this.#options;
    const clone = places.cloneOf(task.issue);
    await mirror.take(clone, now, `${worksOf(task.issue)}/${now}`, signal);
    const merge = ['merge-tree', '--write-tree', `--merge-base=${head}`, now, files ?? head];
    const { exitCode, stdout } = await this.#try(merge, signal);
    if (exitCode !== 0) return null;
    const words = ['commit-tree', stdout.trim(), '-p', now, '-m', 'Uncommitted work'];
    const env = { ...cloneEnvironment(process.env), ...authorVariables(clone.author) };
    return { head: now, files: (await git(words, { cwd: mirror.path, env, signal })).trim() };
  }

  /**
   * Makes the bundle with which a worker begins. What a worker cannot be given is a ToolError.
   * @param fills `commit`: this one of the mirror, in the place of what the workspace holds
   */
  async pack(
    task: WorkspaceTask,
    path: string,
    fills: { readonly submodules: boolean; readonly commit?: string | undefined },
    signal: AbortSignal,
  ): Promise<PackedWork> {
    const { mirror } = this.#options;
    const { commit } = fills;
    const { head, files } = commit === undefined ? await this.#handedOut(task, signal) : { head: commit, files: null };
    const tip = files ?? head;
    const defaultBranch = await mirror.defaultBranch(signal);
    await this.#requireCarried(tip, defaultBranch, fills.submodules, signal);
    const base = await mirror.comparison.baseOf(head, signal);
    const defaultHead = isOnDefault({ head, files, base }) ? await this.#linkDefault(defaultBranch, path) : null;
    if (defaultHead !== null) return { head, files, defaultBranch, base, path, defaultHead };
    const ref = `${worksOf(task.issue)}/handed-out`;
    await mirror.keep(tip, ref);
    await this.#git(['bundle', 'create', '--quiet', path, `refs/heads/${defaultBranch}`, ref], signal);
    return { head, files, defaultBranch, base, path, defaultHead: null };
  }

  /** Throws where a worker cannot be given what the default branch holds. @param submodules whether workspaces have them */
  async requireCarried(submodules: boolean, signal: AbortSignal): Promise<void> {
    const { mirror } = this.#options;
    await mirror.refresh(signal);
    const branch = await mirror.defaultBranch(signal);
    await this.#requireCarried((await mirror.branchHead(branch)) ?? '', branch, submodules, signal);
  }

  async #requireCarried(tip: string, defaultBranch: string, submodules: boolean, signal: AbortSignal): Promise<void> {
    if (await this.#options.mirror.lfs.uses(tip, signal))
      throw failure(FLEET_CODES.fleet_repository_unsupported, { what: 'files of Git LFS' });
    if (submodules && (await this.#hasModules(tip, defaultBranch, signal)))
      throw failure(FLEET_CODES.fleet_repository_unsupported, {
        what: 'submodules',
        setting: 'workspace.submodules: false',
      });
  }

  async #hasModules(tip: string, defaultBranch: string, signal: AbortSignal): Promise<boolean> {
    const { mirror } = this.#options;
    // Its answer is kept until the branch moves.
    if (tip === (await mirror.branchHead(defaultBranch))) return (await mirror.readFile(GITMODULES, signal)) !== null;
    return (await this.#try(['cat-file', '-e', `${tip}:${GITMODULES}`], signal)).exitCode === 0;
  }

  /** Puts the bundle of the default branch there: one file for all attempts until it moves. Null: it moved meanwhile. */
  async #linkDefault(defaultBranch: string, path: string): Promise<string | null> {
    const { mirror } = this.#options;
    const sha = (await mirror.branchHead(defaultBranch)) ?? '';
    const before = this.#default;
    let known = before;
    if (known?.sha !== sha) {
      const shared = join(dirname(dirname(path)), `${sha}.bundle`);
      known = { sha, path: shared, made: this.#packDefault(defaultBranch, sha, shared) };
      this.#default = known;
      // Attempts that have the last one have it by a name of their own.
      if ((await before?.made) === true) await rm(before?.path ?? '', { force: true });
    }
    if ((await known.made) && (await linkOrCopy(known.path, path))) return sha;
    // What failed may work the next time.
    if (this.#default === known) this.#default = null;
    return null;
  }

  /** The default branch as it was handed out, without what a worker has of it. False: that is nothing of its history. */
  async packSince(issue: number, { defaultHead }: PackedWork, have: string, path: string, signal: AbortSignal) {
    if (defaultHead === null) return false;
    const { exitCode } = await this.#try(['merge-base', '--is-ancestor', have, defaultHead], signal);
    if (exitCode !== 0) return false;
    const ref = `${worksOf(issue)}/handed-out`;
    await this.#options.mirror.keep(defaultHead, ref);
    await this.#git(['bundle', 'create', '--quiet', path, ref, `^${have}`], signal);
    return true;
  }

  /** Nobody's end cuts it off: others wait for it. */
  async #packDefault(branch: string, sha: string, path: string): Promise<boolean> {
    const { signal } = new AbortController();
    const isMade = async () => {
      await this.#git(['bundle', 'create', '--quiet', path, `refs/heads/${branch}`], signal);
      return (await this.#git(['bundle', 'list-heads', path], signal)).startsWith(`${sha} `);
    };
    return isMade().catch(() => false);
  }

  /**
   * Makes the bundle that a worker hands in: one branch, without what the coordinator has. False: it has all of it.
   * @param known commits of the coordinator
   */
  async packNew(
    task: WorkspaceTask,
    path: string,
    { head, files }: WorkCommits,
    known: readonly string[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const ref = `refs/heads/${task.branch}`;
    const without = known.map((commit) => `^${commit}`);
    await this.#git(['update-ref', ref, files ?? head], signal);
    const made = await this.#try(['bundle', 'create', '--quiet', path, ref, ...without], signal);
    if (made.exitCode === 0) return true;
    const count = await this.#git(['rev-list', '--count', ref, ...without], signal);
    if (count.trim() === '0') return false;
    throw failure(GIT_CODES.git_failed, { command: 'bundle', said: lastLines(made.stderr, 4) });
  }

  /**
   * Takes what a worker handed in, like anything from a stranger, into the workspace. A bundle that is not what it says is a
   * ToolError, and changes nothing.
   * @param path of the bundle; null: all commits are here
   * @param base commit of the default branch that the worker was given
   * @param maxBundleBytes that a bundle may have
   */
  async adopt(
    task: WorkspaceTask,
    path: string | null,
    work: WorkCommits,
    { base, maxBundleBytes }: { readonly base: string; readonly maxBundleBytes: number },
    signal: AbortSignal,
  ): Promise<void> {
    const tip = work.files ?? work.head;
    if (path !== null) await this.#unpack(task, path, tip, signal);
    const goesOn = await this.#try(['merge-base', '--is-ancestor', base, work.head], signal);
    const parent = work.files === null ? work.head : await this.#parentOf(work.files, signal);
    if (goesOn.exitCode !== 0 || parent !== work.head)
      throw failure(FLEET_CODES.bundle_base_wrong, { commit: work.head.slice(0, 12), base: base.slice(0, 12) });
    for (const commit of new Set([work.head, tip])) await this.#checkSize(commit, base, maxBundleBytes, signal);
    await this.write(task, work, signal);
  }

  /** A bundle says nothing of the size of its files on disk. Files that the base has are allowed beside those. */
  async #checkSize(commit: string, base: string, maxBundleBytes: number, signal: AbortSignal): Promise<void> {
    const options = { cwd: this.#options.mirror.path, signal };
    const most = { files: MOST_FILES, bytes: BYTES_FACTOR * maxBundleBytes };
    if ((await this.#sizeUpTo(commit, most, signal)) !== null) return;
    const had = await treeSizeUpTo(base, { files: Infinity, bytes: Infinity }, options);
    const all = { files: most.files + (had?.files ?? 0), bytes: most.bytes + (had?.bytes ?? 0) };
    if ((await this.#sizeUpTo(commit, all, signal)) === null)
      throw failure(FLEET_CODES.bundle_files_too_large, { commit: commit.slice(0, 12), ...most });
  }

  async #sizeUpTo(commit: string, most: TreeSize, signal: AbortSignal): Promise<TreeSize | null> {
    try {
      return await treeSizeUpTo(commit, most, { cwd: this.#options.mirror.path, signal });
    } catch (error) {
      signal.throwIfAborted();
      throw failure(FLEET_CODES.bundle_unreadable, { said: messageOf(error) }, { cause: error });
    }
  }

  async #parentOf(sha: string, signal: AbortSignal): Promise<string | null> {
    const { exitCode, stdout } = await this.#try(['rev-list', '--no-walk', '--parents', sha], signal);
    const [, parent, ...more] = stdout.trim().split(' ');
    return exitCode === 0 && parent !== undefined && more.length === 0 ? parent : null;
  }

  async #headsByGit(path: string, signal: AbortSignal): Promise<readonly string[]> {
    const { exitCode, stdout, stderr } = await this.#try(['bundle', 'list-heads', path], signal);
    if (exitCode !== 0) throw failure(FLEET_CODES.bundle_unreadable, { said: lastLines(stderr, 4) });
    return stdout.trimEnd().split('\n');
  }

  async #unpack(task: WorkspaceTask, path: string, tip: string, signal: AbortSignal): Promise<void> {
    const ref = `refs/heads/${task.branch}`;
    const rows = (await readBundleHeads(path)) ?? (await this.#headsByGit(path, signal));
    const expected = `${tip} ${ref}`;
    if (rows.length !== 1 || rows[0] !== expected)
      throw failure(FLEET_CODES.bundle_branch_wrong, { expected: `${ref} at ${tip}`, got: rows });
    const into = `${worksOf(task.issue)}/handed-in`;
    const checks = ['-c', 'fetch.fsckObjects=true', '-c', 'transfer.fsckObjects=true'];
    const how = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--no-auto-maintenance'];
    const got = await this.#try([...checks, 'fetch', ...how, path, `+${ref}:${into}`], signal);
    if (got.exitCode === 0) return;
    const said = lastLines(got.stderr, 4);
    throw /prerequisite/.test(got.stderr)
      ? failure(FLEET_CODES.bundle_base_wrong, { commit: tip.slice(0, 12), base: 'what the worker was given' })
      : failure(FLEET_CODES.bundle_unreadable, { said });
  }
}

/** Makes the repository that a worker's copy is cloned from. @param directory is there, and empty */
export async function unpackOrigin(
  directory: string,
  bundle: string,
  order: {
    readonly issue: number;
    readonly branch: string;
    readonly default_branch: string;
    readonly base: string;
  } & WorkCommits,
  signal: AbortSignal,
): Promise<void> {
  const options = { cwd: directory, env: cloneEnvironment(process.env), signal };
  await git(['init', '--quiet', '--bare', '--template=', `--initial-branch=${order.default_branch}`], options);
  const main = `refs/heads/${order.default_branch}`;
  const isAlone = isOnDefault(order);
  const more = isAlone ? [] : [`+${worksOf(order.issue)}/handed-out:${HANDED_OUT}`];
  const how = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--update-head-ok'];
  const { size } = await stat(bundle);
  const got = await tryGit(
    ['-c', 'fetch.fsckObjects=true', 'fetch', ...how, bundle, `+${main}:${main}`, ...more],
    options,
  );
  if (got.exitCode !== 0)
    throw failure(FLEET_CODES.bundle_unreadable, { said: `${lastLines(got.stderr, 4)} (${size} bytes)` });
  // A workspace of a branch that is not there begins where the default branch stands.
  if (isAlone && readRefAt(directory, main) === order.head) return;
  await git(['update-ref', `refs/heads/${order.branch}`, order.head], options);
}

/**
 * Makes a bare repository with the default branch alone, at the commit that the order names.
 * @param directory is there, and empty
 * @param earlier another state of the repository, which the bundle may go on from
 */
export async function unpackDefault(
  directory: string,
  bundle: string,
  { branch, sha, earlier }: { readonly branch: string; readonly sha: string; readonly earlier: string | null },
  signal: AbortSignal,
): Promise<void> {
  const options = { cwd: directory, env: cloneEnvironment(process.env), signal };
  const first =
    earlier === null
      ? ['init', '--quiet', '--bare', '--template=', `--initial-branch=${branch}`]
      : ['clone', '--quiet', '--bare', '--template=', earlier, directory];
  await git(first, options);
  const [, ref = ''] = (await git(['bundle', 'list-heads', bundle], options)).trim().split(' ');
  const how = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--update-head-ok'];
  const to = `refs/heads/${branch}`;
  const got = await tryGit(['-c', 'fetch.fsckObjects=true', 'fetch', ...how, bundle, `+${ref}:${to}`], options);
  const at = readRefAt(directory, to);
  if (got.exitCode !== 0 || at !== sha)
    throw failure(FLEET_CODES.bundle_unreadable, { said: `${lastLines(got.stderr, 4)} (${to} is at ${at})` });
  if (earlier === null) return;
  // The earlier state may be of a branch by another name.
  await git(['symbolic-ref', 'HEAD', to], options);
  const refs = (await git(['for-each-ref', '--format=%(refname)'], options)).trimEnd().split('\n');
  for (const other of refs) if (other !== to) await git(['update-ref', '-d', other], options);
}
