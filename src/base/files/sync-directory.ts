// Names of files are on the disk when their directory is.

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
