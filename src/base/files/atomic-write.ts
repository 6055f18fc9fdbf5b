// Writes a file whole: another process sees the old content or the new one, never a part.

import { chmodSync, lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

export function writeFileAtomic(path: string, content: Buffer | string, mode: number): void {
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

/** Places a file unless it is there with that content and mode. */
export function ensureFile(path: string, content: Buffer, mode: number): void {
  const status = lstatSync(path, { throwIfNoEntry: false });
  const isSame = status?.isFile() === true && (status.mode & 0o777) === mode && readFileSync(path).equals(content);
  if (!isSame) writeFileAtomic(path, content, mode);
}
