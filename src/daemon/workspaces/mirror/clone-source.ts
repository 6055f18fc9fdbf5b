// The repository that workspaces are cloned from: the remote's branches and tags and nothing else, so that no clone carries what agents
// left in the mirror, and the clone for the ten-thousandth issue is as small as that for the first.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ALL_PAST, FILES, git } from '../../../git/git.ts';
import { readRefAt } from '../../../git/git-directory.ts';
import type { Refs } from './known-refs.ts';
import { refusePushes, shareCopy } from './linked-copy.ts';
import { PUSHED } from './pushes.ts';

const BRANCHES = 'refs/heads/';

export class CloneSource {
  readonly path: string;
  readonly #mirror: string;
  /** The branches and tags as they were when it was last brought up to date. */
  #shown: string | undefined;
  #head: string | undefined;
  /** Its branches and tags, where they are known. */
  refs: Refs | undefined;

  constructor(path: string, mirror: string) {
    this.path = path;
    this.#mirror = mirror;
  }

  get exists(): boolean {
    return existsSync(join(this.path, 'HEAD'));
  }

  /**
   * Brings it up to the mirror's state: `refs` are all of the mirror's, `head` is its default branch. Branches of other
   * issues, as the daemon pushed them, wait for the next time that something else is new: each push would cost a fetch.
   * @param isUntouched the mirror holds nothing but what came from the remote, so that its objects can be taken as they are
   */
  async follow(refs: Refs, head: string, isUntouched: boolean, signal: AbortSignal): Promise<void> {
    const seen = [...refs].filter(
      ([ref, sha]) =>
        ref.startsWith('refs/tags/') ||
        (ref.startsWith(BRANCHES) && refs.get(`${PUSHED}/${ref.slice(BRANCHES.length)}`) !== sha),
    );
    const shown = createHash('sha256')
      .update(JSON.stringify([head, seen]))
      .digest('base64');
    if (shown === this.#shown && this.exists) return;
    this.#shown = undefined;
    this.refs = undefined;
    if (!this.exists || !(await this.#fetch(head, signal))) await this.#make(refs, head, isUntouched, signal);
    this.#shown = shown;
    this.refs = new Map([...refs].filter(([ref]) => ref.startsWith('refs/tags/') || ref.startsWith(BRANCHES)));
  }

  /** Whether it has the branch as it is in the mirror, whose refs these are. */
  shows(branch: string, refs: Refs): boolean {
    const ref = `${BRANCHES}${branch}`;
    return readRefAt(this.path, ref) === (refs.get(ref) ?? null);
  }

  /** The next time it takes all branches as they are. */
  outdate(): void {
    this.#shown = undefined;
  }

  /** False when it cannot be used any more, for whatever reason: it holds nothing that could not be made again. */
  async #fetch(head: string, signal: AbortSignal, more: readonly string[] = []): Promise<boolean> {
    const options = { cwd: this.path, signal };
    try {
      const args = ['fetch', '--quiet', '--prune', '--update-shallow', '--no-write-fetch-head', ...more, this.#mirror];
      await git([...args, '+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'], options);
      if (head !== '' && head !== this.#head) await git(['symbolic-ref', 'HEAD', `refs/heads/${head}`], options);
      this.#head = head;
      return true;
    } catch {
      signal.throwIfAborted();
      return false;
    }
  }

  /** Has it go as far back as the mirror. */
  async deepen(signal: AbortSignal): Promise<void> {
    this.#shown = undefined;
    this.refs = undefined;
    if (this.exists && !(await this.#fetch(this.#head ?? '', signal, [ALL_PAST]))) await this.drop();
  }

  async #make(refs: Refs, head: string, isUntouched: boolean, signal: AbortSignal): Promise<void> {
    if (isUntouched) {
      await this.drop();
      const shown = [...refs].filter(([ref]) => ref.startsWith(BRANCHES) || ref.startsWith('refs/tags/'));
      return shareCopy(this.#mirror, head, shown, this.path);
    }
    const fresh = `${this.path}.new`;
    await rm(fresh, { recursive: true, force: true });
    await mkdir(fresh, { recursive: true });
    const args = ['clone', '--quiet', '--bare', '--template=', '--config', 'receive.denyDeletes=true', '--no-local'];
    await git(['-c', FILES, ...args, this.#mirror, fresh], { cwd: fresh, signal });
    await refusePushes(fresh);
    await this.drop();
    await rename(fresh, this.path);
  }

  /** It cannot be used: the next time it is made anew. */
  async drop(): Promise<void> {
    this.#shown = undefined;
    this.refs = undefined;
    this.#head = undefined;
    await rm(this.path, { recursive: true, force: true });
  }
}
