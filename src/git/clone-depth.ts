// Depth of the daemon's shallow repositories, deepened on demand.

import { join } from 'node:path';
import { readRegular } from '../base/files/safe-read.ts';
import type { GitResult } from './git.ts';

/** Commits of the first deepening, the factor of each further one, and git's maximum. */
const FIRST_STEP = 64;
const GROWTH = 8;
const MOST = 2 ** 30;

const MAX_BYTES = 64 * 1024 * 1024;

/** Commits at which a shallow repository ends; none: it is complete. */
export function shallowCommits(gitDirectory: string): readonly string[] {
  const text = readRegular(join(gitDirectory, 'shallow'), MAX_BYTES) ?? '';
  return text.split('\n').filter((line) => line !== '');
}

/**
 * Whether the repository holds all commits that one of the two histories has and the other lacks. Otherwise their merge
 * base is unknown.
 * @param ends the commits at which the shallow repository ends
 * @param run runs git in it
 */
export async function hasHistoryBetween(
  ends: readonly string[],
  first: string,
  second: string,
  run: (args: readonly string[]) => Promise<GitResult>,
): Promise<boolean> {
  if (ends.length === 0) return true;
  const { exitCode, stdout } = await run(['rev-list', `${first}...${second}`]);
  if (exitCode !== 0) return true;
  const early = new Set(ends);
  return !stdout.split('\n').some((sha) => early.has(sha));
}

/**
 * Number of commits that the default branch lacks for a depth; null: none.
 * @param ends the commits at which the shallow repository ends
 * @param firstParents the commits of the branch, newest first, of merges the first parent alone
 */
export function missingDepth(ends: readonly string[], depth: number, firstParents: readonly string[]): number | null {
  const last = firstParents.at(-1);
  if (last === undefined || firstParents.length >= depth || !ends.includes(last)) return null;
  return depth - firstParents.length;
}

export type CloneDepthOptions = {
  /** The Git directory. */
  readonly path: string;
  /** So many commits of each branch are enough; null: all. */
  readonly depth: () => number | null;
  /** Fetches all branches, with these options of git's. */
  readonly fetch: (options: readonly string[], signal: AbortSignal) => Promise<void>;
  /** The commits of the default branch, newest first, of merges the first parent alone. */
  readonly firstParents: (signal: AbortSignal) => Promise<readonly string[]>;
};

export class CloneDepth {
  readonly #options: CloneDepthOptions;
  /** Where it ended when the remote had nothing more of what lies before. */
  #final = '';
  /** The depth that it was last measured by. */
  #measured: number | null = null;

  constructor(options: CloneDepthOptions) {
    this.#options = options;
  }

  get depth(): number | null {
    return this.#options.depth();
  }

  get ends(): readonly string[] {
    return shallowCommits(this.#options.path);
  }

  /** Whether it ends before the beginning of the repository, and may go further back. */
  get isOpen(): boolean {
    const now = this.ends.join();
    return now !== '' && now !== this.#final;
  }

  /** Commits by which it has to go further back for the depth that is wanted by now; null: by none. */
  async lacking(signal: AbortSignal): Promise<number | null> {
    const { depth } = this;
    if (!this.isOpen) return null;
    if (depth === null) return MOST;
    if (depth === this.#measured) return null;
    const lack = missingDepth(this.ends, depth, await this.#options.firstParents(signal));
    this.#measured = depth;
    return lack;
  }

  /** What is on no branch of the remote any more does not go back by steps, but all at once, as far as the remote still has it. */
  async step(commits: number, signal: AbortSignal): Promise<void> {
    const before = this.ends.join();
    // Old tags would bring all that lies before them.
    await this.#options.fetch([`--deepen=${commits}`, ...(commits === MOST ? ['--tags'] : [])], signal);
    if (this.ends.join() !== before) return;
    await this.#options.fetch(['--unshallow', '--tags'], signal);
    const after = this.ends.join();
    if (after === before) this.#final = after;
  }

  /** The sizes of steps into the past. */
  static *steps(): Generator<number> {
    for (let step = FIRST_STEP; ; step = Math.min(step * GROWTH, MOST)) yield step;
  }
}
