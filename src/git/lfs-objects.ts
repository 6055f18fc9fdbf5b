// Objects of Git LFS as files: in the daemon's own store, and in workspaces, where an agent has been. Never shared, always copied.

import { createHash, randomBytes } from 'node:crypto';
import { constants, existsSync, lstatSync, realpathSync } from 'node:fs';
import { copyFile, type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { readRegular } from '../base/files/safe-read.ts';

const { COPYFILE_EXCL, COPYFILE_FICLONE, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const MAX_LINE_BYTES = 4096;

function partsOf(oid: string): readonly string[] {
  return ['objects', oid.slice(0, 2), oid.slice(2, 4), oid];
}

/** Where an object is in a store, be it the daemon's or `.git/lfs` of a clone. */
export function objectPath(store: string, oid: string): string {
  return join(store, ...partsOf(oid));
}

function realOrNull(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** The stores that a repository in a workspace may have put objects into. @param path of its work tree */
export function storesOf(path: string): readonly string[] {
  const own = join(path, '.git');
  const told = /^gitdir: (.+)$/m.exec(readRegular(own, MAX_LINE_BYTES) ?? '')?.[1];
  const store = join(told === undefined ? own : resolve(path, told.trim()), 'lfs');
  return existsSync(join(store, 'objects')) ? [store] : [];
}

/** Copies what can be read to `to`, and gives its hash. */
async function copyHashed(from: FileHandle, to: string): Promise<string> {
  const hash = createHash('sha256');
  const out = await open(to, 'wx', 0o600);
  try {
    for await (const chunk of from.createReadStream({ autoClose: false })) {
      const bytes: Buffer = chunk;
      hash.update(bytes);
      await out.writeFile(bytes);
    }
  } finally {
    await out.close();
  }
  return hash.digest('hex');
}

/** Takes an object out of a store where an agent has been. False when there is none that holds what its name says. */
export async function importObject(from: string, store: string, oid: string): Promise<boolean> {
  const source = objectPath(from, oid);
  // A link on the way leads to what is no object of this store.
  if (realOrNull(source) !== join(realOrNull(from) ?? '', ...partsOf(oid))) return false;
  const handle = await open(source, O_RDONLY | O_NONBLOCK | O_NOFOLLOW).catch(() => null);
  if (handle === null) return false;
  const fresh = join(store, 'tmp', randomBytes(8).toString('hex'));
  try {
    if (!(await handle.stat()).isFile()) return false;
    await mkdir(dirname(fresh), { recursive: true });
    if ((await copyHashed(handle, fresh)) !== oid) return false;
    const target = objectPath(store, oid);
    await mkdir(dirname(target), { recursive: true });
    await rename(fresh, target);
    return true;
  } finally {
    await handle.close();
    await rm(fresh, { force: true });
  }
}

/** Makes a directory below `top`, a real one; what an agent put in its way goes. */
async function makeReal(top: string, parts: readonly string[]): Promise<string> {
  let path = top;
  for (const part of parts) {
    path = join(path, part);
    const status = lstatSync(path, { throwIfNoEntry: false });
    if (status?.isDirectory() === true) continue;
    if (status !== undefined) await rm(path, { force: true });
    await mkdir(path);
  }
  return path;
}

/**
 * Copies objects of the daemon's store to a clone that does not have them; no agent may be at work in it. Gives how many.
 * @param path of the clone, with a Git directory of its own
 */
export async function exportObjects(store: string, path: string, oids: Iterable<string>): Promise<number> {
  const git = join(realpathSync(path), '.git');
  let count = 0;
  for (const oid of oids) {
    const source = objectPath(store, oid);
    if (!existsSync(source)) continue;
    const directory = await makeReal(git, ['lfs', ...partsOf(oid).slice(0, -1)]);
    if (lstatSync(join(directory, oid), { throwIfNoEntry: false })?.isFile() === true) continue;
    await rm(join(directory, oid), { recursive: true, force: true });
    const fresh = join(directory, `.${randomBytes(8).toString('hex')}`);
    try {
      await copyFile(source, fresh, COPYFILE_EXCL | COPYFILE_FICLONE);
      await rename(fresh, join(directory, oid));
    } finally {
      await rm(fresh, { force: true });
    }
    count += 1;
  }
  return count;
}
