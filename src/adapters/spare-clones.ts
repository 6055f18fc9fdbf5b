// Clones made ahead, so that an issue that waited for a slot need not wait for its clone as well.

import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkspaceTask } from '../engine/ports.ts';
import { cloneMirror, fetchOrigin } from './clone.ts';
import { LOCAL_MS } from './git.ts';
import { readHead } from './git-directory.ts';
import type { Mirror } from './mirror.ts';
import { removeLargeTree } from './remove-tree.ts';

type Spare = { readonly path: string; readonly head: string | null };

export class SpareClones {
  /** Theirs alone; on the file system of the workspaces. */
  readonly #directory: string;
  readonly #mirror: Mirror;
  readonly #ready: Spare[] = [];
  #made = 0;
  #cleared: Promise<void> | undefined;

  constructor(directory: string, mirror: Mirror) {
    this.#directory = directory;
    this.#mirror = mirror;
  }

  /** What an earlier process left is of no use: nobody knows how far it got. */
  #clear(): Promise<void> {
    this.#cleared ??= removeLargeTree(this.#directory);
    return this.#cleared;
  }

  /** Sees to it that so many are ready, one after the other; none beyond that are kept. */
  async stock(count: number, signal: AbortSignal): Promise<void> {
    await this.#clear();
    while (this.#ready.length > count) await removeLargeTree(this.#ready.pop()?.path ?? '');
    while (this.#ready.length < count && !signal.aborted) {
      await this.#mirror.refresh(signal);
      const path = join(this.#directory, String(++this.#made));
      await mkdir(path, { recursive: true });
      await cloneMirror(this.#mirror.source, path, signal);
      this.#ready.push({ path, head: readHead(path) });
    }
  }

  /** Moves one to `to`, an empty directory, up to date for the task. False when there is none. The mirror is up to date. */
  async take(task: WorkspaceTask, to: string, signal: AbortSignal): Promise<boolean> {
    const spare = this.#ready.shift();
    if (spare === undefined) return false;
    // Somebody may have cleaned up around here.
    const isThere = await rename(spare.path, to).then(
      () => true,
      () => false,
    );
    if (!isThere) return false;
    const main = await this.#mirror.branchHead(await this.#mirror.defaultBranch(signal));
    const isCurrent = spare.head === main && (await this.#mirror.branchHead(task.branch)) === null;
    if (!isCurrent) await fetchOrigin({ path: to, launch: undefined, timeoutMs: LOCAL_MS }, signal);
    return true;
  }
}
