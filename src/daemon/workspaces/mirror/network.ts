// Git with the remote: it has the hosting credential, and is ended only when nothing has come from it for a while.

import type { Environment } from '../../../base/rules/environment.ts';
import { explain, type GitResult, networkEnvironment, tryGit, verbOf } from '../../../git/git.ts';
import { gitFailure } from './git-failure.ts';

export type NetworkOptions = {
  readonly remoteUrl: string;
  /** The credential for the remote; null when there is none. */
  readonly secret: () => Promise<string | null>;
  readonly env: Environment;
  /** Git that says nothing for so long is ended. */
  readonly silenceMs: () => number;
};

/** Those that tell of bytes as they come, when asked to. */
const TELLING: readonly string[] = ['clone', 'fetch', 'push'];
/** What is told last of each kind; before that it is overwritten on a terminal. */
const TOLD =
  /^((remote: )?[A-Z][a-z]+ing [a-z ]+: +\d.*, done\.|(remote: )?Total \d+ \(delta .*|Delta compression using .*)[^\S\n]*$\n?/gm;

/** The arguments of git that have it tell of bytes as they come, where it can. */
export function telling(args: readonly string[]): readonly string[] {
  const at = args.findIndex((arg) => TELLING.includes(arg));
  return at === -1 ? args : [...args.slice(0, at + 1), '--progress', ...args.slice(at + 1)];
}

/** Git's words without those that only tell how far it is. */
export function withoutProgress(words: string): string {
  return words.replaceAll(/[^\n]*\r(?!\n)/g, '').replaceAll(TOLD, '');
}

export class Network {
  readonly #options: NetworkOptions;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  get remoteUrl(): string {
    return this.#options.remoteUrl;
  }

  /** Runs git; its exit code is in the result. */
  async try(args: readonly string[], cwd: string, signal: AbortSignal): Promise<GitResult> {
    const { secret, env, silenceMs } = this.#options;
    const credential = await secret();
    const result = await tryGit(telling(args), {
      cwd,
      signal,
      env: networkEnvironment(env, this.remoteUrl),
      timeoutMs: silenceMs(),
      countsSilence: true,
      ...(credential === null ? {} : { secret: credential }),
    });
    return { ...result, stderr: withoutProgress(result.stderr) };
  }

  /** Runs git-lfs, which tells how far it is. Whatever a server leads on to, the credential is for the remote's host alone. */
  async tryLfs(args: readonly string[], cwd: string, signal: AbortSignal): Promise<GitResult> {
    const { secret, env, silenceMs, remoteUrl } = this.#options;
    const credential = await secret();
    return tryGit(args, {
      cwd,
      signal,
      env: { ...networkEnvironment(env, remoteUrl), GIT_LFS_FORCE_PROGRESS: '1', GIT_TRACE: '1' },
      timeoutMs: silenceMs(),
      countsSilence: true,
      ...(credential === null ? {} : { secret: credential, secretFor: new URL(remoteUrl).origin }),
    });
  }

  /** Runs git and gives its standard output; throws with git's own words when it fails. */
  async run(args: readonly string[], cwd: string, signal: AbortSignal): Promise<string> {
    const result = await this.try(args, cwd, signal);
    if (result.exitCode === 0) return result.stdout;
    signal.throwIfAborted();
    throw gitFailure(verbOf(args), result, explain(result.stderr || result.stdout));
  }

  /** Which branch the remote's HEAD names; undefined when it does not say. */
  async askHead(cwd: string, signal: AbortSignal): Promise<string | undefined> {
    const text = await this.run(['ls-remote', '--symref', this.remoteUrl, 'HEAD'], cwd, signal);
    return /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(text)?.[1];
  }
}
