// Notes beside the journal of a repository: the holder that this machine waited for, and the issues that others worked on.

import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { syncDirectory } from '../../base/files/sync-directory.ts';

/** Number of the last holder that this machine waited for, as long as its own journal may be older than that one's. */
const SEEN_FILE = 'lease.seen';
/** Numbers of issues, one a line. */
const ELSEWHERE_FILE = 'journal.elsewhere';

function numbersIn(path: string): readonly number[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean).map(Number).filter(Number.isSafeInteger);
  } catch {
    return [];
  }
}

/** On the disk once it returns, whole or not at all. */
export function replaceFile(directory: string, name: string, text: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const next = join(directory, `${name}.taken`);
  writeFileSync(next, text, { mode: 0o600 });
  const fd = openSync(next, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(next, join(directory, name));
  syncDirectory(directory);
}

/** 0: nobody acted since this machine did, as far as it knows. */
export function seenFence(directory: string): number {
  return numbersIn(join(directory, SEEN_FILE))[0] ?? 0;
}

export function noteSeen(directory: string, fence: number): void {
  if (seenFence(directory) !== fence) replaceFile(directory, SEEN_FILE, `${fence}\n`);
}

/** After the journal was taken: this machine's is the newest. */
export function forgetSeen(directory: string): void {
  rmSync(join(directory, SEEN_FILE), { force: true });
}

/** Issues whose newest records another machine wrote: what this machine has of them is old. */
export class Elsewhere {
  readonly #directory: string;
  #issues: ReadonlySet<number>;

  /** @param directory state directory of the repository */
  constructor(directory: string) {
    this.#directory = directory;
    this.#issues = new Set(numbersIn(join(directory, ELSEWHERE_FILE)));
  }

  has(issue: number): boolean {
    return this.#issues.has(issue);
  }

  add(issues: Iterable<number>): void {
    this.#write(new Set([...this.#issues, ...issues]));
  }

  /** Drops all others. */
  keep(isKept: (issue: number) => boolean): void {
    this.#write(new Set([...this.#issues].filter(isKept)));
  }

  #write(issues: ReadonlySet<number>): void {
    const isSame = issues.size === this.#issues.size && [...issues].every((issue) => this.#issues.has(issue));
    this.#issues = issues;
    if (!isSame) replaceFile(this.#directory, ELSEWHERE_FILE, [...issues].map((issue) => `${issue}\n`).join(''));
  }
}
