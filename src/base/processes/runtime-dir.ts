// Directory for sockets and temporary files of one run of the daemon, with a short path.

import { lstatSync, mkdirSync, mkdtempSync, readdirSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTree } from '../files/remove-tree.ts';
import { BASE_CODES } from '../rules/base-codes.ts';
import { failure } from '../rules/errors.ts';
import { isAlive } from './processes.ts';

const PREFIX = 'toolcrew-';

/** What daemons that are gone left behind. */
function abandoned(): string[] {
  return readdirSync(tmpdir()).flatMap((name) => {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    return pid === undefined || isAlive(Number(pid)) ? [] : [join(tmpdir(), name)];
  });
}

export class RuntimeDir {
  readonly path: string;
  readonly #removals = new Set<Promise<void>>();
  #count = 0;

  constructor() {
    for (const path of abandoned()) this.#discard(path);
    this.path = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  }

  /** A new directory in it. Issues of two repositories may have one number: each caller gets one of its own. */
  make(name: string): string {
    this.#restore();
    this.#count += 1;
    const path = join(this.path, `${name}.${this.#count}`);
    mkdirSync(path, { mode: 0o700 });
    return path;
  }

  /** Programs that clean up temporary files may take it away. Its name is known by then: another user's is not taken. */
  #restore(): void {
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    const status = lstatSync(this.path);
    const uid = process.getuid?.() ?? status.uid;
    if (!status.isDirectory() || status.uid !== uid)
      throw failure(BASE_CODES.runtime_directory_foreign, { path: this.path });
  }

  /** The path is free at once; what stood there is removed behind the scenes. Never throws. */
  remove(path: string): void {
    this.#count += 1;
    const aside = `${path}.gone-${this.#count}`;
    try {
      renameSync(path, aside);
    } catch {
      // Nothing stood there.
      return;
    }
    this.#discard(aside);
  }

  /** What cannot be removed is another user's, or goes with the next start. */
  #discard(path: string): void {
    const removal = removeTree(path).catch(() => undefined);
    this.#removals.add(removal);
    void removal.then(() => this.#removals.delete(removal));
  }

  /** Removes all of it; resolves when it is gone. */
  async close(): Promise<void> {
    this.#discard(this.path);
    await Promise.all(this.#removals);
  }
}
