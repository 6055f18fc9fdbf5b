// Git LFS for the daemon: one store of objects, filled and read by git-lfs with the daemon's credential, in the mirror alone.

import { existsSync } from 'node:fs';
import type { Environment } from '../../../base/rules/environment.ts';
import { failure } from '../../../base/rules/errors.ts';
import { oneLine } from '../../../base/rules/text.ts';
import { BYTES } from '../../../git/byte-names.ts';
import { cloneEnvironment, explain, type GitResult, isOnPath, tryGit } from '../../../git/git.ts';
import { importObject, objectPath, storesOf } from '../../../git/lfs-objects.ts';
import {
  type LfsPointer,
  type LfsServer,
  lfsServerOf,
  MAX_POINTER_BYTES,
  parsePointer,
} from '../../../git/rules/lfs.ts';
import { WORKSPACES_CODES } from '../../rules/codes/workspaces-codes.ts';
import { gitFailure } from './git-failure.ts';
import { objectsIn, onServer, removeUnused, touchUsed } from './lfs-prune.ts';
import { type Network, withoutProgress } from './network.ts';
import { PUSHED } from './pushes.ts';

/** The remote's name to git-lfs. */
const REMOTE = 'toolcrew-lfs';
/** The lists of a large repository are read whole. */
const LIST_BYTES = 512 * 1024 * 1024;
/** So many objects are named in one command. */
const MAX_NAMED = 100;
const MAX_KNOWN = 100;
/** The server has it on no account: that waits for no better time. */
const GONE = /\b(404|410)\b|does not exist|not found/i;
/** To 422 for the object itself git-lfs has these words, and ends well. */
const TURNED_DOWN = /\[(413|422)\]|Uploading failed/;
/** Answers after which the server takes the object on no account; no right, no time and too many requests may change. */
const FINAL = /^\S+ trace git-lfs: HTTP: 4(?!01|03|07|08|29)\d\d$/m;
/** The status of an answer is in git-lfs's trace alone. */
const TRACE = /^\d\d:\d\d:\d\d\.\d+ .*\n?/gm;

type Here = LfsServer & { readonly kind: 'here' };
type At = { readonly path: string; readonly store: string };
type NewPointer = LfsPointer & { readonly path: string };

/** Arguments of git that succeed where attributes of a commit hand files over to LFS. */
export function grepFor(commit: string): readonly string[] {
  const rule = '^[^#].*[[:space:]]filter=lfs([[:space:]]|$)';
  return ['grep', '--quiet', '-E', '-e', rule, commit, '--', ':(glob)**/.gitattributes'];
}

/** Objects that were removed. */
export type Pruned = { readonly count: number; readonly bytes: number };

export type LfsOptions = {
  /** The mirror. */
  readonly path: string;
  /** Of all objects; the daemon's alone. */
  readonly store: string;
  readonly network: Network;
  readonly env: Environment;
};

/** The settings of a commit's `.lfsconfig`, by their names in lower case. */
export function settingsIn(listed: string): ReadonlyMap<string, string> {
  return new Map(
    listed.split('\0').flatMap((row) => {
      const end = row.indexOf('\n');
      return end === -1 ? [] : [[row.slice(0, end).toLowerCase(), row.slice(end + 1)] as const];
    }),
  );
}

/** The pointers among what `git cat-file --batch` tells. */
function pointersIn(batch: string, paths: ReadonlyMap<string, string>): NewPointer[] {
  const found: NewPointer[] = [];
  for (let at = 0; at < batch.length; ) {
    const end = batch.indexOf('\n', at);
    const [, sha = '', type, size] = /^([0-9a-f]+) (\w+) (\d+)$/.exec(batch.slice(at, end)) ?? [];
    if (end === -1 || size === undefined) break;
    const text = batch.slice(end + 1, end + 1 + Number(size));
    const pointer = type === 'blob' ? parsePointer(text) : null;
    if (pointer !== null) found.push({ ...pointer, path: paths.get(sha) ?? '' });
    at = end + 2 + Number(size);
  }
  return found;
}

export class Lfs {
  readonly #options: LfsOptions;
  readonly #using = new Map<string, Promise<boolean>>();
  readonly #oids = new Map<string, readonly string[]>();
  /** Commits whose objects were all fetched, as far as the repository wants them. */
  readonly #fetched = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: LfsOptions) {
    this.#options = options;
  }

  get store(): string {
    return this.#options.store;
  }

  get isInstalled(): boolean {
    return isOnPath('git-lfs', this.#options.env);
  }

  #try(args: readonly string[], signal: AbortSignal, input?: string): Promise<GitResult> {
    const { path: cwd, env } = this.#options;
    const more = input === undefined ? {} : { input };
    return tryGit(args, { cwd, env: cloneEnvironment(env), maxBytes: LIST_BYTES, signal, ...BYTES, ...more });
  }

  /** It is known that the commit does not use it. */
  leaveOut(sha: string): void {
    this.#using.set(sha, Promise.resolve(false));
  }

  /** Whether attributes of the commit hand files over to LFS. */
  uses(sha: string, signal: AbortSignal): Promise<boolean> {
    const known = this.#using.get(sha);
    if (known !== undefined) return known;
    if (this.#using.size > MAX_KNOWN) this.#using.clear();
    const asked = this.#try(grepFor(sha), signal).then(({ exitCode }) => exitCode === 0);
    this.#using.set(sha, asked);
    asked.catch(() => this.#using.delete(sha));
    return asked;
  }

  /** Where the objects are, as the commit's own `.lfsconfig` has it. */
  async place(sha: string, signal: AbortSignal): Promise<LfsServer> {
    const { stdout } = await this.#try(['config', '--blob', `${sha}:.lfsconfig`, '--list', '-z'], signal);
    return lfsServerOf(this.#options.network.remoteUrl, settingsIn(stdout));
  }

  /** The objects of all files of a commit. */
  async objectsOf(sha: string, signal: AbortSignal): Promise<readonly string[]> {
    const known = this.#oids.get(sha);
    if (known !== undefined) return known;
    const listed = await this.#try(['lfs', 'ls-files', '--long', sha], signal);
    signal.throwIfAborted();
    if (listed.exitCode !== 0) throw gitFailure('lfs ls-files', listed, explain(listed.stderr, listed.stdout));
    const oids = [...new Set(listed.stdout.match(/^[0-9a-f]{64}(?= )/gm) ?? [])];
    if (this.#oids.size > MAX_KNOWN) this.#oids.clear();
    this.#oids.set(sha, oids);
    return oids;
  }

  /**
   * Git with the server of the objects, one at a time.
   * @param at the repository and the store; left out: the mirror and the daemon's own
   */
  #ask(place: Here, args: readonly string[], signal: AbortSignal, at: At = this.#options): Promise<GitResult> {
    const { network } = this.#options;
    const { path, store } = at;
    const settings = {
      'lfs.url': place.download,
      'lfs.pushurl': place.upload,
      'lfs.storage': store,
      'lfs.locksverify': 'false',
      'lfs.repositoryformatversion': '0',
      'lfs.transfer.maxretries': '3',
      [`remote.${REMOTE}.url`]: network.remoteUrl,
      ...Object.fromEntries([place.download, place.upload].map((url) => [`lfs.${url}.access`, 'basic'])),
    };
    const all = [...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]), ...args];
    const next = this.#last.catch(() => undefined).then(() => network.tryLfs(all, path, signal));
    this.#last = next;
    return next;
  }

  /** Has the store hold the objects of commits. Gives the failure; null when all that the server has is there. */
  async fetch(shas: readonly string[], place: Here, signal: AbortSignal) {
    const wanted: string[] = [];
    for (const sha of new Set(shas)) {
      const oids = await this.objectsOf(sha, signal);
      await touchUsed(this.store, oids);
      if (!this.#fetched.has(sha) && oids.some((oid) => !existsSync(objectPath(this.store, oid)))) wanted.push(sha);
    }
    if (wanted.length === 0) return null;
    const { exitCode, stdout, stderr } = await this.#ask(place, ['lfs', 'fetch', REMOTE, ...wanted], signal);
    signal.throwIfAborted();
    if (exitCode !== 0) {
      const said = explain(withoutProgress(stderr.replaceAll(TRACE, '')), withoutProgress(stdout));
      return { exitCode, said };
    }
    if (this.#fetched.size > MAX_KNOWN) this.#fetched.clear();
    for (const sha of wanted) this.#fetched.add(sha);
    return null;
  }

  /** The pointers that commits bring and no branch of the remote has. @param what commits, as git takes them */
  async #newPointers(what: string, signal: AbortSignal): Promise<NewPointer[]> {
    const filters = [`--filter=blob:limit=${MAX_POINTER_BYTES}`, '--filter=object:type=blob'];
    const range = [what, '--not', '--branches', `--glob=${PUSHED}/*`];
    const listed = await this.#try(['rev-list', '--objects', ...filters, ...range], signal);
    signal.throwIfAborted();
    if (listed.exitCode !== 0) throw gitFailure('rev-list', listed, explain(listed.stderr));
    const rows = listed.stdout.split('\n').filter((row) => row !== '');
    if (rows.length === 0) return [];
    const paths = new Map(rows.map((row) => [row.split(' ')[0] ?? '', row.slice(row.indexOf(' ') + 1)]));
    const { stdout } = await this.#try(['cat-file', '--batch'], signal, [...paths.keys(), ''].join('\n'));
    return pointersIn(stdout, paths);
  }

  #missing(pointers: readonly NewPointer[]): NewPointer[] {
    return pointers.filter(({ oid, size }) => size > 0 && !existsSync(objectPath(this.store, oid)));
  }

  /** Takes the objects of new commits from where an agent has put them. @param path of the repository's files */
  async take(path: string, commit: string, signal: AbortSignal): Promise<void> {
    const stores = storesOf(path);
    if (stores.length === 0) return;
    for (const { oid } of this.#missing(await this.#newPointers(commit, signal)))
      for (const from of stores) if (await importObject(from, this.store, oid)) break;
  }

  /**
   * Removes the objects that nobody has used since `before`, in ms since the epoch. Those stay that the files of `wanted`
   * need, that a ref needs and no branch of the remote has, and that the server does not say to have.
   */
  async prune(wanted: readonly string[], place: Here, before: number, signal: AbortSignal): Promise<Pruned> {
    const old = objectsIn(this.store, before);
    for (const { oid } of await this.#newPointers('--all', signal)) old.delete(oid);
    for (const sha of wanted) for (const oid of await this.objectsOf(sha, signal)) old.delete(oid);
    const path = `${this.store}-check`;
    const ask = async (args: readonly string[], store: string) => {
      const result = await this.#ask(place, args, signal, { path, store });
      return { ...result, stderr: result.stderr.replaceAll(TRACE, '') };
    };
    const scratch = { path, remote: REMOTE, env: cloneEnvironment(this.#options.env), ask };
    const removed: string[] = [];
    for await (const oids of onServer(scratch, old, signal)) {
      removed.push(...oids.filter((oid) => removeUnused(this.store, oid, before)));
      this.#fetched.clear();
    }
    return { count: removed.length, bytes: removed.reduce((sum, oid) => sum + (old.get(oid) ?? 0), 0) };
  }

  /** Uploads the objects that a commit brings. @param base gives the default branch's commit */
  async upload(sha: string, base: () => Promise<string>, signal: AbortSignal): Promise<void> {
    if (!existsSync(this.store) || !this.isInstalled) return;
    const pointers = await this.#newPointers(sha, signal);
    if (pointers.length === 0) return;
    const files = namesOf(pointers);
    const place = await this.place(await base(), signal);
    if (place.kind === 'elsewhere')
      throw failure(WORKSPACES_CODES.lfs_host_without_credential, { files, host: place.host });
    const oids = [...new Set(pointers.filter(({ size }) => size > 0).map(({ oid }) => oid))];
    await touchUsed(this.store, oids);
    await this.#requireObjects(pointers, sha, place, signal);
    for (let at = 0; at < oids.length; at += MAX_NAMED) {
      const some = oids.slice(at, at + MAX_NAMED);
      const result = await this.#ask(place, ['lfs', 'push', '--object-id', REMOTE, ...some], signal);
      signal.throwIfAborted();
      const { exitCode, stdout, stderr } = result;
      const told = stderr.replaceAll(TRACE, '');
      if (exitCode === 0 && !TURNED_DOWN.test(told)) continue;
      const said = explain(withoutProgress(told), withoutProgress(stdout));
      if (!TURNED_DOWN.test(said) && !FINAL.test(stderr)) throw gitFailure('lfs push', result, said, files);
      throw failure(WORKSPACES_CODES.lfs_push_refused, { files, said });
    }
  }

  /** A pointer may be to what the server has already. */
  async #requireObjects(pointers: readonly NewPointer[], sha: string, place: Here, signal: AbortSignal): Promise<void> {
    if (this.#missing(pointers).length === 0) return;
    const failed = await this.fetch([sha], place, signal);
    const missing = this.#missing(pointers);
    if (missing.length === 0) return;
    if (failed !== null && !GONE.test(failed.said)) throw gitFailure('lfs fetch', failed, failed.said);
    throw failure(WORKSPACES_CODES.lfs_objects_missing, { files: namesOf(missing) });
  }
}

function namesOf(pointers: readonly NewPointer[]): readonly string[] {
  return [...new Set(pointers.map(({ path }) => oneLine(Buffer.from(path, 'latin1').toString(), 100)))];
}
