// Reading files in places where an agent has been: nothing is followed, nothing waits, nothing is read without end.

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** The text of a regular file; null when there is none, or a link, a pipe, or more than `maxBytes` in its place. */
export function readRegular(path: string, maxBytes: number): string | null {
  let fd: number | undefined;
  try {
    fd = openSync(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
    const status = fstatSync(fd);
    if (!status.isFile() || status.size > maxBytes) return null;
    const buffer = Buffer.alloc(status.size);
    let length = 0;
    while (length < buffer.length) {
      const count = readSync(fd, buffer, length, buffer.length - length, length);
      if (count === 0) break;
      length += count;
    }
    return buffer.toString('utf8', 0, length);
  } catch {
    return null;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** As `readRegular`, for a file in `directory` that no link on the way leads out of. */
export async function readWithin(directory: string, relative: string, maxBytes: number): Promise<string | null> {
  const [root, real] = await Promise.all(
    [directory, join(directory, relative)].map((path) => realpath(path).catch(() => undefined)),
  );
  if (root === undefined || real !== join(root, relative) || !real.startsWith(root + sep)) return null;
  return readRegular(real, maxBytes);
}
