// The daemon's own bare copy of the repository: the only place where git meets the hosting credential. Pushes leave from
// it, what agents left is kept in it; no program of an agent's ever runs in it.

import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Batcher } from '../../../base/batcher.ts';
import type { Clock } from '../../../base/ports.ts';
import { RefreshCache } from '../../../base/refresh-cache.ts';
import { BASE_CODES } from '../../../base/rules/base-codes.ts';
import { failure } from '../../../base/rules/errors.ts';
import { SerialQueue } from '../../../base/serial-queue.ts';
import type { Clone } from '../../../git/clone.ts';
import { CloneDepth, hasHistoryBetween } from '../../../git/clone-depth.ts';
import { cloneEnvironment, explain, type GitResult, git, saysDamaged, tryGit } from '../../../git/git.ts';
import { removeStrays } from '../../../git/git-directory.ts';
import { RemoteHead } from '../../../git/remote-head.ts';
import { WORKSPACES_CODES } from '../../rules/codes/workspaces-codes.ts';
import { issueOf } from '../../rules/issue.ts';
import { CloneSource } from './clone-source.ts';
import { Comparison } from './comparison.ts';
import { fetchFromClone } from './fetch-work.ts';
import { bringKept, cloneFirst } from './first-clone.ts';
import { gitFailure } from './git-failure.ts';
import { KnownRefs, LIST_REFS, parseRefs } from './known-refs.ts';
import { Lfs } from './lfs.ts';
import { type FixedCopy, linkCopy, refusePushes } from './linked-copy.ts';
import { Network, type NetworkOptions } from './network.ts';
import { pushBranch } from './push-branch.ts';
import { PUSHED, Pushes, pushArguments } from './pushes.ts';

export type MirrorOptions = NetworkOptions & {
  /** Directory of the bare repository. */
  readonly path: string;
  readonly clock: Clock;
  /** So many commits of each branch are enough for a new copy; null or left out: all. */
  readonly depth?: () => number | null;
  /** Stands for the remote: nothing is fetched, its files are shared, and workspaces are cloned from it. */
  readonly fixed?: FixedCopy | undefined;
  /** Only branches of issues with this prefix are pushed; left out: any. */
  readonly branchPrefix?: (() => string) | undefined;
};

/** A fetch this young serves once more: issues that start together share one. */
const FRESH_MS = 2_000;
/** The refs of a very large repository are read whole. */
const ALL_REFS_BYTES = 512 * 1024 * 1024;

const REFSPEC = '+refs/heads/*:refs/heads/*';
const SHA = /^[0-9a-f]{40,64}$/;

export class Mirror {
  readonly #options: MirrorOptions;
  readonly #fetching: RefreshCache;
  readonly #network: Network;
  readonly #cloneSource: CloneSource;
  readonly #pushes: Pushes;
  readonly #reach: CloneDepth;
  readonly lfs: Lfs;
  /** Of commits that are here with the default branch. */
  readonly comparison: Comparison;
  readonly #removals = new Batcher((refs: readonly (readonly string[])[]) => this.#remove(refs));
  readonly #remoteHead: RemoteHead;
  #damaged = false;
  /** How often it was made by this process. */
  #made = 0;
  /** Nothing but what came from the remote has ever been in it. */
  #isUntouched = false;
  #unlocked: Promise<void> | undefined;
  /** Two that change where the copy ends would get in each other's way. */
  readonly #queue = new SerialQueue();
  readonly #refs = new KnownRefs(async () => parseRefs(await this.#local(LIST_REFS)));
  /** Files of the default branch that were asked for, by path, as they are at `tip`. */
  #files: { readonly tip: string; readonly texts: Map<string, string | null> } = { tip: '', texts: new Map() };

  constructor(options: MirrorOptions) {
    this.#options = options;
    this.#network = new Network(options);
    const { path, env } = options;
    this.lfs = new Lfs({ path, env, network: this.#network, store: path.replace(/(\.git)?$/, '.lfs') });
    this.#cloneSource = new CloneSource(options.path.replace(/(\.git)?$/, '.seed.git'), options.path);
    this.#remoteHead = new RemoteHead({
      clock: options.clock,
      path: options.path,
      ask: (signal) => this.#network.askHead(this.path, signal),
      local: (args, signal) => this.#local(args, signal),
    });
    this.#fetching = new RefreshCache(options.clock, FRESH_MS, (signal) =>
      this.#queue.run(() => this.#bringUpToDate(signal)),
    );
    this.#reach = new CloneDepth({
      path: options.path,
      depth: () => options.depth?.() ?? null,
      fetch: async (how, signal) => {
        const args = ['fetch', ...how, '--no-write-fetch-head', options.remoteUrl, REFSPEC];
        await this.#network.run(args, this.path, signal).finally(() => this.#refs.forget());
      },
      firstParents: async (signal) =>
        (await this.#local(['rev-list', '--first-parent', 'HEAD'], signal)).trimEnd().split('\n'),
    });
    this.comparison = new Comparison({
      try: (args, signal, maxBytes) => this.#try(args, signal, maxBytes),
      tip: async (signal) => (await this.branchHead(await this.defaultBranch(signal))) ?? '',
      relate: (first, second, signal) => this.#relate(first, second, signal),
    });
    this.#pushes = new Pushes(
      (wanted, signal) => this.#network.try(pushArguments(options.remoteUrl, wanted), this.path, signal),
      options.clock,
    );
  }

  get path(): string {
    return this.#options.path;
  }

  /** What workspaces are cloned from. */
  get source(): string {
    return this.#options.fixed?.path ?? this.#cloneSource.path;
  }

  /** The branches and tags of that, where they are known; nobody but this process changes them. */
  get shownRefs(): ReadonlyMap<string, string> | undefined {
    return this.#options.fixed === undefined ? this.#cloneSource.refs : undefined;
  }

  get #exists(): boolean {
    return existsSync(join(this.path, 'HEAD'));
  }

  /** Git in the mirror, without the network. That it complains of its objects is remembered: the next fetch clones anew. */
  async #try(args: readonly string[], signal?: AbortSignal, maxBytes = ALL_REFS_BYTES): Promise<GitResult> {
    await this.#unlock();
    const env = cloneEnvironment(this.#options.env);
    const result = await tryGit(args, { cwd: this.path, env, maxBytes, signal });
    signal?.throwIfAborted();
    if (result.exitCode !== 0 && saysDamaged(result.stderr)) this.#damaged = true;
    return result;
  }

  async #local(args: readonly string[], signal?: AbortSignal): Promise<string> {
    const result = await this.#try(args, signal);
    if (result.exitCode === 0) return result.stdout;
    throw gitFailure(args[0] ?? '', result, explain(result.stderr || result.stdout));
  }

  /**
   * Brings the mirror up to date, cloning it first where there is none. Calls that come together share one fetch.
   * @param branch is as new in what workspaces are cloned from as it is here
   */
  async refresh(signal: AbortSignal, branch?: string): Promise<void> {
    const { fixed } = this.#options;
    if (fixed !== undefined) return this.#queue.run(() => this.#link(fixed));
    await this.#fetching.ensure(this.#exists && this.#cloneSource.exists && !this.#damaged, signal);
    if (branch === undefined || this.#cloneSource.shows(branch, await this.#refs.all())) return;
    this.#cloneSource.outdate();
    await this.#queue.run(() => this.#show(signal));
  }

  async #link(fixed: FixedCopy): Promise<void> {
    if (this.#exists) return;
    await linkCopy(fixed, this.path);
    this.#refs.begin(new Map([[`refs/heads/${fixed.branch}`, fixed.sha]]));
  }

  async #show(signal: AbortSignal): Promise<void> {
    const [refs, head] = await Promise.all([this.#refs.all(), this.#remoteHead.name()]);
    await this.#cloneSource.follow(refs, head, this.#isUntouched, signal);
  }

  /** The remote may have something new: a fetch that began before this serves nobody who comes after it. */
  outdate(): void {
    this.#fetching.outdate();
  }

  /** Has a copy that ends early go further back, a step at a time, until that is enough or all is there. */
  async deepen(isEnough: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
    for (const step of CloneDepth.steps()) {
      if (!this.#reach.isOpen || (await isEnough())) return;
      await this.#queue.run(async () => {
        await this.#goBack(step, signal);
        await this.#show(signal);
      });
    }
  }

  async #goBack(commits: number, signal: AbortSignal): Promise<void> {
    await this.#reach.step(commits, signal);
    await this.#cloneSource.deepen(signal);
  }

  async #bringUpToDate(signal: AbortSignal): Promise<void> {
    if (this.#damaged) await this.#cloneAnew(signal);
    else if (this.#exists) await this.#fetch(signal);
    else await this.#clone(this.path, signal);
    await this.#show(signal);
  }

  async #fetch(signal: AbortSignal): Promise<void> {
    await this.#unlock();
    const asked = this.#remoteHead.askWhenDue(signal);
    const args = ['fetch', '--prune', '--no-write-fetch-head', this.#options.remoteUrl, REFSPEC];
    const result = await this.#network.try(args, this.path, signal).finally(() => this.#refs.forget());
    signal.throwIfAborted();
    if (result.exitCode !== 0) {
      if (saysDamaged(result.stderr)) return this.#cloneAnew(signal);
      throw gitFailure('fetch', result, explain(result.stderr || result.stdout));
    }
    await this.#remoteHead.learn(asked, async (known) => (await this.branchHead(known)) !== null, signal);
    const lacking = await this.#reach.lacking(signal);
    if (lacking !== null) await this.#goBack(lacking, signal);
  }

  async #clone(to: string, signal: AbortSignal): Promise<void> {
    const fresh = `${this.path}.new`;
    await cloneFirst(this.#network, fresh, this.#reach.depth, signal);
    await refusePushes(fresh);
    if (fresh !== to) await rename(fresh, to);
    this.#made += 1;
    this.#isUntouched = true;
    this.#remoteHead.forget();
    this.#refs.forget();
    this.#damaged = false;
  }

  /** Puts a fresh copy in the place of a damaged one; of what was kept in that, as much as can still be read comes along. */
  async #cloneAnew(signal: AbortSignal): Promise<void> {
    const fresh = `${this.path}.new`;
    await this.#clone(fresh, signal);
    await bringKept(this.path, fresh, signal);
    signal.throwIfAborted();
    const damaged = `${this.path}.damaged`;
    await rm(damaged, { recursive: true, force: true });
    if (existsSync(this.path)) await rename(this.path, damaged);
    await rename(fresh, this.path);
    this.#made += 1;
    this.#isUntouched = false;
    this.#refs.forget();
    await this.#cloneSource.drop();
  }

  /** Called when a fresh clone of the mirror cannot be used: the next fetch clones the mirror anew. */
  distrust(): void {
    this.#damaged = true;
  }

  /** The mirror has one owner: locks that stand there when this process comes are those of a git that is gone. */
  #unlock(): Promise<void> {
    this.#unlocked ??= this.#exists ? removeStrays(this.path) : Promise.resolve();
    return this.#unlocked;
  }

  /** The branch that the remote's HEAD names. */
  async defaultBranch(signal: AbortSignal): Promise<string> {
    if (!this.#exists) await this.refresh(signal);
    const head = this.#options.fixed?.branch ?? (await this.#remoteHead.name());
    if ((await this.branchHead(head)) === null)
      throw failure(WORKSPACES_CODES.default_branch_empty, { url: this.#options.remoteUrl, branch: head });
    return head;
  }

  /** A file on the default branch; null when it is not there. */
  async readFile(path: string, signal: AbortSignal): Promise<string | null> {
    const tip = (await this.branchHead(await this.defaultBranch(signal))) ?? '';
    if (this.#files.tip !== tip) this.#files = { tip, texts: new Map() };
    const { texts } = this.#files;
    const known = texts.get(path);
    if (known !== undefined) return known;
    const { exitCode, stdout } = await this.#try(['cat-file', 'blob', `${tip}:${path}`], signal);
    const text = exitCode === 0 ? stdout : null;
    if (!this.#damaged) texts.set(path, text);
    return text;
  }

  /** The commit of a branch as last fetched; null when there is none. */
  async branchHead(branch: string): Promise<string | null> {
    return (await this.#refs.all()).get(`refs/heads/${branch}`) ?? null;
  }

  /** Whether a ref of the mirror stands on the commit, so that all of its objects are here. */
  async holds(sha: string): Promise<boolean> {
    return (await this.refsOn(sha)).length > 0;
  }

  /** Whether the commit is here, also where no ref stands on it. */
  async has(sha: string, signal: AbortSignal): Promise<boolean> {
    if (!this.#exists) return false;
    const result = await this.#try(['cat-file', '-e', sha], signal);
    if (result.exitCode !== 0 && result.exitCode !== 1) throw gitFailure('cat-file', result, explain(result.stderr));
    return result.exitCode === 0;
  }

  async refsOn(sha: string): Promise<readonly string[]> {
    if (!this.#exists) return [];
    return [...(await this.#refs.all())].flatMap(([ref, at]) => (at === sha ? [ref] : []));
  }

  async refsBelow(prefix: string): Promise<readonly string[]> {
    return this.#exists ? [...(await this.#refs.all()).keys()].filter((ref) => ref.startsWith(prefix)) : [];
  }

  /** Whether the remote has the commit, as far as is known here. */
  async isPublished(sha: string): Promise<boolean> {
    for (const [ref, at] of await this.#refs.all())
      if (at === sha && (ref.startsWith('refs/heads/') || ref.startsWith(PUSHED))) return true;
    return (await this.#local(['for-each-ref', '--count=1', `--contains=${sha}`, 'refs/heads', PUSHED])) !== '';
  }

  /** Whether the remote was seen to have that very ref. */
  async hasRef(ref: string, sha: string): Promise<boolean> {
    return (await this.#refs.all()).get(ref) === sha;
  }

  /**
   * Fetches a commit or ref of a clone into a ref of the mirror. What reads the clone runs where the agent ran; what
   * comes from there is checked like anything from a stranger.
   */
  async take(clone: Clone, source: string, ref: string, signal: AbortSignal): Promise<void> {
    await this.#unlock();
    const made = this.#made;
    this.#isUntouched = false;
    // A clone may end early at a commit that is not here.
    const isTaken = () =>
      fetchFromClone(clone, source, ref, { cwd: this.path, env: cloneEnvironment(this.#options.env), signal });
    if (!(await isTaken())) {
      await this.deepen(async () => false, signal);
      if (!(await isTaken())) throw failure(WORKSPACES_CODES.commits_missing, { place: clone.path });
    }
    await this.lfs.take(clone.path, ref, signal);
    // Where the mirror was made anew meanwhile, the ref went with the old one.
    if (SHA.test(source) && made === this.#made) await this.#refs.set(ref, source);
    else this.#refs.forget();
  }

  /** Puts a commit that is here under a ref. */
  async keep(sha: string, ref: string): Promise<void> {
    const made = this.#made;
    await this.#local(['update-ref', ref, sha]);
    if (made === this.#made) await this.#refs.set(ref, sha);
    else this.#refs.forget();
  }

  /** `name`, or with a number behind it when there is such a ref already. */
  async freeRef(name: string): Promise<string> {
    const text = await this.#local(['for-each-ref', '--format=%(refname)', `${name}*`]);
    const taken = new Set(text.split('\n'));
    let free = name;
    for (let number = 2; taken.has(free); number++) free = `${name}-${number}`;
    return free;
  }

  /** Removes all refs that nobody wants any more. */
  async forget(isUnwanted: (ref: string) => boolean): Promise<void> {
    if (!this.#exists) return;
    const gone = [...(await this.#refs.all()).keys()].filter(isUnwanted);
    if (gone.length === 0) return;
    // Where one cannot be removed none is: then these are tried without the others.
    await this.#removals.add(gone).catch(() => this.#remove([gone]));
    for (const ref of gone) await this.#refs.set(ref, null);
  }

  async #remove(refs: readonly (readonly string[])[]): Promise<void> {
    const input = refs.flat().map((ref) => `delete ${ref}\n`);
    await git(['update-ref', '--stdin'], { cwd: this.path, input: input.join('') });
  }

  /** Where the copy ends early, two commits may go on from one that it does not have. */
  #relate(first: string, second: string, signal: AbortSignal): Promise<void> {
    const run = (args: readonly string[]) => this.#try(args, signal);
    return this.deepen(() => hasHistoryBetween(this.#reach.ends, first, second, run), signal);
  }

  /**
   * Pushes `sha` to one branch of the remote. What stands there is replaced only if it is an ancestor of `sha` or one
   * of `ours`; commits of somebody else are never overwritten. A branch that is no issue's is refused: whoever can write
   * to the store of a queue can name one. @param kept a commit that `sha` has to go on from
   */
  async push(branch: string, sha: string, ours: readonly string[], signal: AbortSignal, kept?: string): Promise<void> {
    if (!SHA.test(sha)) throw failure(BASE_CODES.unexpected_error, { said: `expected a commit to push, got ${sha}` });
    const prefix = this.#options.branchPrefix?.();
    if (prefix !== undefined && issueOf(prefix, branch) === null)
      throw failure(WORKSPACES_CODES.branch_not_of_issue, { branch, prefix });
    await this.lfs.upload(sha, async () => (await this.branchHead(await this.defaultBranch(signal))) ?? '', signal);
    const isNew = await pushBranch(
      {
        branchHead: () => this.branchHead(branch),
        isAncestor: (expected) => this.comparison.goesOn(expected, sha, signal),
        push: (expected) => this.#pushes.push({ branch, sha, expected }, signal),
        refresh: async () => {
          this.outdate();
          await this.refresh(signal);
        },
      },
      { branch, sha, ours, kept },
      signal,
    );
    const ref = `${PUSHED}/${branch}`;
    if (isNew) await this.#refs.set(ref, sha);
    else await this.keep(sha, ref);
  }
}
