// Room on the disk of a directory.

import { statfs } from 'node:fs/promises';

/** Git needs more for the smallest clone. */
const LEAST_BYTES = 1024 * 1024;

/** Whether there is room for next to nothing: programs do not always say so when they fail of it. False where that is not known. */
export async function isWithoutRoom(directory: string): Promise<boolean> {
  try {
    const { bavail, bsize, files, ffree } = await statfs(directory);
    return bavail * bsize < LEAST_BYTES || (files > 0 && ffree === 0);
  } catch {
    return false;
  }
}
