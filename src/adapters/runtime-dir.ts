// A directory for sockets and temporary files of one life of the daemon, with a short path.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'toolcrew-';

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Removes what daemons that are gone left behind. */
function sweep(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
    } catch {
      // Another user's: not ours to remove.
    }
  }
}

export class RuntimeDir {
  #path = '';

  constructor() {
    sweep();
    this.#begin();
  }

  get path(): string {
    return this.#path;
  }

  #begin(): void {
    this.#path = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  }

  /** A new directory in it. */
  make(name: string): string {
    // A machine that clears its temporary files of old ones takes this one away from a daemon that was idle for days.
    if (!existsSync(this.#path)) this.#begin();
    const path = join(this.#path, name);
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path, { mode: 0o700 });
    return path;
  }

  remove(path: string = this.#path): void {
    rmSync(path, { recursive: true, force: true });
  }
}
