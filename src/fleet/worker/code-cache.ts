// Default branches on a worker, a bare repository for each state of one: attempts that begin there take its objects as they are.
// No agent reaches it, and none of its repositories is changed once it is made.

import { createHash } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../../base/files/remove-tree.ts';

type Copy = { readonly sha: string; readonly path: string; readonly made: Promise<void>; users: number };

/** What one is made from: another state of the same branch. */
export type Earlier = { readonly sha: string; readonly path: string };

export class CodeCache {
  readonly #directory: string;
  /** By their repositories, the newest last. */
  readonly #copies = new Map<string, Copy[]>();

  /** Copies of an earlier process go: nobody knows whether they are whole. */
  constructor(directory: string) {
    this.#directory = directory;
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  }

  /**
   * Gives the place of a branch at a commit. It stays until `release`.
   * @param make makes it in an empty directory
   */
  async take(
    repository: string,
    sha: string,
    make: (directory: string, earlier: Earlier | null) => Promise<void>,
  ): Promise<{ readonly path: string; readonly release: () => Promise<void> }> {
    const all = this.#copies.get(repository) ?? [];
    this.#copies.set(repository, all);
    for (;;) {
      const known = all.find((one) => one.sha === sha);
      const copy = known ?? this.#add(repository, all, sha, make);
      copy.users += 1;
      try {
        await copy.made;
        const release = async () => {
          copy.users -= 1;
          await this.#tidy(all);
        };
        return { path: copy.path, release };
      } catch (error) {
        const at = all.indexOf(copy);
        if (at !== -1) all.splice(at, 1);
        // Where another attempt failed to make it, this one may do better.
        if (known === undefined) throw error;
      }
    }
  }

  #add(
    repository: string,
    all: Copy[],
    sha: string,
    make: (directory: string, earlier: Earlier | null) => Promise<void>,
  ): Copy {
    const name = createHash('sha256').update(repository).digest('hex').slice(0, 24);
    const path = join(this.#directory, `${name}-${sha}.git`);
    const earlier = all.at(-1);
    const copy: Copy = { sha, path, made: this.#make(path, earlier, make), users: 0 };
    all.push(copy);
    return copy;
  }

  async #make(
    path: string,
    earlier: Copy | undefined,
    make: (directory: string, earlier: Earlier | null) => Promise<void>,
  ): Promise<void> {
    const fresh = `${path}.new`;
    if (earlier !== undefined) earlier.users += 1;
    try {
      const isWhole = await earlier?.made.then(
        () => true,
        () => false,
      );
      await removeTree(fresh);
      await mkdir(fresh, { mode: 0o700 });
      await make(fresh, earlier !== undefined && isWhole === true ? earlier : null);
      await rename(fresh, path);
    } finally {
      if (earlier !== undefined) earlier.users -= 1;
    }
  }

  /** Only the newest stays for those to come. */
  async #tidy(all: Copy[]): Promise<void> {
    for (const copy of all.slice(0, -1)) {
      if (copy.users > 0) continue;
      all.splice(all.indexOf(copy), 1);
      await removeTree(copy.path).catch(() => undefined);
    }
  }
}
