// Clones made ahead, so that an issue that waited for a slot need not wait for its clone as well.

import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { removeLargeTree, removeTree } from '../../base/files/remove-tree.ts';
import type { Clock } from '../../base/ports.ts';
import { messageOf } from '../../base/rules/errors.ts';
import { cloneMirror, fetchOrigin } from '../../git/clone.ts';
import { LOCAL_MS, saysDamaged } from '../../git/git.ts';
import { readHead } from '../../git/git-directory.ts';
import type { WorkspaceTask } from '../ports.ts';
import type { Mirror } from './mirror/mirror.ts';

type Spare = {
  readonly path: string;
  /** The default branch and the commit that it was made of. */
  readonly branch: string;
  readonly head: string | null;
  readonly madeAt: number;
};

/** Whoever cleans up temporary files takes old ones: a spare that waited this long may have lost some. */
const MAX_AGE_MS = 60 * 60_000;

export class SpareClones {
  /** Theirs alone; on the file system of the workspaces. */
  readonly #directory: string;
  readonly #mirror: Mirror;
  readonly #clock: Clock;
  readonly #ready: Spare[] = [];
  /** Clones for issues that start now. */
  readonly #filling = new Set<Promise<void>>();
  #made = 0;
  #isCleared = false;

  constructor(directory: string, mirror: Mirror, clock: Clock) {
    this.#directory = directory;
    this.#mirror = mirror;
    this.#clock = clock;
  }

  #isOld(spare: Spare): boolean {
    return this.#clock.elapsed() - spare.madeAt > MAX_AGE_MS;
  }

  /** Sees to it that so many are ready, one after the other; none beyond that are kept. */
  async keep(count: number, signal: AbortSignal): Promise<void> {
    // What an earlier process left is of no use: nobody knows how far it got.
    if (!this.#isCleared) await removeLargeTree(this.#directory);
    this.#isCleared = true;
    for (let [spare] = this.#ready; spare !== undefined && this.#isOld(spare); [spare] = this.#ready)
      await this.#drop(this.#ready.shift());
    while (this.#ready.length > count) await this.#drop(this.#ready.pop());
    while (this.#ready.length < count && !signal.aborted) this.#ready.push(await this.#make(signal));
  }

  async #drop(spare: Spare | undefined): Promise<void> {
    if (spare !== undefined) await removeLargeTree(spare.path);
  }

  async #make(signal: AbortSignal): Promise<Spare> {
    await this.#mirror.refresh(signal);
    const path = join(this.#directory, String(++this.#made));
    try {
      await mkdir(path, { recursive: true });
      const branch = await this.#mirror.defaultBranch(signal);
      // An issue that has a slot comes first.
      await Promise.allSettled(this.#filling);
      await cloneMirror(this.#mirror.source, path, signal);
      return { path, branch, head: readHead(path), madeAt: this.#clock.elapsed() };
    } catch (error) {
      await removeLargeTree(path);
      throw error;
    }
  }

  /**
   * Has `to`, an empty directory, hold a clone for the task: one that is ready, or a new one. The mirror is up to date; one
   * that cannot be cloned because it is damaged is made anew.
   */
  async fill(task: WorkspaceTask, to: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#fill(task, to, signal);
    } catch (error) {
      if (!saysDamaged(messageOf(error))) throw error;
      this.#mirror.distrust();
      await this.#mirror.refresh(signal, task.branch);
      await removeTree(to);
      await mkdir(to);
      await cloneMirror(this.#mirror.source, to, signal);
    }
  }

  async #fill(task: WorkspaceTask, to: string, signal: AbortSignal): Promise<void> {
    if (await this.#take(task, to, signal)) return;
    const filling = cloneMirror(this.#mirror.source, to, signal);
    this.#filling.add(filling);
    await filling.finally(() => this.#filling.delete(filling));
  }

  /** Moves one there, up to date. False when there is none. */
  async #take(task: WorkspaceTask, to: string, signal: AbortSignal): Promise<boolean> {
    const spare = this.#ready.shift();
    if (spare === undefined) return false;
    if (this.#isOld(spare)) {
      await this.#drop(spare);
      return this.#take(task, to, signal);
    }
    // Somebody may have cleaned up around here.
    const isThere = await rename(spare.path, to).then(
      () => true,
      () => false,
    );
    if (!isThere) return false;
    const branch = await this.#mirror.defaultBranch(signal);
    const isCurrent =
      spare.branch === branch &&
      spare.head === (await this.#mirror.branchHead(branch)) &&
      (await this.#mirror.branchHead(task.branch)) === null;
    if (!isCurrent) await fetchOrigin({ path: to, launch: undefined, timeoutMs: LOCAL_MS }, signal);
    return true;
  }
}
