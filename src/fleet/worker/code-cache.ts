// Default branches on a worker, a bare repository for each state of one: attempts that begin there take its objects as they are.
// No agent reaches it, and none of its repositories is changed once it is made.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from '../../base/files/remove-tree.ts';
import { messageOf } from '../../base/rules/errors.ts';

type State = { readonly branch: string; readonly sha: string };

/** `made`: number of packs that it has. */
type Copy = State & { readonly path: string; readonly made: Promise<number>; users: number };

/** What one is made from: another state of the repository. */
export type Earlier = { readonly sha: string; readonly path: string };

/** @param directory is empty */
type Make = (directory: string, earlier: Earlier | null) => Promise<void>;

/** Each state adds a pack to those before it, and keeps what no branch holds any more. After so many one begins anew. */
const MOST_PACKS = 20;

export class CodeCache {
  readonly #directory: string;
  readonly #onDamaged: (said: string) => void;
  /** By their repositories, the newest last. */
  readonly #copies = new Map<string, Copy[]>();
  #count = 0;

  /**
   * Removes copies of an earlier process: nobody knows whether they are whole.
   * @param onDamaged hears of a copy that is replaced
   */
  constructor(directory: string, onDamaged: (said: string) => void = () => undefined) {
    this.#directory = directory;
    this.#onDamaged = onDamaged;
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  }

  /** Gives the place of a branch at a commit. It stays until `release`; `replace` has the next attempt make it anew, from nothing. */
  async take(
    repository: string,
    { branch, sha }: State,
    make: Make,
  ): Promise<{ readonly path: string; readonly release: () => Promise<void>; readonly replace: () => void }> {
    const all = this.#copies.get(repository) ?? [];
    this.#copies.set(repository, all);
    for (;;) {
      const known = all.find((one) => one.branch === branch && one.sha === sha);
      const copy = known ?? this.#add(repository, all, { branch, sha }, make);
      copy.users += 1;
      const release = async () => {
        copy.users -= 1;
        await this.#tidy(all, copy);
      };
      try {
        await copy.made;
      } catch (error) {
        drop(all, copy);
        // Where another attempt failed to make it, this one may do better.
        if (known === undefined) throw error;
        continue;
      }
      const replace = () => {
        if (!drop(all, copy)) return;
        // What it was made from may have the same damage.
        for (const other of all.splice(0)) void other.made.catch(() => undefined).then(() => removeUnused(other));
        this.#onDamaged(`the copy of ${repository} at ${sha} is damaged, and is made again`);
      };
      if (known === undefined || existsSync(join(copy.path, 'HEAD'))) return { path: copy.path, release, replace };
      if (drop(all, copy)) this.#onDamaged(`the copy of ${repository} at ${sha} is gone, and is made again`);
      await release();
    }
  }

  #add(repository: string, all: Copy[], state: State, make: Make): Copy {
    const name = createHash('sha256').update(repository).digest('hex').slice(0, 24);
    this.#count += 1;
    // A state that is made again has a place of its own: the damaged one may still be in use.
    const path = join(this.#directory, `${name}-${this.#count}.git`);
    const copy: Copy = { ...state, path, made: this.#make(path, all, make), users: 0 };
    all.push(copy);
    return copy;
  }

  /** Gives its number of packs. */
  async #make(path: string, all: Copy[], make: Make): Promise<number> {
    const earlier = all.at(-1);
    const fresh = `${path}.new`;
    const begin = async (from: Earlier | null) => {
      await removeTree(fresh);
      await mkdir(fresh, { mode: 0o700 });
      await make(fresh, from);
    };
    if (earlier !== undefined) earlier.users += 1;
    try {
      // One that failed to be made has nothing to go on from.
      const packs = (await earlier?.made.catch(() => MOST_PACKS)) ?? MOST_PACKS;
      const goesOn = earlier !== undefined && packs < MOST_PACKS;
      const failed = goesOn ? await begin(earlier).then(() => null, messageOf) : null;
      if (!goesOn || failed !== null) await begin(null);
      await rename(fresh, path);
      if (!goesOn || failed === null) return goesOn ? packs + 1 : 1;
      // The other way worked: the fault is that of the earlier copy.
      if (drop(all, earlier)) this.#onDamaged(`the copy at ${earlier.sha} is not used any more: ${failed}`);
      return 1;
    } catch (error) {
      await removeTree(fresh).catch(() => undefined);
      throw error;
    } finally {
      if (earlier !== undefined) {
        earlier.users -= 1;
        if (!all.includes(earlier)) await removeUnused(earlier);
      }
    }
  }

  /** Only the newest stays for those to come. */
  async #tidy(all: Copy[], left: Copy): Promise<void> {
    const old = all.slice(0, -1).filter(({ users }) => users === 0);
    for (const copy of old) drop(all, copy);
    for (const copy of new Set([...old, ...(all.includes(left) ? [] : [left])])) await removeUnused(copy);
  }
}

async function removeUnused({ users, path }: Copy): Promise<void> {
  if (users === 0) await removeTree(path).catch(() => undefined);
}

/** False: it is not among them. */
function drop(all: Copy[], copy: Copy): boolean {
  const at = all.indexOf(copy);
  if (at !== -1) all.splice(at, 1);
  return at !== -1;
}
