// Writes a file whole: another process sees the old content or the new one, never a part.

import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';

export function placeFile(path: string, content: Buffer | string, mode: number): void {
  const fresh = `${path}.${process.pid}-${process.hrtime.bigint()}`;
  try {
    writeFileSync(fresh, content, { mode, flag: 'wx' });
    // The umask may have taken bits away.
    chmodSync(fresh, mode);
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}
