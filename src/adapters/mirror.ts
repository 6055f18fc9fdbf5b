// The daemon's own bare copy of the repository: the only place where git meets the hosting credential. Workspaces are
// cloned from it, pushes leave from it; no program of an agent's ever runs in it.

import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolError } from '../domain/errors.ts';
import type { Clock } from '../engine/ports.ts';
import { type GitOptions, git, networkEnvironment, tryGit } from './git.ts';

export type MirrorOptions = {
  /** Directory of the bare repository. */
  readonly path: string;
  readonly remoteUrl: string;
  /** The credential for the remote; null when there is none. */
  readonly secret: () => Promise<string | null>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
};

/** A fetch this young serves once more: issues that start together share one. */
const FRESH_MS = 2_000;

const REFSPEC = '+refs/heads/*:refs/heads/*';
const SHA = /^[0-9a-f]{40,64}$/;

export class Mirror {
  readonly #options: MirrorOptions;
  #fetching: Promise<void> | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #defaultBranch: string | undefined;

  constructor(options: MirrorOptions) {
    this.#options = options;
  }

  get path(): string {
    return this.#options.path;
  }

  async #remote(args: readonly string[], cwd: string, more: Partial<GitOptions> = {}): Promise<string> {
    const { stdout, stderr, exitCode } = await this.#tryRemote(args, cwd, more);
    if (exitCode === 0) return stdout;
    throw new ToolError('git', `git ${args[0] ?? ''} failed: ${explain(stderr || stdout)}`);
  }

  async #tryRemote(args: readonly string[], cwd: string, more: Partial<GitOptions>) {
    const secret = await this.#options.secret();
    const env = { ...networkEnvironment(this.#options.env), ...more.env };
    return tryGit(args, { ...more, cwd, env, ...(secret === null ? {} : { secret }) });
  }

  #local(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<string> {
    return git(args, { cwd: this.path, env: { ...networkEnvironment(this.#options.env), ...env } });
  }

  /** Brings the mirror up to date, cloning it first where there is none. Calls that come together share one fetch. */
  refresh(signal: AbortSignal): Promise<void> {
    if (this.#fetching !== undefined) return this.#fetching;
    if (this.#options.clock.now() - this.#fetchedAt < FRESH_MS && existsSync(join(this.path, 'HEAD')))
      return Promise.resolve();
    const startedAt = this.#options.clock.now();
    this.#fetching = this.#fetch(signal)
      .then(() => {
        this.#fetchedAt = startedAt;
      })
      .finally(() => {
        this.#fetching = undefined;
      });
    return this.#fetching;
  }

  async #fetch(signal: AbortSignal): Promise<void> {
    const { remoteUrl } = this.#options;
    if (existsSync(join(this.path, 'HEAD'))) {
      await this.#remote(['fetch', '--quiet', '--prune', remoteUrl, REFSPEC], this.path, { signal });
      return;
    }
    const fresh = `${this.path}.new`;
    await rm(fresh, { recursive: true, force: true });
    await mkdir(fresh, { recursive: true });
    await this.#remote(
      ['clone', '--quiet', '--bare', '--config', 'receive.denyDeletes=true', remoteUrl, fresh],
      fresh,
      { signal },
    );
    // Whoever pushes to this directory by its path is turned away: only the daemon's fetch changes it.
    await mkdir(join(fresh, 'hooks'), { recursive: true });
    await writeFile(
      join(fresh, 'hooks', 'pre-receive'),
      '#!/bin/sh\necho "the daemon pushes; nobody pushes here" >&2\nexit 1\n',
      { mode: 0o755 },
    );
    await rename(fresh, this.path);
  }

  /** The branch that the remote's HEAD names. */
  async defaultBranch(signal: AbortSignal): Promise<string> {
    if (this.#defaultBranch !== undefined) return this.#defaultBranch;
    if (!existsSync(join(this.path, 'HEAD'))) await this.refresh(signal);
    const head = (await this.#local(['symbolic-ref', '--short', 'HEAD'])).trim();
    const { exitCode } = await tryGit(['rev-parse', '--verify', '--quiet', `refs/heads/${head}`], { cwd: this.path });
    if (exitCode !== 0)
      throw new ToolError(
        'git',
        `the repository ${this.#options.remoteUrl} has no commit on its default branch ${head}; push one first`,
      );
    this.#defaultBranch = head;
    return head;
  }

  /** A file on the default branch; null when it is not there. */
  async readFile(path: string, signal: AbortSignal): Promise<string | null> {
    const branch = await this.defaultBranch(signal);
    const { exitCode, stdout } = await tryGit(['cat-file', 'blob', `refs/heads/${branch}:${path}`], { cwd: this.path });
    return exitCode === 0 ? stdout : null;
  }

  /** The commit of a branch as last fetched; null when there is none. */
  async branchHead(branch: string): Promise<string | null> {
    const { exitCode, stdout } = await tryGit(['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`], {
      cwd: this.path,
    });
    return exitCode === 0 ? stdout.trim() : null;
  }

  /** Whether `sha`, found in `objects`, changes anything against the default branch. */
  async brings(sha: string, objects: string, signal: AbortSignal): Promise<boolean> {
    const branch = await this.defaultBranch(signal);
    const { exitCode, stderr } = await tryGit(
      ['diff', '--quiet', '--no-ext-diff', '--no-textconv', `refs/heads/${branch}...${sha}`],
      {
        cwd: this.path,
        env: { ...networkEnvironment(this.#options.env), GIT_ALTERNATE_OBJECT_DIRECTORIES: objects },
      },
    );
    if (exitCode === 0 || exitCode === 1) return exitCode === 1;
    throw new ToolError('git', `git diff failed: ${explain(stderr)}`);
  }

  /** The messages of the commits that `sha` has beyond the default branch, oldest first. */
  async commitMessages(sha: string, objects: string, signal: AbortSignal): Promise<string[]> {
    const branch = await this.defaultBranch(signal);
    const text = await this.#local(
      ['log', '--reverse', '--no-merges', '--max-count=50', '--format=%B%x00', `refs/heads/${branch}..${sha}`],
      {
        GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
      },
    );
    return text
      .split('\0')
      .map((message) => message.trim())
      .filter((message) => message !== '');
  }

  /**
   * Pushes `sha` to one branch of the remote. What stands there is replaced only if it is an ancestor of `sha` or one
   * of `ours`; commits of somebody else are never overwritten.
   */
  async push(
    branch: string,
    sha: string,
    objects: string,
    ours: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    if (!SHA.test(sha)) throw new ToolError('git', `expected a commit to push, got ${sha}`);
    const env = { GIT_ALTERNATE_OBJECT_DIRECTORIES: objects };
    let expected = ours.at(-1) ?? (await this.branchHead(branch));
    for (let tries = 0; tries < 2; tries++) {
      if (expected === sha && tries > 0) return;
      if (expected !== null && expected !== sha && !ours.includes(expected))
        await this.#requireAncestor(branch, expected, sha, env);
      const lease = `--force-with-lease=refs/heads/${branch}:${expected ?? ''}`;
      const { exitCode, stdout, stderr } = await this.#tryRemote(
        ['push', '--quiet', '--porcelain', lease, this.#options.remoteUrl, `${sha}:refs/heads/${branch}`],
        this.path,
        { signal, env },
      );
      if (exitCode === 0) return;
      signal.throwIfAborted();
      const stale = /stale info|fetch first|non-fast-forward/.test(stdout + stderr);
      if (!stale || tries > 0) {
        // A line with "!" is a refusal of the branch itself, not of the connection.
        const code = stdout.split('\n').some((line) => line.startsWith('!\t')) ? 'refused' : 'git';
        throw new ToolError(code, `git push failed: ${explain(stderr, stdout)}`);
      }
      this.#fetchedAt = Number.NEGATIVE_INFINITY;
      await this.refresh(signal);
      expected = await this.branchHead(branch);
    }
  }

  async #requireAncestor(
    branch: string,
    expected: string,
    sha: string,
    env: Readonly<Record<string, string>>,
  ): Promise<void> {
    const { exitCode } = await tryGit(['merge-base', '--is-ancestor', expected, sha], {
      cwd: this.path,
      env: { ...networkEnvironment(this.#options.env), ...env },
    });
    if (exitCode !== 0) {
      throw new ToolError(
        'refused',
        `the branch ${branch} holds commits of somebody else (${expected.slice(0, 12)}); they are not overwritten`,
      );
    }
  }

  /** Keeps a ref of a workspace's clone here, where it outlives the workspace. */
  async keep(clone: string, ref: string): Promise<void> {
    await this.#local([
      'fetch',
      '--quiet',
      '--no-tags',
      '--no-write-fetch-head',
      join(clone, '.git'),
      `+${ref}:${ref}`,
    ]);
  }
}

/** Git's own words, with what usually is behind them. */
function explain(stderr: string, stdout = ''): string {
  const said = `${stderr.trim()}\n${stdout.trim()}`.trim().split('\n').slice(-6).join('\n');
  const denied =
    /Authentication failed|could not read Username|HTTP Basic: Access denied|403|401|Permission denied|Repository not found/i.test(
      said,
    );
  return denied
    ? `${said} (the hosting service turned the credential away: check \`gh auth status\` or the token)`
    : said;
}
