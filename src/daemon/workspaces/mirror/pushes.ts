// Branches that wait to be pushed go together: each push is a connection, a login and nine processes of its own.

import type { Clock } from '../../../base/ports.ts';
import type { GitResult } from '../../../git/git.ts';

/** Where commits that were pushed are known by, so that they are not kept twice. */
export const PUSHED = 'refs/toolcrew/pushed';
/** The remote's name in a push: by it git notes in a ref what was pushed. */
const REMOTE = 'toolcrew';
/** A push that takes longer holds up nobody. */
const PATIENCE_MS = 2_000;
const MAX_TOGETHER = 20;

/** `expected`: what stands on the branch of the remote; null: there is no such branch. */
export type Wanted = { readonly branch: string; readonly sha: string; readonly expected: string | null };

/** Arguments of git for one push of all these. */
export function pushArguments(remoteUrl: string, wanted: readonly Wanted[]): string[] {
  const settings = [`url=${remoteUrl}`, `fetch=+refs/heads/*:${PUSHED}/*`];
  return [
    ...settings.flatMap((setting) => ['-c', `remote.${REMOTE}.${setting}`]),
    ...['push', '--porcelain'],
    ...wanted.map(({ branch, expected }) => `--force-with-lease=refs/heads/${branch}:${expected ?? ''}`),
    REMOTE,
    ...wanted.map(({ branch, sha }) => `${sha}:refs/heads/${branch}`),
  ];
}

/** Whether the branch is among those that arrived, by git's lines for those of a push that failed in part. */
function hasArrived({ exitCode, stdout }: GitResult, branch: string): boolean {
  if (exitCode === 0) return true;
  return stdout.split('\n').some((line) => {
    const [flag = '', refs = ''] = line.split('\t');
    return /^[ +*=]$/.test(flag) && refs.endsWith(`:refs/heads/${branch}`);
  });
}

type Waiting = { readonly wanted: Wanted; readonly signal: AbortSignal; result: Promise<GitResult> | undefined };

export class Pushes {
  readonly #push: (wanted: readonly Wanted[], signal: AbortSignal) => Promise<GitResult>;
  readonly #clock: Clock;
  #waiting: readonly Waiting[] = [];
  /** Resolves when those that wait may go; undefined when they may. */
  #ahead: Promise<void> | undefined;

  /** @param push runs one push of git's; its failure is in the result */
  constructor(push: (wanted: readonly Wanted[], signal: AbortSignal) => Promise<GitResult>, clock: Clock) {
    this.#push = push;
    this.#clock = clock;
  }

  /** Pushes it, alone or with others that wait as well. The result is that of a push of its own. */
  async push(wanted: Wanted, signal: AbortSignal): Promise<GitResult> {
    const mine: Waiting = { wanted, signal, result: undefined };
    this.#waiting = [...this.#waiting, mine];
    while (mine.result === undefined) {
      if (signal.aborted) {
        this.#waiting = this.#waiting.filter((one) => one !== mine);
        signal.throwIfAborted();
      }
      if (this.#ahead === undefined) this.#begin();
      else await this.#ahead;
    }
    return mine.result;
  }

  /** Takes along those that wait, each branch once. */
  #begin(): void {
    const taken = new Map<string, Waiting>();
    for (const one of this.#waiting) {
      const { wanted, signal } = one;
      if (!signal.aborted && !taken.has(wanted.branch) && taken.size < MAX_TOGETHER) taken.set(wanted.branch, one);
    }
    const group = [...taken.values()];
    this.#waiting = this.#waiting.filter((one) => !group.includes(one));
    const together = this.#together(group);
    for (const one of group) one.result = group.length === 1 ? together : this.#settle(one, together);
    this.#ahead = this.#passed(group.map((one) => one.result));
  }

  /** One push, which ends early when nobody waits for it any more. */
  async #together(group: readonly Waiting[]): Promise<GitResult> {
    const end = new AbortController();
    const onAbort = () => {
      if (group.every(({ signal }) => signal.aborted)) end.abort(group[0]?.signal.reason);
    };
    for (const { signal } of group) signal.addEventListener('abort', onAbort);
    try {
      onAbort();
      const wanted = group.map((one) => one.wanted);
      return await this.#push(wanted, end.signal);
    } finally {
      for (const { signal } of group) signal.removeEventListener('abort', onAbort);
    }
  }

  /** What did not arrive with the others is pushed once more, alone: so it fails, if it does, for reasons of its own. */
  async #settle({ wanted, signal }: Waiting, together: Promise<GitResult>): Promise<GitResult> {
    const result = await together.catch(() => undefined);
    if (result !== undefined && hasArrived(result, wanted.branch)) return { ...result, exitCode: 0 };
    signal.throwIfAborted();
    return this.#push([wanted], signal);
  }

  async #passed(results: readonly (Promise<GitResult> | undefined)[]): Promise<void> {
    const end = new AbortController();
    await Promise.race([Promise.allSettled(results), this.#clock.sleep(PATIENCE_MS, end.signal)]);
    end.abort();
    this.#ahead = undefined;
  }
}
