// What workspaces are cloned from: the remote's branches and nothing else, so that no clone carries what agents left in
// the mirror, and a clone of the ten-thousandth issue is as small as that of the first.

import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../domain/errors.ts';
import { FILES, git, saysDamaged } from './git.ts';
import type { Refs } from './known-refs.ts';

/** Turns away whoever pushes to a bare repository of the daemon's by its path. */
export async function refusePushes(path: string): Promise<void> {
  await mkdir(join(path, 'hooks'), { recursive: true });
  await writeFile(
    join(path, 'hooks', 'pre-receive'),
    '#!/bin/sh\necho "the daemon pushes; nobody pushes here" >&2\nexit 1\n',
    { mode: 0o755 },
  );
}

export class Seed {
  readonly path: string;
  readonly #mirror: string;
  /** The branches as they were when it was last brought up to date. */
  #shown: string | undefined;
  #head: string | undefined;

  constructor(path: string, mirror: string) {
    this.path = path;
    this.#mirror = mirror;
  }

  get exists(): boolean {
    return existsSync(join(this.path, 'HEAD'));
  }

  /** Brings it up to the mirror's state: `refs` are all of the mirror's, `head` is its default branch. */
  async follow(refs: Refs, head: string, signal: AbortSignal): Promise<void> {
    const heads = [...refs].filter(([ref]) => ref.startsWith('refs/heads/'));
    const shown = JSON.stringify([head, heads]);
    if (shown === this.#shown && this.exists) return;
    this.#shown = undefined;
    if (this.exists) await this.#fetch(head, signal);
    else await this.#clone(signal);
    this.#shown = shown;
  }

  async #fetch(head: string, signal: AbortSignal): Promise<void> {
    const options = { cwd: this.path, signal };
    try {
      const args = ['fetch', '--quiet', '--prune', '--no-write-fetch-head', this.#mirror];
      await git([...args, '+refs/heads/*:refs/heads/*'], options);
      if (head !== this.#head) await git(['symbolic-ref', 'HEAD', `refs/heads/${head}`], options);
      this.#head = head;
    } catch (error) {
      signal.throwIfAborted();
      if (!saysDamaged(messageOf(error))) throw error;
      await this.#clone(signal);
    }
  }

  async #clone(signal: AbortSignal): Promise<void> {
    const fresh = `${this.path}.new`;
    await rm(fresh, { recursive: true, force: true });
    await mkdir(fresh, { recursive: true });
    const args = ['clone', '--quiet', '--bare', '--template=', '--config', 'receive.denyDeletes=true'];
    await git(['-c', FILES, ...args, this.#mirror, fresh], { cwd: fresh, signal });
    await refusePushes(fresh);
    await this.drop();
    await rename(fresh, this.path);
  }

  /** It cannot be used: the next time it is made anew. */
  async drop(): Promise<void> {
    this.#shown = undefined;
    this.#head = undefined;
    await rm(this.path, { recursive: true, force: true });
  }
}
