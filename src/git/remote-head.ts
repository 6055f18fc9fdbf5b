// Default branch of the remote, kept as HEAD of the mirror and asked for again at intervals.

import type { Clock } from '../base/ports.ts';
import { readHeadBranch } from './git-directory.ts';

/** So often the remote is asked; besides whenever the known branch is gone. */
const HEAD_MS = 600_000;

export type RemoteHeadOptions = {
  readonly clock: Clock;
  /** The mirror, a bare repository. */
  readonly path: string;
  /** Asks the remote; undefined when it does not say. */
  readonly ask: (signal: AbortSignal) => Promise<string | undefined>;
  /** Runs git in the mirror. */
  readonly local: (args: readonly string[], signal?: AbortSignal) => Promise<string>;
};

export class RemoteHead {
  readonly #options: RemoteHeadOptions;
  #askedAt = Number.NEGATIVE_INFINITY;
  #name: string | undefined;

  constructor(options: RemoteHeadOptions) {
    this.#options = options;
  }

  /** The branch that HEAD of the mirror names. */
  async name(signal?: AbortSignal): Promise<string> {
    const { path, local } = this.#options;
    this.#name ??= readHeadBranch(path) ?? (await local(['symbolic-ref', '--short', 'HEAD'], signal)).trim();
    return this.#name;
  }

  /** The mirror was made anew just now, with HEAD as the remote has it. */
  forget(): void {
    this.#askedAt = this.#options.clock.elapsed();
    this.#name = undefined;
  }

  /** Asks beside a fetch where that is due; null: it is not. */
  askWhenDue(signal: AbortSignal): Promise<string | undefined> | null {
    if (this.#options.clock.elapsed() - this.#askedAt < HEAD_MS) return null;
    const asked = this.#options.ask(signal);
    asked.catch(() => undefined);
    return asked;
  }

  /**
   * Takes what was asked for beside the fetch; without that it asks when the known branch is gone.
   * @param isThere whether the remote has a branch
   */
  async learn(
    asked: Promise<string | undefined> | null,
    isThere: (branch: string) => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<void> {
    const { ask, clock, local } = this.#options;
    const known = await this.name(signal);
    if (asked === null && (await isThere(known))) return;
    const head = await (asked ?? ask(signal));
    this.#askedAt = clock.elapsed();
    if (head === undefined || head === known) return;
    await local(['symbolic-ref', 'HEAD', `refs/heads/${head}`], signal);
    this.#name = head;
  }
}
