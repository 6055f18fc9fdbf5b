// Copy of Git's index that keeps its modification time.

import { copyFileSync, statSync, utimesSync } from 'node:fs';

/**
 * Copies an index. Its time stays: what was changed in the second in which the index was written is known by that alone
 * to have to be read.
 */
export function copyIndex(from: string, to: string): void {
  // Before the copy: an index written meanwhile is newer than it says then, and more is read than need be.
  const { atime, mtime } = statSync(from);
  copyFileSync(from, to);
  utimesSync(to, atime, mtime);
}
