// The first copy of a repository from its remote. One that breaks goes on in steps, each a little further into the past;
// what a step has brought is there to go on from, in the next process too.

import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { failure, messageOf, ToolError } from '../../../base/rules/errors.ts';
import { explain, FILES, git, saysDamaged, tryGit } from '../../../git/git.ts';
import { removeStrays } from '../../../git/git-directory.ts';
import { WORKSPACES_CODES } from '../../rules/codes/workspaces-codes.ts';
import { gitFailure } from './git-failure.ts';
import type { Network } from './network.ts';

/** Stands in a copy that is made in steps, afterwards as well, and names its remote. */
const MARK = 'toolcrew-steps';
const FIRST_STEP = 16;
const GROWTH = 4;

/** Whether git's words mean that the connection ended before all had come. */
function saysBroken(words: string): boolean {
  return /early EOF|unexpected EOF|RPC failed|hung up|unexpected disconnect|invalid index-pack output|transfer closed|connection (was )?(reset|closed)|recv failure|bad pack header|gave no sign of life/i.test(
    words,
  );
}

async function read(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(() => null);
}

/** Whether a copy is being made there in steps. */
export function isBegun(path: string): boolean {
  return existsSync(join(path, MARK));
}

/**
 * Makes a bare copy with all branches and tags at `to`, whatever stands there. A failed call is gone on from by the next.
 * @param depth so many commits of each branch, and tags of these alone; null: all
 */
export async function cloneFirst(
  network: Network,
  to: string,
  depth: number | null,
  signal: AbortSignal,
): Promise<void> {
  const goesOn = (await read(join(to, MARK))) === network.remoteUrl && existsSync(join(to, 'HEAD'));
  if (!goesOn) {
    if (depth === null && (await tryWhole(network, to, signal))) return;
    await begin(network, to, signal);
  }
  await goOn(network, to, depth, signal);
}

async function tryWhole(network: Network, to: string, signal: AbortSignal): Promise<boolean> {
  await clear(to);
  try {
    const how = ['-c', FILES, 'clone', '--bare', '--config', 'receive.denyDeletes=true'];
    await network.run([...how, network.remoteUrl, to], to, signal);
    return true;
  } catch (error) {
    signal.throwIfAborted();
    if (!saysBroken(messageOf(error))) throw error;
    return false;
  }
}

async function clear(to: string): Promise<void> {
  await rm(to, { recursive: true, force: true });
  await mkdir(to, { recursive: true });
}

async function begin(network: Network, to: string, signal: AbortSignal): Promise<void> {
  await clear(to);
  await git(['-c', FILES, 'init', '--quiet', '--bare', to], { cwd: to, signal });
  await git(['config', 'receive.denyDeletes', 'true'], { cwd: to, signal });
  await writeFile(join(to, MARK), network.remoteUrl);
}

/** A copy that a power cut spoilt is none to go on from. */
async function goOn(network: Network, to: string, depth: number | null, signal: AbortSignal): Promise<void> {
  try {
    await new Steps(network, to, signal).go(depth);
  } catch (error) {
    signal.throwIfAborted();
    const words = messageOf(error);
    if (saysDamaged(words) && !saysBroken(words)) await rm(to, { recursive: true, force: true });
    throw error;
  }
}

/** Brings what was kept in a damaged copy to a fresh one, as much as can still be read. */
export async function bringKept(from: string, to: string, signal: AbortSignal): Promise<void> {
  const listed = await tryGit(['for-each-ref', '--format=%(refname)', 'refs/toolcrew'], { cwd: from, signal });
  const fetch = ['fetch', '--quiet', '--no-tags', '--update-shallow', '--no-write-fetch-head', from];
  for (const ref of listed.stdout.split('\n').filter((name) => name !== ''))
    await tryGit([...fetch, `+${ref}:${ref}`], { cwd: to, signal });
}

class Steps {
  readonly #network: Network;
  readonly #path: string;
  readonly #signal: AbortSignal;

  constructor(network: Network, path: string, signal: AbortSignal) {
    this.#network = network;
    this.#path = path;
    this.#signal = signal;
  }

  async go(depth: number | null): Promise<void> {
    await removeStrays(this.#path);
    const head = await this.#network.askHead(this.#path, this.#signal);
    const ref = `refs/heads/${head}`;
    if (head !== undefined) await git(['symbolic-ref', 'HEAD', ref], { cwd: this.#path, signal: this.#signal });
    if (depth !== null) {
      await this.#fetch(`--depth=${depth}`, '+refs/heads/*:refs/heads/*');
      return;
    }
    if (head !== undefined) {
      if (!(await this.#has(ref))) await this.#fetch('--depth=1', '--no-tags', `+${ref}:${ref}`);
      await this.#deepen(ref);
    }
    await this.#takeOthers();
  }

  /** A step that breaks is tried smaller; the smallest has to succeed. */
  async #deepen(ref: string): Promise<void> {
    let step = FIRST_STEP;
    let most = Number.MAX_SAFE_INTEGER;
    for (let past = await this.#past(); past !== null; ) {
      const broken = await this.#tryFetch(`--deepen=${step}`, '--no-tags', `+${ref}:${ref}`);
      if (broken !== null) {
        if (step === 1) throw broken;
        most = step;
        step = Math.max(1, Math.floor(step / GROWTH));
        continue;
      }
      const before = past;
      past = await this.#past();
      if (past === before) throw failure(WORKSPACES_CODES.commits_missing, { place: ref, step });
      // What broke once may come another time: the bound gives way.
      most = Math.min(most * 2, Number.MAX_SAFE_INTEGER);
      step = Math.max(1, Math.min(step * GROWTH, Math.floor(most / 2), 2 ** 30));
    }
  }

  /** Where the copy ends for now; null: nowhere before the beginning. */
  async #past(): Promise<string | null> {
    const text = await read(join(this.#path, 'shallow'));
    return text === null || text.trim() === '' ? null : text;
  }

  /** The other branches, and the tags: together, or each by itself where that breaks. */
  async #takeOthers(): Promise<void> {
    const all = ['--prune', '+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'];
    if ((await this.#tryFetch(...all)) === null) return;
    const { remoteUrl } = this.#network;
    const list = await this.#network.run(
      ['ls-remote', '--heads', '--tags', '--refs', remoteUrl],
      this.#path,
      this.#signal,
    );
    for (const row of list.split('\n')) {
      const [sha = '', ref = ''] = row.split('\t');
      if (ref !== '' && !(await this.#has(ref, sha))) await this.#fetch('--no-tags', `+${ref}:${ref}`);
    }
    await this.#fetch(...all);
  }

  async #has(ref: string, sha?: string): Promise<boolean> {
    const { exitCode, stdout } = await tryGit(['rev-parse', '--verify', '--quiet', ref], { cwd: this.#path });
    return exitCode === 0 && (sha === undefined || stdout.trim() === sha);
  }

  async #fetch(...words: readonly string[]): Promise<void> {
    const broken = await this.#tryFetch(...words);
    if (broken !== null) throw broken;
  }

  /** Gives the failure when the connection broke; throws any other. */
  async #tryFetch(...words: readonly string[]): Promise<ToolError | null> {
    await this.#removeHalves();
    const options = words.filter((word) => word.startsWith('--'));
    const refs = words.filter((word) => !word.startsWith('--'));
    const args = ['fetch', '--no-write-fetch-head', ...options, this.#network.remoteUrl, ...refs];
    try {
      const result = await this.#network.try(args, this.#path, this.#signal);
      this.#signal.throwIfAborted();
      if (result.exitCode === 0) return null;
      throw gitFailure('fetch', result, explain(result.stderr || result.stdout));
    } catch (error) {
      this.#signal.throwIfAborted();
      if (error instanceof ToolError && saysBroken(error.message)) return error;
      throw error;
    }
  }

  /** What a broken fetch left of its pack: nobody goes on from that. */
  async #removeHalves(): Promise<void> {
    const packs = join(this.#path, 'objects', 'pack');
    for (const name of await readdir(packs).catch(() => []))
      if (name.startsWith('tmp_')) await rm(join(packs, name), { force: true });
  }
}
