// The daemon's own bare copies of submodules, one an address: git meets the network here, and workspaces get files from here.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Clock } from '../../../base/ports.ts';
import type { Environment } from '../../../base/rules/environment.ts';
import { ToolError } from '../../../base/rules/errors.ts';
import { explain, type GitResult, networkEnvironment, saysDamaged, tryGit } from '../../../git/git.ts';
import { removeStrays } from '../../../git/git-directory.ts';
import { gitFailure } from './git-failure.ts';
import { refusePushes } from './linked-copy.ts';
import { telling, withoutProgress } from './network.ts';

export type ModuleCopiesOptions = {
  /** Theirs alone. */
  readonly directory: string;
  /** The daemon's repository: the credential is for its scheme, host and port alone. */
  readonly remoteUrl: string;
  readonly secret: () => Promise<string | null>;
  readonly env: Environment;
  readonly clock: Clock;
  /** Git that says nothing for so long is ended. */
  readonly silenceMs: () => number;
};

/** A server of a submodule gets no more patience than this. */
const MAX_SILENCE_MS = 120_000;
/** A server that did not answer is not asked again for so long: the issues after the first need not wait for it. */
const PATIENCE_MS = 60_000;

/** Over HTTP alone, whatever addresses are put in the place of others; what stands still is ended. */
const NETWORK = [
  ...['protocol.allow=never', 'protocol.http.allow=always', 'protocol.https.allow=always'],
  ...['http.lowSpeedLimit=1', 'http.lowSpeedTime=30', 'core.askPass='],
].flatMap((setting) => ['-c', setting]);
/** Nor has a person's own login anything to do here. */
const NOBODY = ['-c', 'credential.helper='];
const REFS = ['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'];

/** Runs git with the server of a submodule; it gets the credential only where it is that of the daemon's repository. */
export async function withServer(
  args: readonly string[],
  url: string,
  options: Pick<ModuleCopiesOptions, 'remoteUrl' | 'secret' | 'env'> & {
    readonly cwd: string;
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
  },
): Promise<GitResult> {
  const { remoteUrl, secret, env, cwd, timeoutMs, signal } = options;
  const { origin } = new URL(url);
  const credential = origin === new URL(remoteUrl).origin ? await secret() : null;
  const who = credential === null ? NOBODY : [];
  return tryGit(telling([...NETWORK, ...who, ...args]), {
    cwd,
    env: networkEnvironment(env, url),
    timeoutMs,
    countsSilence: true,
    signal,
    ...(credential === null ? {} : { secret: credential, secretFor: origin }),
  });
}

export class ModuleCopies {
  readonly #options: ModuleCopiesOptions;
  /** The last work on each copy: the next one begins after it. */
  readonly #lasts = new Map<string, Promise<unknown>>();
  readonly #unlocked = new Set<string>();
  readonly #failures = new Map<string, { readonly at: number; readonly error: ToolError }>();

  constructor(options: ModuleCopiesOptions) {
    this.#options = options;
  }

  get remoteUrl(): string {
    return this.#options.remoteUrl;
  }

  /**
   * Sees to it that the copy of an address has the commit.
   * @returns where a clone gets it; null when the server has no such commit. Throws when it cannot be asked.
   */
  async bring(url: string, sha: string, signal: AbortSignal): Promise<string | null> {
    const before = this.#lasts.get(url) ?? Promise.resolve();
    const next = before.catch(() => undefined).then(() => this.#bring(url, sha, signal));
    this.#lasts.set(url, next);
    return next;
  }

  async #bring(url: string, sha: string, signal: AbortSignal): Promise<string | null> {
    signal.throwIfAborted();
    const path = join(this.#options.directory, `${createHash('sha256').update(url).digest('hex').slice(0, 32)}.git`);
    await this.#made(path);
    // A file: address, never the bare path: a clone of that would share files with the copy.
    const source = pathToFileURL(path).href;
    if (await this.#holds(path, sha, signal)) return source;
    const { clock } = this.#options;
    const failure = this.#failures.get(url);
    if (failure !== undefined && clock.elapsed() - failure.at < PATIENCE_MS) throw failure.error;
    try {
      await this.#update(path, url, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof ToolError) this.#failures.set(url, { at: clock.elapsed(), error });
      throw error;
    }
    this.#failures.delete(url);
    if (await this.#holds(path, sha, signal)) return source;
    // On no branch any more: many servers give it all the same.
    await this.#fetch(path, url, [`+${sha}:refs/toolcrew/asked/${sha}`], signal);
    return (await this.#holds(path, sha, signal)) ? source : null;
  }

  async #update(path: string, url: string, signal: AbortSignal): Promise<void> {
    let fetched = await this.#fetch(path, url, REFS, signal);
    if (fetched.exitCode !== 0 && saysDamaged(fetched.stderr)) {
      await rm(path, { recursive: true, force: true });
      await this.#made(path);
      fetched = await this.#fetch(path, url, REFS, signal);
    }
    if (fetched.exitCode !== 0) throw gitFailure('fetch', fetched, explain(fetched.stderr, fetched.stdout));
  }

  async #made(path: string): Promise<void> {
    if (existsSync(join(path, 'HEAD'))) {
      if (!this.#unlocked.has(path)) await removeStrays(path);
      this.#unlocked.add(path);
      return;
    }
    await mkdir(path, { recursive: true });
    await tryGit(['init', '--quiet', '--bare', '--template='], { cwd: path });
    await refusePushes(path);
    this.#unlocked.add(path);
  }

  async #holds(path: string, sha: string, signal: AbortSignal): Promise<boolean> {
    return (await tryGit(['cat-file', '-e', `${sha}^{commit}`], { cwd: path, signal })).exitCode === 0;
  }

  async #fetch(path: string, url: string, refs: readonly string[], signal: AbortSignal): Promise<GitResult> {
    const prune = refs === REFS ? ['--prune'] : [];
    const args = ['fetch', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', ...prune, url, ...refs];
    const timeoutMs = Math.min(this.#options.silenceMs(), MAX_SILENCE_MS);
    const result = await withServer(args, url, { ...this.#options, cwd: path, timeoutMs, signal });
    signal.throwIfAborted();
    return { ...result, stderr: withoutProgress(result.stderr) };
  }
}
