// Flushes a directory, so that the names in it survive a power failure.

import { closeSync, fsyncSync, openSync } from 'node:fs';

/** When it returns, what the directory holds is on the disk by its names. */
export function syncDirectory(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
